import Audience
import Foundation
import GRDB
import Hub
import HubWire
import PushModel

extension HubDatabase {
    /// Puts many installations in one transaction, as single puts would: a later one of an id, or of a channel, counts.
    ///
    /// The hub's generation rises, by which a server that has the hub's audiences in memory reads them again.
    ///
    /// - Returns: How many are new.
    package func importAll(_ installations: [Installation], hub: Int64, at now: Timestamp) async throws -> Int {
        return try await pool.write { database in
            var added = 0
            let known = try database.cachedStatement(sql: "SELECT 1 FROM installation WHERE hub = ? AND id = ?")
            let takeOver = try database.cachedStatement(
                sql: """
                    UPDATE installation SET channel = NULL, fault = 'TakenOver', fault_at = ?, version = version + 1
                    WHERE hub = ? AND channel = ? AND id <> ?
                    """)
            let upsert = try database.cachedStatement(sql: Self.upserting)
            for installation in installations {
                if let channel = installation.channelKey {
                    try takeOver.execute(arguments: [now.rawValue, hub, channel, installation.foldedID])
                }
                let stored = StoredInstallation(
                    number: 0, installation: installation, version: 1, createdAt: now, updatedAt: now, fault: nil)
                if try Int.fetchOne(known, arguments: [hub, installation.foldedID]) == nil { added += 1 }
                try upsert.execute(arguments: Self.values(stored) + [hub, installation.foldedID, now.rawValue])
            }
            try database.execute(sql: "UPDATE hub SET generation = generation + 1 WHERE number = ?", arguments: [hub])
            return added
        }
    }

    private static let upserting = """
        \(inserting)
        ON CONFLICT (hub, id) DO UPDATE SET
            user = excluded.user, channel = excluded.channel, document = excluded.document,
            platform = excluded.platform, tags = excluded.tags, template_tags = excluded.template_tags,
            locale = excluded.locale, country = excluded.country, app_version = excluded.app_version,
            time_zone = excluded.time_zone, version = version + 1, updated_at = excluded.updated_at,
            expires_at = excluded.expires_at, fault = NULL, fault_at = NULL
        """
}
