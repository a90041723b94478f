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

    private static let pendingParts = 16

    /// The statements that make the tables. `message` and `timeline` are partitioned by id, which rises with time; `pending`, the
    /// only table that churns, by a hash of the device.
    private static var statements: [String] {
        [
            "CREATE TABLE schema_version(version bigint NOT NULL)",
            """
            CREATE TABLE mailbox(device bigint PRIMARY KEY, last_id bigint NOT NULL DEFAULT 0,
                revision bigint NOT NULL DEFAULT 0, node smallint, epoch bigint NOT NULL DEFAULT 0) WITH (fillfactor = 50)
            """,
            """
            CREATE TABLE message(id bigint PRIMARY KEY, device bigint NOT NULL, app bigint NOT NULL,
                environment smallint NOT NULL, generation integer NOT NULL, apns_id text, push_type text,
                priority smallint NOT NULL, collapse_id text, accepted_at bigint NOT NULL, expires_at bigint,
                stored boolean NOT NULL, lane smallint NOT NULL, payload bytea, note text) PARTITION BY RANGE (id)
            """,
            "CREATE TABLE message_rest PARTITION OF message DEFAULT",
            """
            CREATE TABLE pending(device bigint, id bigint, app bigint NOT NULL, environment smallint NOT NULL,
                lane smallint NOT NULL, expires_at bigint, PRIMARY KEY (device, id)) PARTITION BY HASH (device)
            """,
            """
            CREATE TABLE timeline(id bigint, at bigint, state text, source text NOT NULL, note text,
                PRIMARY KEY (id, at, state)) PARTITION BY RANGE (id)
            """,
            "CREATE TABLE timeline_rest PARTITION OF timeline DEFAULT",
        ]
            + (0..<pendingParts).map { part in
                """
                CREATE TABLE pending_\(part) PARTITION OF pending
                    FOR VALUES WITH (MODULUS \(pendingParts), REMAINDER \(part)) WITH (fillfactor = 80)
                """
            } + ["INSERT INTO schema_version VALUES (\(version))"]
    }

    /// Makes the tables where there are none. One node at a time does it.
    ///
    /// - Throws: ``OtherVersion`` for a database that another version made.
    package static func migrate(_ connection: PostgresConnection) throws {
        // Any number: the same for every node.
        try connection.execute("BEGIN; SELECT pg_advisory_xact_lock(41441)")
        do {
            if let found = try version(connection) {
                guard found == version else { throw OtherVersion(found: found) }
            } else {
                for statement in statements { try connection.execute(statement) }
            }
            try connection.execute("COMMIT")
        } catch {
            try connection.execute("ROLLBACK")
            throw error
        }
    }

    /// The version of the tables; `nil` for a database without them.
    private static func version(_ connection: PostgresConnection) throws -> Int64? {
        try connection.prepare("", "SELECT to_regclass('schema_version') IS NOT NULL", [])
        guard try connection.pipeline([.init("")]).first?.integer(0, 0) == 1 else { return nil }
        try connection.prepare("", "SELECT max(version) FROM schema_version", [])
        return try connection.pipeline([.init("")]).first?.integer(0, 0)
    }
}
