import PushCore

/// The servers of a database, and the secrets that they share.
package struct PostgresCluster {
    let store: PostgresStore

    /// A node, as the database knows it.
    package struct Node: Hashable, Sendable {
        /// The number of the node.
        package var number: Int
        /// The version of its program.
        package var program: String
        /// Whether it has recorded within five seconds that it runs.
        package var isAlive: Bool
        /// The milliseconds since then; `nil` for a node that has ended.
        package var age: Int?
        /// The number of its connected devices.
        package var sessions: Int
        /// Whether it can send messages to other nodes.
        package var isCarrierConnected: Bool
        /// Whether it has read every change of the register.
        package var isCurrent: Bool
    }

    /// All nodes that have run, in the order of their numbers.
    package func nodeStates() async throws -> [Node] {
        try await store.pool.read { connection in
            try connection.run(
                """
                SELECT id, program, beat_at > clock_timestamp() - interval '5 seconds', CASE WHEN isfinite(beat_at)
                    THEN (extract(epoch FROM clock_timestamp() - beat_at) * 1000)::bigint END, sessions, carrier,
                    register_version >= (SELECT version FROM register_version)
                FROM node_state ORDER BY id
                """
            ).map { row in
                let isAlive: Bool = try row[2]
                return Node(
                    number: try row[0], program: try row[1], isAlive: isAlive, age: try row[3],
                    sessions: isAlive ? try row[4] : 0, isCarrierConnected: try row[5], isCurrent: try row[6])
            }
        }
    }

    /// A name that no other database has, of the nodes together.
    package func clusterName() throws -> String {
        guard let name = try sharedSecret("cluster", own: nil) else {
            throw PostgresError(code: nil, message: "the database has no name for its nodes")
        }
        return name
    }

    /// Whether there are device tokens, which need the keys that made them.
    package func hasRegistrations() throws -> Bool {
        try store.writer.transaction { try !$0.run("SELECT 1 FROM registration LIMIT 1").isEmpty }
    }

    /// A secret that the nodes share.
    ///
    /// - Parameter own: The secret of this node, which becomes that of all where there is none; `nil` where it has none.
    /// - Returns: The secret of all; `nil` where nobody has one.
    package func sharedSecret(_ name: String, own: String?) throws -> String? {
        try store.writer.transaction { connection in
            if let own {
                try connection.run("INSERT INTO shared_secret VALUES($1, $2) ON CONFLICT DO NOTHING", name, own)
            }
            return try connection.run("SELECT content FROM shared_secret WHERE name = $1", name).first?[0]
        }
    }
}
