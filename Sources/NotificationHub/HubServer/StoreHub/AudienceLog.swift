import HubProtocol
import PushCore
import PushServer

/// The changes of audiences, in the order of their commits, for the copies that servers have in memory.
enum AudienceLog {
    /// The commits of a hub that are kept. A server that is further behind reads all installations again.
    static let length: Int64 = 10_000

    /// Records the changes of a transaction, which has the hubs' locks.
    ///
    /// - Returns: The commit; none where nothing has changed.
    static func record(
        _ changes: [AudienceChange], seen: [UInt32] = [], at now: Timestamp? = nil, hub: Int64,
        _ sql: any SQLConnection
    ) throws -> [AudienceCommit] {
        guard !changes.isEmpty || !seen.isEmpty else { return [] }
        let row = try sql.row("UPDATE hub SET version = version + 1 WHERE number = ? RETURNING version", hub)
        guard let row else { return [] }
        var commit = AudienceCommit(hub: hub, version: try row["version"], changes: changes)
        if let now, !seen.isEmpty { commit.seen = .init(installations: seen, at: now) }
        try sql.run(
            "INSERT INTO audience_change(hub, version, content) VALUES (?, ?, ?)", hub, commit.version, commit.content)
        if commit.version % 256 == 0 {
            try sql.run("DELETE FROM audience_change WHERE hub = ? AND version <= ?", hub, commit.version - length)
        }
        return [commit]
    }

    /// Reads the commits after a version.
    static func commits(
        of hub: Int64, after version: Int64, limit: Int, _ sql: any SQLConnection
    ) throws -> [AudienceCommit] {
        try sql.rows(
            "SELECT version, content FROM audience_change WHERE hub = ? AND version > ? ORDER BY version LIMIT ?", hub,
            version, limit
        ).compactMap { AudienceCommit(hub: hub, version: try $0["version"], content: try $0["content"]) }
    }
}

extension AudienceEntry {
    init?(_ row: any SQLRow) throws {
        guard let number = UInt32(exactly: try row["number"] as Int64),
            let platform = HubPlatform(rawValue: try row["platform"])
        else { return nil }
        let templateTags: String? = try row["template_tags"]
        let user: String? = try row["user"]
        let seenAt: Timestamp? = try row["seen_at"]
        self.init(
            number: number, platform: platform, tags: TagName.list(try row["tags"]),
            templateTags: TagName.list(templateTags ?? ""), hasTemplates: templateTags != nil,
            locale: try row["locale"], country: try row["country"], appVersion: try row["app_version"],
            timeZone: try row["time_zone"], person: PersonNumber(try user ?? row["id"]),
            isRegistration: try row["is_registration"], seenAt: max(try row["updated_at"], seenAt ?? .distantPast))
    }
}

extension TagName {
    /// Tags that are separated by spaces.
    static func list(_ text: String) -> [TagName] { text.split(separator: " ").compactMap { TagName(String($0)) } }
}
