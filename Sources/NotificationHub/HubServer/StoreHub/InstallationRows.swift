import HubProtocol
import PushCore
import PushServer

/// The statements for rows of installations.
enum InstallationRows {
    /// The values of the columns that every put writes.
    static func values(_ stored: StoredInstallation, _ document: String) -> [SQLParameter] {
        let installation = stored.installation
        let values: [any SQLValue] = [
            installation.userID?.lowercased(), installation.channelKey, document,
            installation.platform.rawValue, installation.tags.map(\.text).joined(separator: " "),
            templateTags(installation),
            installation.locale?.lowercased(), installation.country?.lowercased(), installation.appVersion,
            installation.timeZone, stored.version, stored.updatedAt, installation.expiresAt,
        ]
        return values.map(\.parameter)
    }

    /// The tags of the templates and their names; `nil` where there is no template.
    static func templateTags(_ installation: HubProtocol.Installation) -> String? {
        guard !installation.templates.isEmpty else { return nil }
        let tags = installation.templates.flatMap { $0.tags + [TagName($0.name)].compactMap { $0 } }
        return Set(tags).map(\.text).joined(separator: " ")
    }

    static let inserting = """
        INSERT INTO installation(
            "user", channel, document, platform, tags, template_tags, locale, country, app_version, time_zone, version, updated_at,
            expires_at, hub, id, created_at
        ) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
        """

    /// An expression for the moment of a row's hub.
    static let moment = "(SELECT moment FROM hub WHERE hub.number = installation.hub)"

    static let updating = """
        UPDATE installation SET
            "user" = ?1, channel = ?2, document = ?3, platform = ?4, tags = ?5, template_tags = ?6, locale = ?7,
            country = ?8, app_version = ?9, time_zone = ?10, version = ?11, updated_at = ?12, expires_at = ?13,
            fault = NULL, fault_at = NULL, registered_at = NULL,
            channel_moment = CASE WHEN channel IS NOT DISTINCT FROM ?2 THEN channel_moment ELSE \(moment) END
        WHERE number = ?14
        """

    /// Updates all columns except the channel and its state. The channel is a parameter all the same, so that both statements
    /// have the same ones.
    static let patching = """
        UPDATE installation SET
            "user" = ?1, document = ?3, platform = ?4, tags = ?5, template_tags = ?6, locale = ?7, country = ?8,
            app_version = ?9, time_zone = ?10, version = ?11, expires_at = ?13,
            registered_at = COALESCE(registered_at, updated_at), updated_at = ?12
        WHERE number = ?14 AND ?2 IS NOT DISTINCT FROM ?2
        """

    /// Marks the other installations with the channel: a channel belongs to the installation that registered it last.
    static func takeChannel(
        of installation: HubProtocol.Installation, hub: Int64, at now: Timestamp, _ sql: any SQLConnection,
        _ changes: inout [AudienceChange]
    ) throws {
        guard let channel = installation.channelKey,
            let row = try sql.row(
                "SELECT * FROM installation WHERE hub = ? AND channel = ? AND id <> ?", hub, channel,
                installation.foldedID), let other = try StoredInstallation(row)
        else { return }
        try mark(other, hub: hub, fault: ChannelFault(word: "TakenOver", at: now), sql, changes: &changes)
    }

    /// Marks an installation's channel as dead; no expression matches it any more.
    static func mark(
        _ stored: StoredInstallation, hub: Int64, fault: ChannelFault, _ sql: any SQLConnection,
        changes: inout [AudienceChange]
    ) throws {
        try sql.run(
            "UPDATE installation SET channel = NULL, fault = ?, fault_at = ?, version = version + 1 WHERE number = ?",
            fault.word, fault.at, stored.number)
        changes.append(AudienceChange(hub: hub, before: stored.entry, after: nil))
        try RecipientRows.addEvent(
            .channelDead,
            data: [
                .init("installationId", .string(stored.installation.id)),
                .init("platform", .string(stored.installation.platform.text)), .init("word", .string(fault.word)),
            ], hub: hub, at: fault.at, sql)
    }

    static func one(_ sql: any SQLConnection, hub: Int64, id: String) throws -> StoredInstallation? {
        try row(sql, hub: hub, id: id).flatMap { try StoredInstallation($0) }
    }

    static func row(_ sql: any SQLConnection, hub: Int64, id: String) throws -> (any SQLRow)? {
        try sql.row("SELECT * FROM installation WHERE hub = ? AND id = ?", hub, id)
    }

    /// Deletes an installation and its identity in rows of sends; the outcomes of its notifications are still recorded.
    static func delete(_ number: UInt32, _ sql: any SQLConnection) throws {
        try sql.run("DELETE FROM send_fault WHERE installation = ?", number)
        // The counts of a report remain, without the identity.
        try sql.run(
            """
            UPDATE send_recipient SET name = '', locale = NULL, retry_at = NULL,
                ending = CASE WHEN retry_at IS NULL THEN ending ELSE 'ineligible' END
            WHERE installation = ?
            """, number)
        try sql.run("DELETE FROM installation WHERE number = ?", number)
    }
}

extension StoredInstallation {
    /// Creates the installation from a row; `nil` for one with an unreadable document, which no put has written.
    init?(_ row: any SQLRow) throws {
        guard let number = UInt32(exactly: try row["number"] as Int64),
            let tree = JSONValue(stored: try row["document"]),
            let installation = Self.read(tree)
        else { return nil }
        let word: String? = try row["fault"]
        let at: Timestamp? = try row["fault_at"]
        self.init(
            number: number, installation: installation, version: try row["version"], createdAt: try row["created_at"],
            updatedAt: try row["updated_at"],
            fault: word.map { ChannelFault(word: $0, at: at ?? Timestamp(rawValue: 0)) }, seenAt: try row["seen_at"])
    }

    private static func read(_ tree: JSONValue) -> HubProtocol.Installation? {
        do { return try InstallationJSON.read(tree, id: nil) } catch { return nil }
    }
}
