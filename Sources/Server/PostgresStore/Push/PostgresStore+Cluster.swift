extension PostgresStore {
    /// A name that no other database has, of the nodes together.
    package func clusterName() throws -> String {
        guard let name = try sharedSecret("cluster", own: nil) else {
            throw PostgresError(code: nil, message: "the database has no name for its nodes")
        }
        return name
    }

    /// A secret that the nodes share.
    ///
    /// - Parameter own: The secret of this node, which becomes that of all where there is none; `nil` where it has none.
    /// - Returns: The secret of all; `nil` where nobody has one.
    package func sharedSecret(_ name: String, own: String?) throws -> String? {
        try writer.transaction { connection in
            if let own {
                try connection.run("INSERT INTO shared_secret VALUES($1, $2) ON CONFLICT DO NOTHING", name, own)
            }
            return try connection.run("SELECT content FROM shared_secret WHERE name = $1", name).first?[0]
        }
    }
}
