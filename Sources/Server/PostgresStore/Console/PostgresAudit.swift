import PushCore
import PushServer

/// The audit log, in the database of a server's store.
package struct PostgresAudit: AuditStore {
    let pool: PostgresPool

    /// Inserts an entry in a transaction of its own.
    package func beginAudit(_ entry: AuditEntry) async throws -> Int64 {
        try await pool.write { connection in
            try connection.run(
                """
                INSERT INTO audit(at, origin, actor_kind, actor, actor_id, action, object, team, before)
                VALUES($1, $2, $3, $4, $5, $6, $7, $8, $9) RETURNING number
                """, entry.at, entry.origin.rawValue, entry.actor.kind, entry.actor.name, entry.actor.id, entry.action,
                entry.object, entry.team, entry.before)[0][0]
        }
    }

    /// Inserts the end of an entry in a transaction of its own.
    package func endAudit(_ number: Int64, _ end: AuditEnd) async throws {
        try await pool.write { connection in
            _ = try connection.run(
                "INSERT INTO audit_end(number, at, outcome, object, after) VALUES($1, $2, $3, $4, $5)", number, end.at,
                end.outcome.rawValue, end.object, end.after)
        }
    }

    /// Reads a slice of rows by their numbers.
    package func auditEntries(
        _ filter: AuditFilter, before: Int64?, limit: Int
    ) async throws -> InventoryPage<AuditEntry, Int64> {
        try await pool.read { connection in
            let slice = InventoryPage<AuditEntry, Int64>.slice
            let rows = try connection.run(
                """
                SELECT audit.*, audit_end.at AS ended_at, outcome, audit_end.object AS new_object, after
                FROM audit LEFT JOIN audit_end USING (number) WHERE number < $1 ORDER BY number DESC LIMIT $2
                """, before ?? .max, slice)
            var page = InventoryPage<AuditEntry, Int64>()
            for (passed, row) in rows.enumerated() {
                let entry = try Self.entry(row)
                if filter.wants(entry) { page.items.append(entry) }
                if page.items.count == limit || passed + 1 == slice {
                    page.next = entry.number
                    return page
                }
            }
            return page
        }
    }

    private static func entry(_ row: PostgresRow) throws -> AuditEntry {
        let newObject: String? = try row["new_object"]
        var entry = AuditEntry(
            at: try row["at"],
            actor: AuditActor(kind: try row["actor_kind"], name: try row["actor"], id: try row["actor_id"]),
            origin: AuditOrigin(rawValue: try row["origin"]) ?? .command, action: try row["action"],
            object: try newObject ?? row["object"], team: try row["team"], before: try row["before"])
        entry.number = try row["number"]
        if let at: Timestamp = try row["ended_at"] {
            entry.end = AuditEnd(
                at: at, outcome: AuditOutcome(rawValue: try row["outcome"]) ?? .failed, object: newObject,
                after: try row["after"])
        }
        return entry
    }
}
