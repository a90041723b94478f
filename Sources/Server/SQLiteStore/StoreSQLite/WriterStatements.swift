import GRDB

/// The writer's own statements, prepared when first needed.
///
/// `@unchecked Sendable`: only used inside the pool's `writeWithoutTransaction`, whose serial queue is the only one
/// that may use the writer's connection.
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
        let counting: CountingStatements
    }

    /// The statements that count a notification for reports.
    struct CountingStatements {
        /// Reads the time of acceptance and the counted outcome.
        let standing: HotStatement
        let lines: HotStatement
        /// Reads the report row's key and the payload.
        let place: HotStatement
        let counted: HotStatement

        init(on connection: OpaquePointer) throws {
            standing = try HotStatement(
                """
                SELECT message.accepted_at, report_counted.report, report_counted.outcome
                FROM message LEFT JOIN report_counted ON report_counted.id = message.id
                WHERE message.id = ? AND message.code IS NULL
                """, on: connection)
            lines = try HotStatement("SELECT at, state, source FROM timeline WHERE id = ? ORDER BY at", on: connection)
            place = try HotStatement(
                """
                SELECT app, device, lane, coalesce(payload, (SELECT payload.content FROM payload_use
                    JOIN payload ON payload.id = payload_use.payload WHERE payload_use.message = message.id))
                FROM message WHERE id = ?
                """, on: connection)
            counted = try HotStatement(
                """
                INSERT INTO report_counted(id, report, outcome) VALUES(?, ?, ?)
                ON CONFLICT(id) DO UPDATE SET outcome = excluded.outcome
                """, on: connection)
        }
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
            reportChange: try HotStatement("INSERT INTO report_change(ids) VALUES(?)", on: connection),
            counting: try CountingStatements(on: connection))
        statements = prepared
        return prepared
    }

    /// Finalizes the statements; they must not outlive their connection.
    func forget() { statements = nil }
}
