import GRDB
import PushCore
import PushServer

extension SQLiteStore: FeedbackStore {
    /// Reads the ends that a trigger of the database has recorded.
    package func endedRegistrations(
        app: AppID, environment: PushEnvironment, limit: Int
    ) async throws -> [EndedRegistration] {
        try await pool.read { database in
            try Row.fetchAll(
                database.cachedStatement(
                    sql: """
                        SELECT number, device, generation, ended_at FROM ended_registration
                        WHERE app = ? AND environment = ? ORDER BY number LIMIT ?
                        """), arguments: [app.column, environment.column, limit]
            ).compactMap { row in
                DeviceID(column: row[1]).map {
                    EndedRegistration(
                        number: row[0], device: $0, generation: UInt16(truncatingIfNeeded: row[2] as Int64),
                        endedAt: Timestamp(rawValue: row[3]))
                }
            }
        }
    }

    /// Deletes the ends in one transaction of the writer's.
    package func forgetEnds(app: AppID, environment: PushEnvironment, through number: Int64) async throws {
        try await pool.write { database in
            try database.execute(
                sql: "DELETE FROM ended_registration WHERE app = ? AND environment = ? AND number <= ?",
                arguments: [app.column, environment.column, number])
        }
    }
}
