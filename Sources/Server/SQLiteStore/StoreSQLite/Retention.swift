import GRDB
import PushCore
import PushServer

/// Deletes old rows of the database, slice by slice, each in a transaction of the writer's.
struct Retention {
    let database: Database

    /// Implements ``NotificationStore/prune(timelinesBefore:payloadsBefore:now:limit:)``.
    func prune(timelinesBefore: Timestamp, payloadsBefore: Timestamp, now: Timestamp, limit: Int) throws -> Bool {
        let oldest = NotificationIDGenerator(node: 0, highWater: 0).floor(at: timelinesBefore)
        // The slice is a range of ids, so that rows of each table are deleted by its own key.
        let beyond = try Int64.fetchOne(
            database.cachedStatement(sql: "SELECT id FROM message WHERE id < ? ORDER BY id LIMIT 1 OFFSET ?"),
            arguments: [oldest, limit])
        let end = beyond ?? oldest
        try delete(before: end)
        try database.cachedStatement(sql: "DELETE FROM unrecorded WHERE last < ?").execute(arguments: [oldest])
        let hasNew = try clearNew(before: payloadsBefore, now: now, limit: limit)
        let hasLingering = try clearLingering(before: payloadsBefore, now: now, limit: limit)
        let hasShared = try deleteShared(before: payloadsBefore, now: now, limit: limit)
        return beyond != nil || hasNew || hasLingering || hasShared
    }

    /// Deletes every notification below an id, with all that belongs to it.
    private func delete(before end: Int64) throws {
        try deleteNames(before: end)
        try closeReports(before: end)
        for sql in Self.deletions { try database.cachedStatement(sql: sql).execute(arguments: [end]) }
    }

    /// Deletes the rows that index these notifications by their `apns-id`. Each is deleted by its whole key, since many
    /// notifications may share an `apns-id`.
    private func deleteNames(before end: Int64) throws {
        let named = try Row.fetchCursor(
            database.cachedStatement(
                sql: """
                    SELECT id, lower(apns_id), code IS NOT NULL, team, device, app, environment FROM message
                    WHERE id < ? AND apns_id IS NOT NULL
                    """), arguments: [end])
        while let row = try named.next() {
            let (id, name) = (row[0] as Int64, row[1] as String)
            if row[2] as Bool {
                try database.cachedStatement(sql: "DELETE FROM refusal WHERE apns_id = ? AND team = ? AND id = ?")
                    .execute(arguments: [name, row[3] as String?, id])
            } else {
                try database.cachedStatement(
                    sql: """
                        DELETE FROM identity
                        WHERE apns_id = ? AND device IN (?, ?) AND app = ? AND environment = ? AND id = ?
                        """
                ).execute(arguments: [
                    name, RowWriter.nobody, row[4] as Int64?, row[5] as Int64?, row[6] as Int64?, id,
                ])
            }
        }
    }

    /// Counts pending notifications with a final end when their timelines are deleted.
    private func closeReports(before end: Int64) throws {
        let counted = try Row.fetchCursor(
            database.cachedStatement(
                sql: """
                    SELECT report_counted.report, report_counted.outcome, message.expires_at IS NULL
                    FROM report_counted LEFT JOIN message ON message.id = report_counted.id WHERE report_counted.id < ?
                    """), arguments: [end])
        var deltas: [Int64: ReportCounts] = [:]
        while let row = try counted.next() {
            guard let outcome = DeliveryOutcome(encoded: row[1]), outcome.end == .pending else { continue }
            deltas[row[0], default: ReportCounts()].count(outcome, by: -1)
            deltas[row[0], default: ReportCounts()].count(outcome.closed(isAttempt: row[2]))
        }
        try ReportCounting.add(deltas, database)
    }

    private static let deletions = [
        "DELETE FROM pending WHERE (device, id) IN (SELECT device, id FROM message WHERE id < ? AND stored)",
        "DELETE FROM lingering WHERE id < ?",
        "DELETE FROM report_counted WHERE id < ?",
        "DELETE FROM sync_member WHERE id < ?",
        "DELETE FROM sync_clearing WHERE id < ?",
        "DELETE FROM recall WHERE message < ?",
        "DELETE FROM payload_use WHERE message < ?",
        "DELETE FROM timeline WHERE id < ?",
        "DELETE FROM message WHERE id < ?",
    ]

