import GRDB

/// The writer's own statements, prepared when first needed.
///
/// `@unchecked Sendable`: only touched inside the pool's `writeWithoutTransaction`, whose serial queue is the one
/// place where the writer's connection may be used.
final class WriterStatements: @unchecked Sendable {
    struct Prepared {
        let message: HotStatement
        let payloadUse: HotStatement
        let pending: HotStatement
        let identity: HotStatement
        let timeline: HotStatement
        let removePending: HotStatement
        let cursor: HotStatement
        let reportChange: HotStatement
    }

    private var statements: Prepared?

    func prepared(_ database: Database) throws -> Prepared {
        if let statements { return statements }
        guard let connection = database.sqliteConnection else { throw StoreError.isClosed }
        let prepared = Prepared(
            message: try HotStatement(
                """
                INSERT INTO message(id, app, device, environment, generation, lane, apns_id, push_type, priority,
                    collapse_id, accepted_at, expires_at, stored, note, payload)
                VALUES(?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
                """, on: connection),
            payloadUse: try HotStatement("INSERT INTO payload_use(message, payload) VALUES(?, ?)", on: connection),
            pending: try HotStatement(
                """
                INSERT INTO pending(device, id, message, app, environment, lane, expires_at, collapse_id)
                VALUES(?, ?, ?, ?, ?, ?, ?, ?)
                """, on: connection),
            identity: try HotStatement(
                "INSERT INTO identity(apns_id, device, app, environment, id) VALUES(?, ?, ?, ?, ?)", on: connection),
            timeline: try HotStatement(
                "INSERT OR IGNORE INTO timeline(id, at, state, source, note) VALUES(?, ?, ?, ?, ?)", on: connection),
            removePending: try HotStatement("DELETE FROM pending WHERE device = ? AND id = ?", on: connection),
            cursor: try HotStatement(
                """
                INSERT INTO fanout_cursor(device, sequence) VALUES(?, ?)
                ON CONFLICT(device) DO UPDATE SET sequence = max(sequence, excluded.sequence)
                """, on: connection),
            reportChange: try HotStatement("INSERT INTO report_change(ids) VALUES(?)", on: connection))
        statements = prepared
        return prepared
    }

    /// Finalizes the statements; they must not outlive their connection.
    func forget() { statements = nil }
}
