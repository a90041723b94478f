import HubProtocol
import PushCore
import PushServer

extension HubDatabase {
    /// Adds a hub with its first keys; `nil` where the name is taken.
    package func addHub(
        name: String, team: TeamID, topic: Topic, isStrict: Bool, keys: [HubKey], at now: Timestamp
    ) async throws -> HubRecord? {
        try await database.write { sql in
            let added = try sql.row(
                """
                INSERT INTO hub(name, team, topic, is_strict, created_at)
                SELECT ?1, ?2, ?3, ?4, ?5 WHERE NOT EXISTS (SELECT 1 FROM hub WHERE lower(name) = lower(?1))
                ON CONFLICT DO NOTHING RETURNING *
                """, name, team, topic, isStrict, now)
            guard let added else { return nil }
            let hub = try HubRecord(added)
            for key in keys { try Self.write(key, of: hub.number, sql) }
            return hub
        }
    }

    /// Adds a key to a hub, replacing one with the same name.
    package func setKey(_ key: HubKey, of hub: Int64) async throws {
        try await database.write { try Self.write(key, of: hub, $0) }
    }

    private static func write(_ key: HubKey, of hub: Int64, _ sql: any SQLConnection) throws {
        try sql.run(
            """
            INSERT INTO hub_key(hub, name, rights, primary_key, secondary_key, created_at) VALUES (?, ?, ?, ?, ?, ?)
            ON CONFLICT (hub, name) DO UPDATE SET rights = excluded.rights, primary_key = excluded.primary_key,
                secondary_key = excluded.secondary_key, created_at = excluded.created_at
            """, hub, key.name, key.rights.text, key.primary, key.secondary, key.createdAt)
    }

    /// Removes a key of a hub, of any kind; returns whether it existed.
    package func removeKey(_ name: String, of hub: Int64) async throws -> Bool {
        try await database.write { sql in
            try ["hub_key", "backend_key", "api_key"].reduce(0) { count, table in
                try count + sql.run("DELETE FROM \(table) WHERE hub = ? AND name = ?", hub, name)
            } > 0
        }
    }

    /// The names of a hub's keys for backends.
    package func backendKeys(of hub: Int64) async throws -> [String] {
        try await database.read { sql in
            try sql.rows("SELECT name FROM backend_key WHERE hub = ? ORDER BY name", hub).map { try $0["name"] }
        }
    }

    /// Adds a backend's key, of which only the hash is stored, replacing one with the same name.
    package func addBackendKey(name: String, hash: [UInt8], of hub: Int64, at now: Timestamp) async throws {
        try await database.write { sql in
            try Self.lock(hub: hub, sql)
            try sql.run("DELETE FROM backend_key WHERE hub = ? AND name = ?", hub, name)
            try sql.run(
                "INSERT INTO backend_key(hash, hub, name, created_at) VALUES (?, ?, ?, ?)", hash, hub, name, now)
        }
    }

    /// Reads a key by the primary key.
    package func apiKey(hash: [UInt8]) async throws -> HubAPIKey? {
        try await database.read { sql in
            try sql.row("SELECT * FROM api_key WHERE hash = ?", hash).map { try HubAPIKey($0) }
        }
    }

    /// The keys of a hub for its own API.
    package func apiKeys(of hub: Int64) async throws -> [HubAPIKey] {
        try await database.read { sql in
            try sql.rows("SELECT * FROM api_key WHERE hub = ? ORDER BY name", hub).map { try HubAPIKey($0) }
        }
    }

    /// Adds a key, of which only the hash is stored, replacing one with the same name.
    package func addAPIKey(_ key: HubAPIKey, hash: [UInt8]) async throws {
        try await database.write { sql in
            try Self.lock(hub: key.hub, sql)
            try sql.run("DELETE FROM api_key WHERE hub = ? AND name = ? OR hash = ?", key.hub, key.name, hash)
            try sql.run(
                "INSERT INTO api_key(hash, hub, name, rights, expires_at, created_at) VALUES (?, ?, ?, ?, ?, ?)", hash,
                key.hub, key.name, key.rights.text, key.expiresAt, key.createdAt)
        }
    }

    /// Gives a hub other quotas; the server judges the next request by them.
    package func setLimits(_ limits: HubLimits, of hub: Int64) async throws {
        try await database.write { sql in
            try sql.run(
                "UPDATE hub SET most_installations = ?, most_tags = ?, writes_per_second = ? WHERE number = ?",
                limits.installations, limits.tags, limits.writesPerSecond, hub)
        }
    }