    /// Clears the payloads of the next messages that have reached the age. The position only moves forward: payloads
    /// that are still needed are added to the lingering ones.
    private func clearNew(before: Timestamp, now: Timestamp, limit: Int) throws -> Bool {
        let end = NotificationIDGenerator(node: 0, highWater: 0).floor(at: before)
        let position = try Int64.fetchOne(database, sql: "SELECT value FROM meta WHERE key = 'payloads_cleared'") ?? 0
        let ids = try Int64.fetchAll(
            database.cachedStatement(sql: "SELECT id FROM message WHERE id > ? AND id < ? ORDER BY id LIMIT ?"),
            arguments: [position, end, limit])
        guard let last = ids.last else { return false }
        for id in ids {
            if try isInUse(id, since: before) {
                try database.cachedStatement(sql: "INSERT OR REPLACE INTO lingering(id, checked_at) VALUES(?, ?)")
                    .execute(arguments: [id, now.rawValue])
            } else {
                try clearPayload(id)
            }
        }
        try database.execute(
            sql: """
                INSERT INTO meta(key, value) VALUES('payloads_cleared', ?)
                ON CONFLICT(key) DO UPDATE SET value = excluded.value
                """, arguments: [last])
        return ids.count == limit
    }

    private func clearLingering(before: Timestamp, now: Timestamp, limit: Int) throws -> Bool {
        let ids = try Int64.fetchAll(
            database.cachedStatement(
                sql: "SELECT id FROM lingering WHERE checked_at <= ? ORDER BY checked_at LIMIT ?"),
            arguments: [before.rawValue, limit])
        for id in ids {
            if try isInUse(id, since: before) {
                try database.cachedStatement(sql: "UPDATE lingering SET checked_at = ? WHERE id = ?")
                    .execute(arguments: [now.rawValue, id])
            } else {
                try clearPayload(id)
                try database.cachedStatement(sql: "DELETE FROM lingering WHERE id = ?").execute(arguments: [id])
            }
        }
        return ids.count == limit
    }

    private func isInUse(_ id: Int64, since: Timestamp) throws -> Bool {
        try Bool.fetchOne(
            database.cachedStatement(
                sql: """
                    SELECT EXISTS(
                            SELECT 1 FROM message JOIN pending
                                ON pending.device = message.device AND pending.id = message.id
                            WHERE message.id = ?)
                        OR EXISTS(SELECT 1 FROM timeline WHERE id = ? AND at > ?)
                    """), arguments: [id, id, since.rawValue]) ?? false
    }

    private func clearPayload(_ id: Int64) throws {
        try database.cachedStatement(sql: "UPDATE message SET payload = NULL WHERE id = ? AND payload IS NOT NULL")
            .execute(arguments: [id])
        guard database.changesCount == 0 else { return }
        // The copies of a broadcast are counted by these rows, which are deleted with them.
        try database.cachedStatement(
            sql: """
                DELETE FROM payload_use WHERE message = ? AND NOT EXISTS(
                    SELECT 1 FROM broadcast WHERE id = payload_use.payload)
                """
        ).execute(arguments: [id])
    }

    /// Deletes unreferenced shared payloads of a certain age; the others are checked again later.
    private func deleteShared(before: Timestamp, now: Timestamp, limit: Int) throws -> Bool {
        let ids = try Int64.fetchAll(
            database.cachedStatement(sql: "SELECT id FROM payload WHERE checked_at <= ? ORDER BY checked_at LIMIT ?"),
            arguments: [before.rawValue, limit])
        for id in ids {
            let isUsed = try Bool.fetchOne(
                database.cachedStatement(
                    sql: """
                        SELECT EXISTS(SELECT 1 FROM payload_use WHERE payload = ?)
                            OR EXISTS(SELECT 1 FROM broadcast WHERE id = ? AND ended_at IS NULL)
                        """), arguments: [id, id])
            if isUsed ?? false {
                try database.cachedStatement(sql: "UPDATE payload SET checked_at = ? WHERE id = ?")
                    .execute(arguments: [now.rawValue, id])
            } else {
                try database.cachedStatement(sql: "DELETE FROM payload WHERE id = ?").execute(arguments: [id])
            }
        }
        return ids.count == limit
    }
}
