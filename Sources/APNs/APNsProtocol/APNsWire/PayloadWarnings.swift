/// Finds faults that Apple's systems would ignore silently: a payload that is valid JSON, but does not have the
/// intended meaning.
struct PayloadWarnings {
    typealias Finding = PayloadDiagnosis.Finding

    private let object: LocatedJSON

    init(_ object: LocatedJSON) { self.object = object }

    /// The first thing that is wrong; `nil` when nothing is.
    var finding: Finding? {
        let members = object.members ?? []
        if let again = Self.repeated(members.filter { $0.name == "aps" }) { return again }
        guard let aps = members.first(where: { $0.name == "aps" }) else { return Self.withoutAPS(members) }
        guard let inside = aps.value.members else { return Self.notAnObject(aps) }
        return Self.outside(members, inside) ?? Self.repeated(inside) ?? Self.misspelt(inside, Self.names)
            ?? Self.textBesideAlert(inside) ?? inside.lazy.compactMap(Self.value(of:)).first
    }

    // MARK: The names

    /// The members of `aps`, by Apple's page "Generating a remote notification".
    private static let names = [
        "alert", "badge", "sound", "thread-id", "category", "content-available", "mutable-content", "target-content-id",
        "interruption-level", "relevance-score", "filter-criteria",
    ]
    /// The names that mean members of `aps` wherever they occur.
    private static let unmistakable: Set<String> = [
        "alert", "content-available", "mutable-content", "interruption-level", "relevance-score",
    ]
    /// The members of `alert`.
    private static let alertNames = [
        "title", "subtitle", "body", "launch-image", "title-loc-key", "title-loc-args", "subtitle-loc-key",
        "subtitle-loc-args", "loc-key", "loc-args", "action-loc-key",
    ]

    /// A name without what other services and languages write otherwise: `content_available`, `contentAvailable`.
    private static func folded(_ name: String) -> String {
        name.lowercased().filter { $0 != "-" && $0 != "_" }
    }

    /// The name that a misspelt one means; `nil` for one that is right, or another altogether.
    private static func meant(_ name: String, _ names: [String]) -> String? {
        names.contains(name) ? nil : names.first { folded($0) == folded(name) }
    }

    // MARK: The mistakes

    private static func withoutAPS(_ members: [LocatedJSON.Member]) -> Finding? {
        for member in members {
            if folded(member.name) == "aps" {
                return Finding(offset: member.offset, what: "the key \"\(member.name)\"", meant: "write \"aps\"")
            }
            if let name = names.first(where: { folded($0) == folded(member.name) }), name != "filter-criteria" {
                return Finding(
                    offset: member.offset, what: "\"\(member.name)\" without an \"aps\" around it",
                    meant: "write {\"aps\":{\"\(name)\":…}}")
            }
            let inner = member.value.members ?? []
            let isMessage = member.name == "message" && inner.contains { $0.name == "notification" }
            let isNotification =
                member.name == "notification" && inner.contains { ["title", "body"].contains($0.name) }
            if isMessage || isNotification {
                return Finding(
                    offset: member.offset, what: "\"\(member.name)\" as FCM has it, and no \"aps\"",
                    meant: "write {\"aps\":{\"alert\":{\"title\":…,\"body\":…}}}")
            }
        }
        return nil
    }

    private static func notAnObject(_ aps: LocatedJSON.Member) -> Finding {
        let offset = aps.value.offset
        switch aps.value.value {
        case .string(let text) where text.drop(while: \.isWhitespace).first == "{":
            return Finding(
                offset: offset, what: "\"aps\" is a string that holds JSON: it was encoded twice",
                meant: "write the object itself, without quotes and backslashes")
        case .string:
            return Finding(offset: offset, what: "\"aps\" is a string", meant: "write {\"alert\":…} around the text")
        case .array:
            return Finding(offset: offset, what: "\"aps\" is an array", meant: "write an object: {\"alert\":…}")
        default: return Finding(offset: offset, what: "\"aps\" is no object", meant: "write {\"alert\":…}")
        }
    }

    /// The finding on a member of `aps` that is placed beside it, and not inside.
    private static func outside(_ members: [LocatedJSON.Member], _ inside: [LocatedJSON.Member]) -> Finding? {
        for member in members where unmistakable.contains(member.name) {
            guard !inside.contains(where: { $0.name == member.name }) else { continue }
            return Finding(
                offset: member.offset, what: "\"\(member.name)\" stands outside of \"aps\"",
                meant: "write it inside: {\"aps\":{\"\(member.name)\":…}}")
        }
        return nil
    }