    /// Sets the members of payloads in which the app's extensions find pictures, from the next campaign on.
    package func setPictureKeys(_ keys: [PictureKey]?, of hub: Int64) async throws {
        try await database.write { sql in
            try sql.run(
                "UPDATE hub SET picture_keys = ? WHERE number = ?", keys?.map(\.rawValue).joined(separator: ","), hub)
        }
    }

    /// The number of a hub's installations, and the bytes that their documents take.
    package func size(of hub: Int64) async throws -> (installations: Int, documentBytes: Int) {
        try await database.read { sql in
            guard let row = try sql.row("SELECT installations, document_bytes FROM hub WHERE number = ?", hub) else {
                return (0, 0)
            }
            return (try row["installations"], try row["document_bytes"])
        }
    }

    /// The state of each hub, key and credential, by its name, for the log of changes; a state has no secret.
    package func registerEntries() async throws -> [String: String] {
        try await database.read { sql in
            var entries: [String: String] = [:]
            for hub in try sql.rows("SELECT * FROM hub").map({ try HubRecord($0) }) {
                let pictures = hub.pictureKeys.map { $0.map(\.rawValue).joined(separator: " ") } ?? "all that fit"
                entries["hub \(hub.name)"] =
                    "app \(hub.topic), team \(hub.team), limits \(hub.limits.installations) installations, "
                    + "\(hub.limits.tags) tags, \(hub.limits.writesPerSecond) writes, pictures \(pictures)"
            }
            let owned = """
                SELECT hub, 'key' AS kind, name, rights AS state, created_at FROM hub_key UNION ALL
                SELECT hub, 'backend key', name, 'backend', created_at FROM backend_key UNION ALL
                SELECT hub, 'API key', name, rights, created_at FROM api_key UNION ALL
                SELECT hub, 'credential', CAST(number AS text), kind || ' ' || name, created_at FROM push_credential
                """
            let rows = try sql.rows(
                "SELECT owned.*, hub.name AS hub_name FROM (\(owned)) owned JOIN hub ON hub.number = hub")
            for row in rows {
                let (hub, kind, name): (String, String, String) = (
                    try row["hub_name"], try row["kind"], try row["name"]
                )
                let (state, made): (String, Timestamp) = (try row["state"], try row["created_at"])
                entries["hub \(hub) \(kind) \(name)"] = "\(state), made \(made)"
            }
            return entries
        }
    }
}

extension HubAPIKey {
    init(_ row: any SQLRow) throws {
        self.init(
            hub: try row["hub"], name: try row["name"], rights: HubRights(text: try row["rights"]) ?? [],
            expiresAt: try row["expires_at"], createdAt: try row["created_at"])
    }
}

/// Credentials for other push services.
extension HubDatabase {
    /// Reads the hub's credentials.
    package func credentials(of hub: Int64) async throws -> [PushCredential] {
        try await database.read { sql in
            try sql.rows("SELECT * FROM push_credential WHERE hub = ? ORDER BY number", hub)
                .compactMap { try PushCredential($0) }
        }
    }

    /// Adds a credential, replacing the hub's credential for the same push service and environment.
    ///
    /// - Returns: The credential's number.
    package func setCredential(_ credential: PushCredential) async throws -> Int64 {
        try await database.write { sql in
            try Self.lock(hub: credential.hub, sql)
            let environment = credential.environment?.rawValue ?? ""
            try sql.run(
                "DELETE FROM push_credential WHERE hub = ? AND service = ? AND environment = ?", credential.hub,
                credential.kind.service, environment)
            let row = try sql.row(
                """
                INSERT INTO push_credential(hub, service, kind, environment, address, name, owner, secret, authority,
                    expires_at, created_at)
                VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?) RETURNING number
                """, credential.hub, credential.kind.service, credential.kind.rawValue, environment,
                credential.address, credential.name, credential.owner, credential.secret, credential.authority,
                credential.expiresAt, credential.createdAt)
            guard let row else { throw SQLColumnError(column: "number") }
            return try row["number"]
        }
    }

    /// Removes a credential of a hub; returns whether it existed.
    package func removeCredential(_ number: Int64, of hub: Int64) async throws -> Bool {
        try await database.write { sql in
            try sql.run("DELETE FROM push_credential WHERE number = ? AND hub = ?", number, hub) > 0
        }
    }
}

extension PushCredential {
    /// Creates the credential from a row; `nil` for a row that this code did not write.
    init?(_ row: any SQLRow) throws {
        guard let kind = Kind(rawValue: try row["kind"]) else { return nil }
        self.init(
            number: try row["number"], hub: try row["hub"], kind: kind,
            environment: PushEnvironment(rawValue: try row["environment"]), address: try row["address"],
            name: try row["name"], owner: try row["owner"], secret: try row["secret"], authority: try row["authority"],
            expiresAt: try row["expires_at"], createdAt: try row["created_at"])
    }
}

