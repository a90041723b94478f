import HubProtocol
import PushCore
import PushServer

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
