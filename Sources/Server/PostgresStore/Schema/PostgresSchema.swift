import PushCore

/// The tables of PostgreSQL, with the version that a node expects.
package enum PostgresSchema {
    /// The version that all ``steps`` make.
    package static var version: Int64 { Int64(steps.count) }

    /// A database of a later version.
    package struct OtherVersion: Error, Hashable, CustomStringConvertible {
        /// The version of the database.
        package var found: Int64

        /// The versions, and what would be right.
        package var description: String {
            "the database has version \(found) of the tables, and this program \(PostgresSchema.version); run the program of that version"
        }
    }

    /// The statements that make each version from the one before. A step that a release has is not changed any more.
    static let steps: [[String]] = [
        ["CREATE TABLE schema_version(version bigint NOT NULL)"] + notifications + register + fcm + topics + reports
            + console + ["INSERT INTO schema_version VALUES (1)"],
        nodes, ["ALTER TABLE node ADD COLUMN run bigint NOT NULL DEFAULT 0"], hubs,
        relay, media, webChannels, broadcastChannels,
    ]

    /// Any number: the same for all nodes.
    private static let lockNumber = 41_441

    /// Makes the tables, or what the program's version has more of them. One node at a time does it.
    ///
    /// - Throws: ``OtherVersion`` for a database that a later version has changed.
    package static func migrate(_ connection: PostgresConnection) throws {
        try connection.transaction { connection in
            try connection.execute("SELECT pg_advisory_xact_lock(\(lockNumber))")
            let found = try version(connection) ?? 0
            guard found <= version else { throw OtherVersion(found: found) }
            for (number, step) in steps.enumerated().dropFirst(Int(found)) {
                for statement in step { try connection.execute(statement) }
                try connection.run("UPDATE schema_version SET version = $1", number + 1)
            }
        }
    }

    /// The version of the tables; `nil` for a database without them.
    static func version(_ connection: PostgresConnection) throws -> Int64? {
        let isThere: Bool? = try connection.run("SELECT to_regclass('schema_version') IS NOT NULL").first?[0]
        guard isThere == true else { return nil }
        return try connection.run("SELECT max(version) FROM schema_version").first?[0]
    }
}