/// Webhooks and their events.
extension HubDatabase {
    /// Reads all rows.
    package func webhooks() async throws -> [HubWebhook] {
        try await database.read { sql in
            try sql.rows("SELECT * FROM hub_webhook ORDER BY hub").map { row in
                HubWebhook(
                    hub: try row["hub"], url: try row["url"], secret: try row["secret"], setAt: try row["set_at"])
            }
        }
    }

    /// Writes the row, or deletes it with the queued events.
    package func setWebhook(_ webhook: HubWebhook?, of hub: Int64) async throws {
        try await database.write { sql in
            try Self.lock(hub: hub, sql)
            guard let webhook else {
                try sql.run("DELETE FROM hub_webhook WHERE hub = ?", hub)
                try sql.run("DELETE FROM hub_event WHERE hub = ?", hub)
                return
            }
            try sql.run(
                """
                INSERT INTO hub_webhook(hub, url, secret, set_at) VALUES (?, ?, ?, ?)
                ON CONFLICT (hub) DO UPDATE SET url = excluded.url, secret = excluded.secret, set_at = excluded.set_at
                """, hub, webhook.url, webhook.secret, webhook.setAt)
        }
    }

    /// Reads events by the index of a hub's events.
    package func events(of hub: Int64, limit: Int) async throws -> [HubEvent] {
        try await database.read { sql in
            try sql.rows("SELECT * FROM hub_event WHERE hub = ? ORDER BY number LIMIT ?", hub, limit)
                .compactMap { try HubEvent($0) }
        }
    }

    /// Reads events by the index of their installations.
    package func events(of hub: Int64, about installation: String) async throws -> [HubEvent] {
        try await database.read { sql in
            try sql.rows(
                "SELECT * FROM hub_event WHERE \(Self.namesInstallation(sql)) ORDER BY number", hub,
                installation.lowercased()
            ).compactMap { try HubEvent($0) }
        }
    }

    /// A condition of events that name an installation, which uses their index.
    static func namesInstallation(_ sql: any SQLConnection) -> String {
        let id = sql.isShared ? "data::json ->> 'installationId'" : "data ->> '$.installationId'"
        return "hub = ? AND kind = 'channel.dead' AND lower(\(id)) = ?"
    }

    /// Deletes the row.
    package func endEvent(_ number: Int64) async throws {
        try await database.write { try $0.run("DELETE FROM hub_event WHERE number = ?", number) }
    }

    /// Deletes by the index of times, and by number the oldest of each hub that has more than its share.
    package func deleteEvents(before instant: Timestamp, most: Int) async throws -> (expired: Int, full: Int) {
        try await database.write { sql in
            let expired = try sql.run("DELETE FROM hub_event WHERE at < ?", instant)
            let counts = try sql.rows("SELECT hub, COUNT(*) AS count FROM hub_event GROUP BY hub")
                .map { (try $0["hub"] as Int64, try $0["count"] as Int) }
            var full = 0
            for (hub, excess) in FairShare.excess(Dictionary(counts, uniquingKeysWith: { $1 }), most: most) {
                full += try sql.run(
                    """
                    DELETE FROM hub_event
                    WHERE number IN (SELECT number FROM hub_event WHERE hub = ? ORDER BY number LIMIT ?)
                    """, hub, excess)
            }
            return (expired, full)
        }
    }

    /// Reads campaigns by the index of open sends, for each hub with a webhook.
    package func runningCampaigns(begunBefore instant: Timestamp, limit: Int) async throws -> [(hub: Int64, id: String)]
    {
        try await database.read { sql in
            let rows = try sql.rows(
                """
                SELECT send.hub, send.id FROM send CROSS JOIN hub_webhook
                WHERE hub_webhook.hub = send.hub AND ended_at IS NULL AND state IN ('Processing', 'Paused') AND campaign IS NOT NULL
                    AND started_at <= ?
                ORDER BY number DESC
                """, instant)
            var counts: [Int64: Int] = [:]
            return try rows.compactMap { row in
                let hub: Int64 = try row["hub"]
                counts[hub, default: 0] += 1
                return counts[hub, default: 0] > limit ? nil : (hub, try row["id"])
            }
        }
    }
}

extension HubEvent {
    /// Creates the event from a row; `nil` for a row that this code did not write.
    fileprivate init?(_ row: any SQLRow) throws {
        guard let kind = HubEvent.Kind(rawValue: try row["kind"]), let data = JSONValue(stored: try row["data"]) else {
            return nil
        }
        self.init(number: try row["number"], hub: try row["hub"], kind: kind, data: data, at: try row["at"])
    }
}
