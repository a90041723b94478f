import Foundation
import GRDB
import HubProtocol
import PushCore

extension HubDatabase {
    /// Reads the hub's credentials.
    package func credentials(of hub: Int64) async throws -> [PushCredential] {
        try await pool.read { database in
            try Row.fetchAll(
                database, sql: "SELECT * FROM push_credential WHERE hub = ? ORDER BY number", arguments: [hub]
            ).compactMap(PushCredential.init)
        }
    }

    /// Adds a credential, replacing the hub's credential for the same push service and environment.
    ///
    /// - Returns: The credential's number.
    package func setCredential(_ credential: PushCredential) async throws -> Int64 {
        try await pool.write { database in
            try database.execute(
                sql: """
                    INSERT OR REPLACE INTO push_credential(hub, service, kind, environment, address, name, owner, secret,
                        authority, expires_at, created_at)
                    VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
                    """,
                arguments: [
                    credential.hub, credential.kind.service, credential.kind.rawValue,
                    credential.environment?.rawValue ?? "", credential.address, credential.name, credential.owner,
                    credential.secret, credential.authority, credential.expiresAt?.rawValue,
                    credential.createdAt.rawValue,
                ])
            return database.lastInsertedRowID
        }
    }

    /// Removes a credential of a hub; returns whether it existed.
    package func removeCredential(_ number: Int64, of hub: Int64) async throws -> Bool {
        try await pool.write { database in
            try database.execute(
                sql: "DELETE FROM push_credential WHERE number = ? AND hub = ?", arguments: [number, hub])
            return database.changesCount > 0
        }
    }
}

extension PushCredential {
    /// Creates the credential from a row; `nil` for a row that this code did not write.
    init?(_ row: Row) {
        guard let kind = Kind(rawValue: row["kind"]) else { return nil }
        self.init(
            number: row["number"], hub: row["hub"], kind: kind,
            environment: PushEnvironment(rawValue: row["environment"]),
            address: row["address"], name: row["name"], owner: row["owner"], secret: row["secret"],
            authority: row["authority"], expiresAt: (row["expires_at"] as Int64?).map { Timestamp(rawValue: $0) },
            createdAt: Timestamp(rawValue: row["created_at"]))
    }
}

extension HubDatabase {
    /// The state of each hub, key and credential, by its name, for the log of changes; a state has no secret.
    package func registerEntries() async throws -> [String: String] {
        try await pool.read { database in
            var entries: [String: String] = [:]
            for hub in try Row.fetchAll(database, sql: "SELECT * FROM hub").map(HubRecord.init) {
                let pictures = hub.pictureKeys.map { $0.map(\.rawValue).joined(separator: " ") } ?? "all that fit"
                entries["hub \(hub.name)"] =
                    "app \(hub.topic), team \(hub.team), limits \(hub.limits.installations) installations, "
                    + "\(hub.limits.tags) tags, \(hub.limits.writesPerSecond) writes, pictures \(pictures)"
            }
            let owned = """
                SELECT hub, 'key' AS kind, name, rights AS state, created_at FROM hub_key UNION ALL
                SELECT hub, 'backend key', name, 'backend', created_at FROM backend_key UNION ALL
                SELECT hub, 'API key', name, rights, created_at FROM api_key UNION ALL
                SELECT hub, 'credential', number, kind || ' ' || name, created_at FROM push_credential
                """
            let rows = try Row.fetchAll(
                database, sql: "SELECT owned.*, hub.name AS hub_name FROM (\(owned)) owned JOIN hub ON hub.number = hub"
            )
            for row in rows {
                let (hub, kind, name): (String, String, String) = (row["hub_name"], row["kind"], row["name"])
                let (state, made): (String, Int64) = (row["state"], row["created_at"])
                entries["hub \(hub) \(kind) \(name)"] = "\(state), made \(Timestamp(rawValue: made))"
            }
            return entries
        }
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
            ).compactMap(Self.event)
        }
    }

    /// Reads events by the index of their installations.
    package func events(of hub: Int64, about installation: String) async throws -> [HubEvent] {
        try await pool.read { database in
            try Row.fetchAll(
                database,
                sql: """
                    SELECT * FROM hub_event
                    WHERE hub = ? AND kind = 'channel.dead' AND lower(data ->> '$.installationId') = ? ORDER BY number
                    """, arguments: [hub, installation.lowercased()]
            ).compactMap(Self.event)
        }
    }

    private static func event(_ row: Row) -> HubEvent? {
        guard let kind = HubEvent.Kind(rawValue: row["kind"]), let data = try? JSONValue(text: row["data"]) else {
            return nil
        }
        return HubEvent(
            number: row["number"], hub: row["hub"], kind: kind, data: data, at: Timestamp(rawValue: row["at"]))
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
