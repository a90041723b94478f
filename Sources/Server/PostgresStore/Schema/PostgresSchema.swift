import PushCore

/// The tables of PostgreSQL, with the version that a node expects.
package enum PostgresSchema {
    /// The version that ``statements`` make.
    package static let version: Int64 = 1

    /// A database of another version.
    package struct OtherVersion: Error, Hashable, CustomStringConvertible {
        /// The version of the database.
        package var found: Int64

        /// The versions, and what would be right.
        package var description: String {
            "the database has version \(found) of the tables, and this program \(PostgresSchema.version); run the program of that version"
        }
    }

    /// The statements that make the tables.
    private static var statements: [String] {
        ["CREATE TABLE schema_version(version bigint NOT NULL)"] + notifications + register + fcm + topics + reports
            + console + ["INSERT INTO schema_version VALUES (\(version))"]
    }

    /// Any number: the same for all nodes.
    private static let lockNumber = 41_441

    /// Makes the tables where there are none. One node at a time does it.
    ///
    /// - Throws: ``OtherVersion`` for a database that another version made.
    package static func migrate(_ connection: PostgresConnection) throws {
        try connection.transaction { connection in
            try connection.execute("SELECT pg_advisory_xact_lock(\(lockNumber))")
            if let found = try version(connection) {
                guard found == version else { throw OtherVersion(found: found) }
            } else {
                for statement in statements { try connection.execute(statement) }
            }
        }
    }

    /// The version of the tables; `nil` for a database without them.
    private static func version(_ connection: PostgresConnection) throws -> Int64? {
        let isThere: Bool? = try connection.run("SELECT to_regclass('schema_version') IS NOT NULL").first?[0]
        guard isThere == true else { return nil }
        return try connection.run("SELECT max(version) FROM schema_version").first?[0]
    }
}
