import Foundation
import GRDB
import HubProtocol
import PushCore

/// The statements for rows of installations.
enum InstallationRows {
    /// The values of the columns that every put writes.
    static func values(_ stored: StoredInstallation, _ document: String) -> StatementArguments {
        let installation = stored.installation
        return [
            installation.userID?.lowercased(), installation.channelKey, document,
            installation.platform.rawValue, installation.tags.map(\.text).joined(separator: " "),
            templateTags(installation),
            installation.locale?.lowercased(), installation.country?.lowercased(), installation.appVersion,
            installation.timeZone, stored.version, stored.updatedAt.rawValue, installation.expiresAt?.rawValue,
        ]
    }

    /// The tags of the templates and their names; `nil` where there is no template.
    static func templateTags(_ installation: Installation) -> String? {
        guard !installation.templates.isEmpty else { return nil }
        let tags = installation.templates.flatMap { $0.tags + [TagName($0.name)].compactMap { $0 } }
        return Set(tags).map(\.text).joined(separator: " ")
    }

    static let inserting = """
        INSERT INTO installation(
            user, channel, document, platform, tags, template_tags, locale, country, app_version, time_zone, version, updated_at,
            expires_at, hub, id, created_at
        ) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
        """

    /// An expression for the moment of a row's hub.
    static let moment = "(SELECT moment FROM hub WHERE hub.number = installation.hub)"

    static let updating = """
        UPDATE installation SET
            user = ?, channel = ?, document = ?, platform = ?, tags = ?, template_tags = ?, locale = ?, country = ?,
            app_version = ?, time_zone = ?, version = ?, updated_at = ?, expires_at = ?, fault = NULL, fault_at = NULL,
            registered_at = NULL, channel_moment = CASE WHEN channel IS ?2 THEN channel_moment ELSE \(moment) END
        WHERE number = ?
        """

    /// Updates all columns except the channel and its state.
    static let patching = """
        UPDATE installation SET
            user = ?1, document = ?3, platform = ?4, tags = ?5, template_tags = ?6, locale = ?7, country = ?8,
            app_version = ?9, time_zone = ?10, version = ?11, expires_at = ?13,
            registered_at = COALESCE(registered_at, updated_at), updated_at = ?12
        WHERE number = ?14
        """

    /// Marks the other installations with the channel: a channel belongs to the installation that registered it last.
    static func takeChannel(
        of installation: Installation, hub: Int64, at now: Timestamp, _ database: Database,
        _ changes: inout [AudienceChange]
    ) throws {
        guard let channel = installation.channelKey,
            let row = try Row.fetchOne(
                database,
                sql: "SELECT * FROM installation WHERE hub = ? AND channel = ? AND id <> ?",
                arguments: [hub, channel, installation.foldedID]), let other = StoredInstallation(row)
        else { return }
        try mark(
            other, hub: hub, fault: ChannelFault(word: "TakenOver", at: now), database: database, changes: &changes)
    }

    /// Marks an installation's channel as dead; no expression matches it any more.
    static func mark(
        _ stored: StoredInstallation, hub: Int64, fault: ChannelFault, database: Database,
        changes: inout [AudienceChange]
    ) throws {
        try database.execute(
            sql: """
                UPDATE installation SET channel = NULL, fault = ?, fault_at = ?, version = version + 1 WHERE number = ?
                """, arguments: [fault.word, fault.at.rawValue, Int64(stored.number)])
        changes.append(AudienceChange(hub: hub, before: stored.entry, after: nil))
        try RecipientRows.addEvent(
            .channelDead,
            data: [
                .init("installationId", .string(stored.installation.id)),
                .init("platform", .string(stored.installation.platform.text)), .init("word", .string(fault.word)),
            ], hub: hub, at: fault.at, database: database)
    }

    static func one(_ database: Database, hub: Int64, id: String) throws -> StoredInstallation? {
        try database.cachedStatement(sql: "SELECT * FROM installation WHERE hub = ? AND id = ?")
            .fetchOne(arguments: [hub, id])
    }

    /// Deletes an installation and its identity in rows of sends; the outcomes of its notifications are still recorded.
    static func delete(_ number: Int64, _ database: Database) throws {
        try database.execute(sql: "DELETE FROM send_fault WHERE installation = ?", arguments: [number])
        // The counts of a report remain, without the identity.
        try database.execute(
            sql: """
                UPDATE send_recipient SET name = '', locale = NULL, retry_at = NULL,
                    ending = CASE WHEN retry_at IS NULL THEN ending ELSE 'ineligible' END
                WHERE installation = ?
                """, arguments: [number])
        try database.execute(sql: "DELETE FROM installation WHERE number = ?", arguments: [number])
    }
}

extension Statement {
    func fetchOne(arguments: StatementArguments) throws -> StoredInstallation? {
        try Row.fetchOne(self, arguments: arguments).flatMap(StoredInstallation.init)
    }
}

extension StoredInstallation {
    /// Creates the installation from a row; `nil` for one with an unreadable document, which no put has written.
    init?(_ row: Row) {
        guard let number = UInt32(exactly: row["number"] as Int64),
            let tree = try? JSONValue(text: row["document"]),
            let installation = try? InstallationJSON.read(tree, id: nil)
        else { return nil }
        let word: String? = row["fault"]
        let at: Int64? = row["fault_at"]
        self.init(
            number: number, installation: installation, version: row["version"],
            createdAt: Timestamp(rawValue: row["created_at"]), updatedAt: Timestamp(rawValue: row["updated_at"]),
            fault: word.map { ChannelFault(word: $0, at: Timestamp(rawValue: at ?? 0)) },
            seenAt: (row["seen_at"] as Int64?).map { Timestamp(rawValue: $0) })
    }
}

extension AudienceEntry {
    init?(_ row: Row) {
        guard let number = UInt32(exactly: row["number"] as Int64),
            let platform = HubPlatform(rawValue: row["platform"])
        else { return nil }
        func tags(_ text: String?) -> [TagName] {
            text?.split(separator: " ").compactMap { TagName(String($0)) } ?? []
        }
        let templateTags: String? = row["template_tags"]
        let user: String? = row["user"]
        self.init(
            number: number, platform: platform, tags: tags(row["tags"]), templateTags: tags(templateTags),
            hasTemplates: templateTags != nil, locale: row["locale"], country: row["country"],
            appVersion: row["app_version"], timeZone: row["time_zone"],
            person: PersonNumber(user ?? row["id"]), isRegistration: row["is_registration"],
            seenAt: Timestamp(rawValue: row["seen"]))
    }
}