    private static func repeated(_ members: [LocatedJSON.Member]) -> Finding? {
        var seen: Set<String> = []
        guard let again = members.first(where: { !seen.insert($0.name).inserted }) else { return nil }
        return Finding(
            offset: again.offset, what: "\"\(again.name)\" stands here a second time", meant: "bring the two into one")
    }

    private static func misspelt(_ members: [LocatedJSON.Member], _ names: [String]) -> Finding? {
        for member in members {
            guard let name = meant(member.name, names) else { continue }
            return Finding(offset: member.offset, what: "the key \"\(member.name)\"", meant: "write \"\(name)\"")
        }
        return nil
    }

    /// The texts of an alert without the alert.
    private static func textBesideAlert(_ inside: [LocatedJSON.Member]) -> Finding? {
        guard !inside.contains(where: { $0.name == "alert" }) else { return nil }
        guard let text = inside.first(where: { ["title", "subtitle", "body"].contains($0.name) }) else { return nil }
        return Finding(
            offset: text.offset, what: "\"\(text.name)\" stands in \"aps\" itself",
            meant: "write {\"alert\":{\"\(text.name)\":…}}")
    }

    /// The value of one member of `aps`.
    private static func value(of member: LocatedJSON.Member) -> Finding? {
        let name = "\"\(member.name)\""
        func wrong(_ what: String, _ meant: String) -> Finding {
            Finding(offset: member.value.offset, what: "\(name) is \(what)", meant: meant)
        }
        switch (member.name, member.value.value) {
        case ("alert", .object(let members)): return alert(members)
        case ("alert", .string): return nil
        case ("alert", _): return wrong("neither a text nor an object", "write a text, or {\"title\":…,\"body\":…}")
        case ("badge", .number(let digits)):
            return Int(digits).map { $0 >= 0 } == true ? nil : wrong(digits, "write a whole number, 0 or more")
        case ("badge", .string(let digits)) where Int(digits) != nil:
            return wrong("a string", "write \(digits.prefix(20)) without quotes")
        case ("badge", _): return wrong("no number", "write a whole number, 0 or more")
        case ("content-available", .string), ("mutable-content", .string):
            return wrong("a string", "write 1 without quotes")
        case ("content-available", .boolean), ("mutable-content", .boolean): return wrong("a boolean", "write 1")
        case ("sound", .string), ("sound", .object): return nil
        case ("sound", _): return wrong("neither a name nor an object", "write \"default\", or a file's name")
        case ("interruption-level", .string(let level)):
            let levels = ["passive", "active", "time-sensitive", "critical"]
            guard !levels.contains(level) else { return nil }
            let meant = levels.first { folded($0) == folded(level) }
            return wrong(
                "none of Apple's levels", "write \(meant.map { "\"\($0)\"" } ?? levels.joined(separator: ", "))")
        case ("interruption-level", _): return wrong("no string", "write \"active\"")
        case ("relevance-score", .number(let digits)):
            return Double(digits).map { (0...1).contains($0) } == true
                ? nil : wrong("not between 0 and 1", "write a number from 0 to 1")
        case ("relevance-score", _): return wrong("no number", "write a number from 0 to 1")
        case ("category", .string), ("thread-id", .string), ("target-content-id", .string),
            ("filter-criteria", .string):
            return nil
        case ("category", _), ("thread-id", _), ("target-content-id", _), ("filter-criteria", _):
            return wrong("no string", "write a text in quotes")
        default: return nil
        }
    }

    private static func alert(_ members: [LocatedJSON.Member]) -> Finding? {
        if let member = members.first(where: { names.contains($0.name) }) {
            return Finding(
                offset: member.offset, what: "\"\(member.name)\" stands inside of \"alert\"",
                meant: "write it beside: {\"aps\":{\"alert\":{…},\"\(member.name)\":…}}")
        }
        if let finding = repeated(members) ?? misspelt(members, alertNames) { return finding }
        for member in members where alertNames.contains(member.name) {
            switch member.value.value {
            case .array where member.name.hasSuffix("-args"), .null: continue
            case .string where !member.name.hasSuffix("-args"): continue
            default:
                let isList = member.name.hasSuffix("-args")
                return Finding(
                    offset: member.value.offset, what: "\"\(member.name)\" is \(isList ? "no array" : "no string")",
                    meant: isList ? "write [\"…\"]" : "write a text in quotes")
            }
        }
        return nil
    }
}
