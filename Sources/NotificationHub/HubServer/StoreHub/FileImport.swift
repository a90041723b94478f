import GRDB
import HubProtocol
import PushCore

/// An import into a SQLite file, whose statements box no values.
enum FileImport {
    /// Stores installations in a transaction.
    ///
    /// - Returns: The number of new ones.
    static func run(
        _ installations: [ReadInstallation], hub: Int64, at now: Timestamp, _ database: Database
    ) throws -> Int {
        let takeOver = try ImportStatement(
            """
            UPDATE installation SET channel = NULL, fault = 'TakenOver', fault_at = ?, version = version + 1
            WHERE hub = ? AND channel = ? AND id <> ?
            """, on: database)
        let upsert = try ImportStatement(Self.upserting, on: database)
        upsert.bind(now.rawValue, at: 12)
        upsert.bind(hub, at: 14)
        upsert.bind(now.rawValue, at: 16)
        takeOver.bind(now.rawValue, at: 1)
        takeOver.bind(hub, at: 2)
        var added = 0
        for read in installations {
            let id = read.installation.foldedID
            let channel = read.installation.channelKey
            Self.bind(read, id: id, channel: channel, to: upsert)
            var outcome = try upsert.run()
            if case .conflict = outcome {
                // Another installation has the channel, and loses it.
                takeOver.bind(channel, at: 3)
                takeOver.bind(id, at: 4)
                _ = try takeOver.run()
                outcome = try upsert.run()
            }
            guard case .done(let isNew) = outcome else { throw DatabaseError(resultCode: .SQLITE_CONSTRAINT) }
            if isNew { added += 1 }
        }
        return added
    }

    /// Binds the values that differ from row to row, in the order of ``InstallationRows/inserting``.
    private static func bind(
        _ read: ReadInstallation, id: String, channel: String?, to upsert: borrowing ImportStatement
    ) {
        let installation = read.installation
        upsert.bind(installation.userID?.lowercased(), at: 1)
        upsert.bind(channel, at: 2)
        upsert.bind(read.document, at: 3)
        upsert.bind(installation.platform.rawValue, at: 4)
        upsert.bind(installation.tags.map(\.text).joined(separator: " "), at: 5)
        upsert.bind(InstallationRows.templateTags(installation), at: 6)
        upsert.bind(installation.locale?.lowercased(), at: 7)
        upsert.bind(installation.country?.lowercased(), at: 8)
        upsert.bind(installation.appVersion, at: 9)
        upsert.bind(installation.timeZone, at: 10)
        upsert.bind(1, at: 11)
        upsert.bind(installation.expiresAt?.rawValue, at: 13)
        upsert.bind(id, at: 15)
    }

    private static let upserting = """
        \(InstallationRows.inserting)
        ON CONFLICT (hub, id) DO UPDATE SET
            user = excluded.user, channel = excluded.channel, document = excluded.document,
            platform = excluded.platform, tags = excluded.tags, template_tags = excluded.template_tags,
            locale = excluded.locale, country = excluded.country, app_version = excluded.app_version,
            time_zone = excluded.time_zone, version = version + 1, updated_at = excluded.updated_at,
            expires_at = excluded.expires_at, fault = NULL, fault_at = NULL, registered_at = NULL,
            channel_moment = CASE WHEN channel IS excluded.channel THEN channel_moment ELSE
                \(InstallationRows.moment) END
        """
}
