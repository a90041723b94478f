import HubProtocol
import PushCore

/// The changes to a hub's audience in one commit.
package struct AudienceCommit: Hashable, Sendable {
    /// Installations that were seen.
    package struct Seen: Hashable, Sendable {
        /// The installations' numbers.
        package var installations: [UInt32]
        /// The time.
        package var at: Timestamp
    }

    /// The hub's number.
    package var hub: Int64
    /// The number of the commit: one more than that of the hub's commit before.
    package var version: Int64
    /// The changes.
    package var changes: [AudienceChange]
    /// The installations that were seen; `nil` for none.
    package var seen: Seen?

    /// Creates an instance from its properties.
    package init(hub: Int64, version: Int64, changes: [AudienceChange], seen: Seen? = nil) {
        self.hub = hub
        self.version = version
        self.changes = changes
        self.seen = seen
    }
}

/// The commit as the store keeps it for other servers: JSON with short names, whose absent members are empty.
extension AudienceCommit {
    /// The text.
    var content: String {
        var members: [JSONValue.Member] = []
        if !changes.isEmpty {
            members.append(
                .init(
                    "c",
                    .array(
                        changes.map { .array([$0.before.map(Self.value) ?? .null, $0.after.map(Self.value) ?? .null]) })
                ))
        }
        if let seen {
            members.append(.init("s", .array(seen.installations.map { .number(String($0)) })))
            members.append(.init("a", .number(String(seen.at.rawValue))))
        }
        return JSONValue.object(members).json
    }

    /// Reads the text of a commit; `nil` where it is none.
    init?(hub: Int64, version: Int64, content: String) {
        guard let tree = JSONValue(stored: content) else { return nil }
        var changes: [AudienceChange] = []
        for change in tree["c"]?.items ?? [] {
            guard let sides = change.items, sides.count == 2 else { return nil }
            changes.append(AudienceChange(hub: hub, before: Self.entry(sides[0]), after: Self.entry(sides[1])))
        }
        var seen: Seen?
        if let numbers = tree["s"]?.items, let at = tree["a"]?.integer {
            seen = Seen(
                installations: numbers.compactMap { $0.integer.flatMap { UInt32(exactly: $0) } },
                at: Timestamp(rawValue: at))
        }
        self.init(hub: hub, version: version, changes: changes, seen: seen)
    }

    private static func value(_ entry: AudienceEntry) -> JSONValue {
        var members: [JSONValue.Member] = [
            .init("n", .number(String(entry.number))), .init("p", .string(entry.platform.rawValue)),
            .init("u", .number(String(entry.person.rawValue))), .init("t", .number(String(entry.seenAt.rawValue))),
        ]
        if !entry.tags.isEmpty { members.append(.init("g", tags(entry.tags))) }
        if entry.hasTemplates { members.append(.init("m", tags(entry.templateTags))) }
        if entry.isRegistration { members.append(.init("r", .boolean(true))) }
        for (name, text) in [
            ("l", entry.locale), ("c", entry.country), ("v", entry.appVersion), ("z", entry.timeZone),
        ] {
            if let text { members.append(.init(name, .string(text))) }
        }
        return .object(members)
    }

    private static func tags(_ tags: [TagName]) -> JSONValue {
        .string(tags.map(\.text).joined(separator: " "))
    }

    private static func entry(_ value: JSONValue) -> AudienceEntry? {
        guard let number = value["n"]?.integer.flatMap({ UInt32(exactly: $0) }),
            let platform = value["p"]?.text.flatMap(HubPlatform.init(rawValue:)),
            let person = value["u"]?.integer.flatMap({ UInt32(exactly: $0) }), let seenAt = value["t"]?.integer
        else { return nil }
        return AudienceEntry(
            number: number, platform: platform, tags: TagName.list(value["g"]?.text ?? ""),
            templateTags: TagName.list(value["m"]?.text ?? ""), hasTemplates: value["m"] != nil,
            locale: value["l"]?.text, country: value["c"]?.text, appVersion: value["v"]?.text,
            timeZone: value["z"]?.text, person: PersonNumber(rawValue: person),
            isRegistration: value["r"]?.isTrue ?? false, seenAt: Timestamp(rawValue: seenAt))
    }
}

extension JSONValue {
    /// Parses a column; `nil` for a text that is no JSON.
    init?(stored text: String) {
        // Whoever reads the column decides what becomes of one that cannot be read.
        do { try self.init(text: text) } catch { return nil }
    }
}
