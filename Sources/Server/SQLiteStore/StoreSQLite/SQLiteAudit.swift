import GRDB
import PushCore
import PushServer

/// The audit log, in the database of a server's store.
package struct SQLiteAudit: AuditStore {
    let pool: WatchedDatabase<DatabasePool>

    /// Inserts an entry in a transaction of its own.
    package func beginAudit(_ entry: AuditEntry) async throws -> Int64 {
        try await pool.write { database in
            try database.execute(
                sql: """
                    INSERT INTO audit(at, origin, actor_kind, actor, actor_id, action, object, team, before)
                    VALUES(?, ?, ?, ?, ?, ?, ?, ?, ?)
                    """,
                arguments: [
                    entry.at.rawValue, entry.origin.rawValue, entry.actor.kind, entry.actor.name, entry.actor.id,
                    entry.action, entry.object, entry.team, entry.before,
                ])
            return database.lastInsertedRowID
        }
    }

    /// Inserts the end of an entry in a transaction of its own.
    package func endAudit(_ number: Int64, _ end: AuditEnd) async throws {
        try await pool.write { database in
            try database.execute(
                sql: "INSERT INTO audit_end(number, at, outcome, object, after) VALUES(?, ?, ?, ?, ?)",
                arguments: [number, end.at.rawValue, end.outcome.rawValue, end.object, end.after])
        }
    }

    /// Reads a slice of rows by their numbers.
    package func auditEntries(
        _ filter: AuditFilter, before: Int64?, limit: Int
    ) async throws -> InventoryPage<AuditEntry, Int64> {
        try await pool.read { database in
            let slice = InventoryPage<AuditEntry, Int64>.slice
            let rows = try Row.fetchCursor(
                database,
                sql: """
                    SELECT audit.*, audit_end.at AS ended_at, outcome, audit_end.object AS new_object, after
                    FROM audit LEFT JOIN audit_end USING (number) WHERE number < ? ORDER BY number DESC LIMIT ?
                    """, arguments: [before ?? .max, slice])
            var page = InventoryPage<AuditEntry, Int64>()
            var passed = 0
            while let row = try rows.next() {
                passed += 1
                let entry = Self.entry(row)
                if filter.wants(entry) { page.items.append(entry) }
                if page.items.count == limit || passed == slice {
                    page.next = entry.number
                    return page
                }
            }
            return page
        }
    }

    private static func entry(_ row: Row) -> AuditEntry {
        var entry = AuditEntry(
            at: Timestamp(rawValue: row["at"]),
            actor: AuditActor(kind: row["actor_kind"], name: row["actor"], id: row["actor_id"]),
            origin: AuditOrigin(rawValue: row["origin"]) ?? .command, action: row["action"],
            object: row["new_object"] ?? row["object"], team: row["team"], before: row["before"])
        entry.number = row["number"]
        if let at = row["ended_at"] as Int64? {
            entry.end = AuditEnd(
                at: Timestamp(rawValue: at), outcome: AuditOutcome(rawValue: row["outcome"]) ?? .failed,
                object: row["new_object"], after: row["after"])
        }
        return entry
    }
}
