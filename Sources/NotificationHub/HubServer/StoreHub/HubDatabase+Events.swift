import Foundation
import GRDB
import HubProtocol
import PushCore

extension HubDatabase {
    /// Records an event in the transaction that causes it, if the hub has a webhook.
    static func tell(
        _ kind: HubEvent.Kind, data: [JSONTree.Member], hub: Int64, at now: Timestamp, database: Database
    )
        throws
    {
        try database.execute(
            sql: """
                INSERT INTO hub_event(hub, kind, data, at)
                SELECT hub, ?, ?, ? FROM hub_webhook WHERE hub = ?
                """, arguments: [kind.rawValue, JSONTree.object(data).json, now.rawValue, hub])
    }

    /// Reads a key by the primary key.
    package func apiKey(hash: [UInt8]) async throws -> HubAPIKey? {
        try await pool.read { database in
            try Row.fetchOne(database, sql: "SELECT * FROM api_key WHERE hash = ?", arguments: [Data(hash)])
                .map(HubAPIKey.init)
        }
    }

    /// The keys of a hub for its own API.
    package func apiKeys(of hub: Int64) async throws -> [HubAPIKey] {
        try await pool.read { database in
            try Row.fetchAll(database, sql: "SELECT * FROM api_key WHERE hub = ? ORDER BY name", arguments: [hub])
                .map(HubAPIKey.init)
        }
    }

    /// Adds a key, of which only the hash is stored, replacing one with the same name.
    package func addAPIKey(_ key: HubAPIKey, hash: [UInt8]) async throws {
        try await pool.write { database in
            try database.execute(
                sql: """
                    INSERT OR REPLACE INTO api_key(hash, hub, name, rights, expires_at, created_at)
                    VALUES (?, ?, ?, ?, ?, ?)
                    """,
                arguments: [
                    Data(hash), key.hub, key.name, key.rights.text, key.expiresAt?.rawValue, key.createdAt.rawValue,
                ])
        }
    }

    /// Reads all rows.
    package func webhooks() async throws -> [HubWebhook] {
        try await pool.read { database in
            try Row.fetchAll(database, sql: "SELECT * FROM hub_webhook ORDER BY hub").map { row in
                HubWebhook(
                    hub: row["hub"], url: row["url"], secret: row["secret"], setAt: Timestamp(rawValue: row["set_at"]))
            }
        }
    }

    /// Writes the row, or deletes it with the queued events.
    package func setWebhook(_ webhook: HubWebhook?, of hub: Int64) async throws {
        try await pool.write { database in
            guard let webhook else {
                try database.execute(sql: "DELETE FROM hub_webhook WHERE hub = ?", arguments: [hub])
                return try database.execute(sql: "DELETE FROM hub_event WHERE hub = ?", arguments: [hub])
            }
            try database.execute(
                sql: "INSERT OR REPLACE INTO hub_webhook(hub, url, secret, set_at) VALUES (?, ?, ?, ?)",
                arguments: [hub, webhook.url, webhook.secret, webhook.setAt.rawValue])
        }
    }

    /// Reads events by the index of a hub's events.
    package func events(of hub: Int64, limit: Int) async throws -> [HubEvent] {
        try await pool.read { database in
            try Row.fetchAll(
                database, sql: "SELECT * FROM hub_event WHERE hub = ? ORDER BY number LIMIT ?", arguments: [hub, limit]
            ).compactMap { row -> HubEvent? in
                guard let kind = HubEvent.Kind(rawValue: row["kind"]), let data = try? JSONTree(text: row["data"])
                else {
                    return nil
                }
                return HubEvent(
                    number: row["number"], hub: row["hub"], kind: kind, data: data, at: Timestamp(rawValue: row["at"]))
            }
        }
    }

    /// Reads campaigns by the index of open sends, for each hub with a webhook.
    package func runningCampaigns(begunBefore instant: Timestamp, limit: Int) async throws -> [(hub: Int64, id: String)]
    {
        try await pool.read { database in
            let rows = try Row.fetchAll(
                database,
                sql: """
                    SELECT send.hub, send.id FROM send CROSS JOIN hub_webhook ON hub_webhook.hub = send.hub
                    WHERE ended_at IS NULL AND state IN ('Processing', 'Paused') AND campaign IS NOT NULL
                        AND started_at <= ?
                    ORDER BY number DESC
                    """, arguments: [instant.rawValue])
            var counts: [Int64: Int] = [:]
            return rows.compactMap { row in
                let hub: Int64 = row["hub"]
                counts[hub, default: 0] += 1
                return counts[hub, default: 0] > limit ? nil : (hub, row["id"])
            }
        }
    }

    /// Deletes the row.
    package func endEvent(_ number: Int64) async throws {
        try await pool.write { try $0.execute(sql: "DELETE FROM hub_event WHERE number = ?", arguments: [number]) }
    }

    /// Deletes by the index of times, and by number the oldest of each hub that has more than its share.
    package func deleteEvents(before instant: Timestamp, most: Int) async throws -> (expired: Int, full: Int) {
        try await pool.write { database in
            try database.execute(sql: "DELETE FROM hub_event WHERE at < ?", arguments: [instant.rawValue])
            let expired = database.changesCount
            let counts = try Row.fetchAll(database, sql: "SELECT hub, COUNT(*) FROM hub_event GROUP BY hub")
                .map { ($0[0] as Int64, $0[1] as Int) }
            var full = 0
            for (hub, excess) in FairShare.excess(Dictionary(counts, uniquingKeysWith: { $1 }), most: most) {
                try database.execute(
                    sql: """
                        DELETE FROM hub_event
                        WHERE number IN (SELECT number FROM hub_event WHERE hub = ? ORDER BY number LIMIT ?)
                        """, arguments: [hub, excess])
                full += database.changesCount
            }
            return (expired, full)
        }
    }
}

extension HubAPIKey {
    init(_ row: Row) {
        self.init(
            hub: row["hub"], name: row["name"], rights: HubRights(text: row["rights"]) ?? [],
            expiresAt: (row["expires_at"] as Int64?).map { Timestamp(rawValue: $0) },
            createdAt: Timestamp(rawValue: row["created_at"]))
    }
}
