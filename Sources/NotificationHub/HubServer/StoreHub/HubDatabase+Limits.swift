import GRDB

extension HubDatabase {
    /// Gives a hub other quotas; the server judges the next request by them.
    package func setLimits(_ limits: HubLimits, of hub: Int64) async throws {
        try await pool.write { database in
            try database.execute(
                sql: "UPDATE hub SET most_installations = ?, most_tags = ?, writes_per_second = ? WHERE number = ?",
                arguments: [limits.installations, limits.tags, limits.writesPerSecond, hub])
        }
    }

    /// The number of a hub's installations, and the bytes that their documents take.
    package func size(of hub: Int64) async throws -> (installations: Int, documentBytes: Int) {
        try await pool.read { database in
            let row = try Row.fetchOne(
                database, sql: "SELECT installations, document_bytes FROM hub WHERE number = ?", arguments: [hub])
            return (row?["installations"] ?? 0, row?["document_bytes"] ?? 0)
        }
    }
}
