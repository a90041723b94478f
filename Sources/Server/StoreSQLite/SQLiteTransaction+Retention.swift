import GRDB
import PushModel
import ServerCore

/// What leaves the database with time, slice by slice.
extension SQLiteTransaction {
    func prune(timelinesBefore: Timestamp, payloadsBefore: Timestamp, now: Timestamp, limit: Int) throws -> Bool {
        let generator = NotificationIDGenerator(node: 0, highWater: 0)
        let oldest = generator.floor(at: timelinesBefore)
        try database.execute(
            sql: """
                DELETE FROM identity WHERE (apns_id, device, app, environment, id) IN (
                    SELECT lower(apns_id), coalesce(device, 0), coalesce(app, 0), coalesce(environment, 0), id
                    FROM message WHERE id < ? AND apns_id IS NOT NULL ORDER BY id LIMIT ?);
                DELETE FROM pending WHERE (device, id) IN (
                    SELECT device, id FROM message WHERE id < ? AND stored ORDER BY id LIMIT ?);
                DELETE FROM lingering WHERE id < ?;
                DELETE FROM message WHERE id IN (SELECT id FROM message WHERE id < ? ORDER BY id LIMIT ?)
                """, arguments: [oldest, limit, oldest, limit, oldest, oldest, limit])
        let deleted = database.changesCount
        try database.execute(
            sql: """
                DELETE FROM timeline WHERE (id, at, state) IN (
                    SELECT id, at, state FROM timeline WHERE id < ? ORDER BY id LIMIT ?)
                """, arguments: [oldest, limit * 4])
        let deletedLines = database.changesCount
        try database.execute(sql: "DELETE FROM unrecorded WHERE last < ?", arguments: [oldest])
        let hasNew = try clearNew(before: payloadsBefore, now: now, limit: limit)
        let hasLingering = try clearLingering(before: payloadsBefore, now: now, limit: limit)
        return deleted == limit || deletedLines == limit * 4 || hasNew || hasLingering
    }

    /// Clears the payloads of the next messages that have come of age. The position only moves on: what is still
    /// needed goes among the lingering ones.
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
    }
}
