import PushCore

/// A notification as a person describes it in the form, apart from any push service.
struct ComposedMessage: Hashable, Sendable {
    /// The texts in one language.
    struct Words: Hashable, Sendable {
        var title = ""
        var subtitle = ""
        var body = ""
        /// The titles of the buttons, in the order of ``ComposedMessage/actions``.
        var actions: [String] = []
    }

    /// A button.
    struct Action: Hashable, Sendable {
        var id = ""
        var title = ""
        var link = ""
    }

    /// The texts of one more language.
    struct Variant: Hashable, Sendable {
        var language: String
        var words = Words()
    }

    /// The kinds of an attached file.
    enum MediaKind: String, CaseIterable, Sendable {
        case image
        case video
    }

    /// Buttons of a form, at most.
    static let mostActions = 4

    var words = Words()
    var variants: [Variant] = []
    /// The address of the picture or film; empty for none.
    var media = ""
    var mediaKind = MediaKind.image
    var sound = ""
    var badge = ""
    var category = ""
    var thread = ""
    var level = ""
    var link = ""
    /// Lines `key=value`, or one JSON object.
    var data = ""
    var actions: [Action] = []
    var isSilent = false
    /// Seconds for which it is kept.
    var ttl = ""
    var priority = ""
    var collapseID = ""

    /// The texts of a language: its own, and those without a language for what it lacks.
    func words(in language: String?) -> Words {
        guard let language, let own = variants.first(where: { $0.language == language })?.words else { return words }
        func first(_ text: String, _ other: String) -> String { text.isEmpty ? other : text }
        return Words(
            title: first(own.title, words.title), subtitle: first(own.subtitle, words.subtitle),
            body: first(own.body, words.body), actions: own.actions)
    }

    /// The buttons with their titles in a language.
    func actions(in language: String?) -> [Action] {
        let titles = words(in: language).actions
        return actions.enumerated().map { place, action in
            var action = action
            if titles.indices.contains(place), !titles[place].isEmpty { action.title = titles[place] }
            return action
        }
    }

    /// The content of a campaign, as `POST /v1/hubs/{hub}/campaigns` reads it.
    func content() throws(ComposeFault) -> JSONValue {
        var members: [JSONValue.Member] = []
        func add(_ name: String, _ text: String) {
            if !text.isEmpty { members.append(.init(name, .string(text))) }
        }
        add("title", words.title)
        add("subtitle", words.subtitle)
        add("body", words.body)
        add("sound", sound)
        if !badge.isEmpty { members.append(.init("badge", Int(badge) == nil ? .string(badge) : .number(badge))) }
        add("category", category)
        add("thread", thread)
        add("level", level)
        add(mediaKind.rawValue, media)
        add("link", link)
        if !actions.isEmpty {
            members.append(
                .init(
                    "actions",
                    .array(
                        actions.map { action in
                            var button: [JSONValue.Member] = [
                                .init("id", .string(action.id)), .init("title", .string(action.title)),
                            ]
                            if !action.link.isEmpty { button.append(.init("link", .string(action.link))) }
                            return .object(button)
                        })))
        }
        let data = try ComposedData.members(data)
        if !data.isEmpty { members.append(.init("data", .object(data))) }
        if isSilent { members.append(.init("silent", .boolean(true))) }
        let locales = variants.map { JSONValue.Member($0.language, locale($0.words)) }
        if !locales.isEmpty { members.append(.init("locales", .object(locales))) }
        return .object(members)
    }

    private func locale(_ words: Words) -> JSONValue {
        var members: [JSONValue.Member] = []
        for (name, text) in [("title", words.title), ("subtitle", words.subtitle), ("body", words.body)]
        where !text.isEmpty { members.append(.init(name, .string(text))) }
        let titles = zip(actions, words.actions).filter { !$1.isEmpty }.map { action, title in
            JSONValue.Member(action.id, .string(title))
        }
        if !titles.isEmpty { members.append(.init("actions", .object(titles))) }
        return .object(members)
    }

    /// The header fields of a push to Apple's interface.
    func apnsHeaders(topic: String, now: Timestamp) -> [(name: String, value: String)] {
        var fields: [(name: String, value: String)] = []
        if !topic.isEmpty { fields.append(("apns-topic", topic)) }
        fields.append(("apns-push-type", isSilent ? "background" : "alert"))
        if !priority.isEmpty || isSilent { fields.append(("apns-priority", priority.isEmpty ? "5" : priority)) }
        if let expiration = expiration(now: now) { fields.append(("apns-expiration", expiration)) }
        if !collapseID.isEmpty { fields.append(("apns-collapse-id", collapseID)) }
        return fields
    }

    /// The instant in seconds since 1970 until which it is kept; `nil` where the form has none. What is no number stays as
    /// it is, so that the server refuses it.
    func expiration(now: Timestamp) -> String? {
        guard !ttl.isEmpty else { return nil }
        guard let seconds = Int64(ttl), (0...315_360_000).contains(seconds) else { return ttl }
        return seconds == 0 ? "0" : String(now.rawValue / 1000 + seconds)
    }
}

/// A fault in a field of the form.
struct ComposeFault: Error, Hashable, Sendable {
    /// The field's name; empty where it is the whole form's.
    var field: String
    /// The key of the text, or the text of the server.
    var text: String
    var values: [String: String] = [:]
}

/// The additional data of a notification, as a person writes them.
enum ComposedData {
    /// Reads lines `key=value`, or one JSON object.
    static func members(_ text: String) throws(ComposeFault) -> [JSONValue.Member] {
        let start = text.first { !$0.isWhitespace }
        guard start != nil else { return [] }
        if start == "{" {
            do { return try JSONValue(text: text).members ?? [] } catch {
                throw ComposeFault(field: "data", text: "compose.fault.json", values: ["why": "\(error)"])
            }
        }
        var members: [JSONValue.Member] = []
        for (place, line) in text.split(separator: "\n", omittingEmptySubsequences: false).enumerated() {
            guard line.contains(where: { !$0.isWhitespace }) else { continue }
            guard let equals = line.firstIndex(of: "="), equals > line.startIndex else {
                throw ComposeFault(field: "data", text: "compose.fault.line", values: ["line": String(place + 1)])
            }
            members.append(.init(String(line[..<equals]), .string(String(line[line.index(after: equals)...]))))
        }
        return members
    }

    /// Members as a person would write them: lines where all are texts of one line, else JSON.
    static func text(_ members: [JSONValue.Member]) -> String {
        let areLines = members.allSatisfy { member in
            member.value.text.map { !$0.contains(where: \.isNewline) } ?? false && !member.name.contains("=")
                && !member.name.contains(where: \.isNewline) && !member.name.isEmpty
                && member.name.first { !$0.isWhitespace } != "{"
        }
        guard areLines else { return JSONValue.object(members).indented }
        return members.map { "\($0.name)=\($0.value.text ?? "")" }.joined(separator: "\n")
    }
}
