import PushCore

/// The content of a campaign, apart from any push service: text in several languages, and how it is shown.
///
/// ```
/// {"title":"…","subtitle":"…","body":"…","sound":"default","badge":1,"category":"…","thread":"…","level":"active",
///  "image":"https://…","video":"https://…","pictureKeys":["ab.att"],"link":"…","actions":[{"id":"…","title":"…","link":"…"}],
///  "data":{"key":"value"},"silent":false,"locales":{"de":{"title":"…","body":"…","actions":{"id":"title"}}}}
/// ```
/// Where there are a film and an image, the image replaces the film where no film can be shown.
package struct CampaignContent: Hashable, Sendable {
    /// The text in one language.
    struct Words: Hashable, Sendable {
        var title: String?
        var subtitle: String?
        var body: String?
        /// The titles of actions by their ids.
        var actions: [String: String] = [:]

        init(_ tree: JSONValue, _ path: String) throws(InstallationError) {
            func text(_ name: String) throws(InstallationError) -> String? {
                switch tree[name] {
                case nil, .null: return nil
                case .string(let text): return text
                default: throw InstallationError("\(path)/\(name)", "this is to be a string")
                }
            }
            title = try text("title")
            subtitle = try text("subtitle")
            body = try text("body")
        }

        /// The members of these texts, where missing ones are taken from those without a language.
        func completed(by other: Words) -> [JSONValue.Member] {
            [("title", title ?? other.title), ("subtitle", subtitle ?? other.subtitle), ("body", body ?? other.body)]
                .compactMap { name, text in text.map { .init(name, .string($0)) } }
        }
    }

    private let words: Words
    private let locales: [String: Words]
    let aps: [JSONValue.Member]
    let more: [JSONValue.Member]
    let actions: [CampaignAction]
    let image: String?
    let video: String?
    /// The members of the payload that name the picture or film; `nil` where all do that fit.
    let pictureKeys: [PictureKey]?
    /// Whether it wakes the app and shows nothing.
    package let isSilent: Bool

    private static let members: Set<String> = [
        "title", "subtitle", "body", "sound", "badge", "category", "thread", "level", "image", "video",
        "pictureKeys", "link", "actions", "data", "silent", "locales",
    ]
    private static let levels = ["passive", "active", "time-sensitive", "critical"]

    /// Reads the content.
    ///
    /// - Throws: which member was wrong, and what would be right.
    package init(_ tree: JSONValue) throws(InstallationError) {
        guard let members = tree.members else { throw InstallationError("", "the content is a JSON object") }
        if let unknown = members.first(where: { !Self.members.contains($0.name) }) {
            throw InstallationError("/\(unknown.name)", "there is no such member; there are \(Self.members.sorted())")
        }
        words = try Words(tree, "")
        actions = try CampaignAction.read(tree["actions"])
        var locales: [String: Words] = [:]
        for member in tree["locales"]?.members ?? [] {
            let path = "/locales/\(member.name)"
            var words = try Words(member.value, path)
            words.actions = try CampaignAction.titles(member.value["actions"], "\(path)/actions", of: actions)
            guard locales.updateValue(words, forKey: LanguageTag.folded(member.name)) == nil else {
                throw InstallationError(path, "this language is there twice")
            }
        }
        self.locales = locales
        isSilent = tree["silent"]?.isTrue ?? false
        var aps: [JSONValue.Member] = []
        func string(_ name: String) throws(InstallationError) -> JSONValue? {
            guard let value = tree[name], value != .null else { return nil }
            guard value.text != nil else { throw InstallationError("/\(name)", "this is to be a string") }
            return value
        }
        for (name, key) in [("sound", "sound"), ("category", "category"), ("thread", "thread-id")] {
            if let value = try string(name) { aps.append(.init(key, value)) }
        }
        if let level = try string("level") {
            guard let text = level.text, Self.levels.contains(text) else {
                throw InstallationError("/level", "a level is one of \(Self.levels.joined(separator: ", "))")
            }
            aps.append(.init("interruption-level", level))
        }
        if let badge = tree["badge"], badge != .null {
            guard let number = badge.integer, number >= 0 else {
                throw InstallationError("/badge", "a badge is a whole number, 0 or more")
            }
            aps.append(.init("badge", .number(String(number))))
        }
        var more: [JSONValue.Member] = []
        if let data = tree["data"], data != .null {
            guard let members = data.members else { throw InstallationError("/data", "this is to be an object") }
            if let wrong = members.first(where: { $0.name == "aps" }) {
                throw InstallationError("/data/\(wrong.name)", "this name is the push service's own")
            }
            more = members
        }
        if let link = try string("link") { more.append(.init("link", link)) }
        func address(_ name: String) throws(InstallationError) -> String? {
            guard let text = try string(name)?.text else { return nil }
            guard text.hasPrefix("https://"), text.utf8.count > 8 else {
                throw InstallationError("/\(name)", "this is an address that begins with https://")
            }
            return text
        }
        image = try address("image")
        video = try address("video")
        pictureKeys = try PictureKey.read(tree["pictureKeys"], at: "/pictureKeys")
        if let taken = pictureKeys?.first(where: { key in more.contains { $0.name == key.name } }) {
            throw InstallationError("/pictureKeys", "data has a member \(taken.name) already")
        }
        if image != nil || video != nil { aps.append(.init("mutable-content", .number("1"))) }
        if isSilent { aps.append(.init("content-available", .number("1"))) }
        self.aps = aps
        self.more = more
        guard isSilent || words.title != nil || words.body != nil else {
            if let silent = tree["silent"], silent != .null, silent.isTrue == nil {
                throw InstallationError("/silent", "this is to be true or false")
            }
            throw InstallationError("/body", "a campaign has a title or a body, or is silent")
        }
    }

    /// Reads the content's text.
    package static func read(_ bytes: [UInt8]) throws(InstallationError) -> CampaignContent {
        let tree: JSONValue
        do { tree = try JSONValue(bytes) } catch { throw InstallationError("", "the content is no JSON: \(error)") }
        return try CampaignContent(tree)
    }

    /// The payload for an installation of a language: the texts of the most specific matching language (`zh-Hant-TW`,
    /// `zh-Hant`, `zh`), else those without one.
    package func payload(locale: String?) -> [UInt8] {
        var members = [JSONValue.Member("aps", .object(aps))] + more
        guard !isSilent else { return JSONValue.object(members).bytes }
        var alert = words(locale: locale)
        let buttons = actions(locale: locale)
        if !buttons.isEmpty {
            alert.append(
                .init(
                    "actions",
                    .array(
                        buttons.map { .object([.init("id", .string($0.id)), .init("title", .string($0.title))]) })))
        }
        members[0].value = .object([.init("alert", .object(alert))] + aps)
        let links = buttons.compactMap { button in
            button.link.map { JSONValue.Member(button.id, .string($0)) }
        }
        if !links.isEmpty { members.append(.init("action-links", .object(links))) }
        return JSONValue.object(members + pictures(beside: members)).bytes
    }

    private func localized(_ locale: String?) -> Words {
        guard let locale, !locales.isEmpty else { return words }
        return LanguageTag.lookup(locale).lazy.compactMap { locales[$0] }.first ?? words
    }

    /// The actions with their titles in a language.
    func actions(locale: String?) -> [CampaignAction] {
        let titles = localized(locale).actions
        return actions.map { action in
            var action = action
            action.title = titles[action.id] ?? action.title
            return action
        }
    }

    /// The texts for a language, as members `title`, `subtitle` and `body`.
    func words(locale: String?) -> [JSONValue.Member] { localized(locale).completed(by: words) }

    /// The languages, and languages with regions, that have texts of their own, and `nil` for all others.
    package var languages: [String?] { [nil] + locales.keys.sorted() }

    /// The largest payload that it makes for Apple's devices, in bytes.
    package var largestPayload: Int { languages.map { payload(locale: $0).count }.max() ?? 0 }
}
