import PushServer

extension PostgresTables {
    private typealias Statement = PostgresConnection.Statement

    /// Copies again what has changed in another database since the first copy, and compares it with what was read.
    ///
    /// - Parameters:
    ///   - changes: What ``TableMove/findChanges(in:)`` has found, in its order.
    ///   - source: The other database, in which nothing changes any more.
    ///   - digests: The digests of its tables.
    /// - Throws: ``TableMove/Fault``, or the error of a database.
    package func apply(
        _ changes: [TableMove.Change], from source: some TableStore, _ digests: [String: RowDigest]
    ) throws {
        let constraints = try delayConstraints()
        // A row that refers to another is deleted before it, and inserted after it.
        for change in changes.reversed() where !change.table.hasDependents {
            try delete(change.selection, from: change.table)
        }
        for change in changes {
            let digest =
                try change.table.hasDependents
                ? replace(change.selection, in: change.table, from: source)
                : copy(change.selection, of: change.table, from: source)
            guard try self.digest(of: change.table, change.selection) == digest else {
                throw TableMove.Fault.different(change.table.name)
            }
        }
        try makeOtherTables(after: changes)
        for table in StoredTable.all where try count(of: table) != digests[table.name]?.count {
            throw TableMove.Fault.different(table.name)
        }
        try connection.execute("SET CONSTRAINTS ALL IMMEDIATE")
        for (table, name) in constraints {
            try connection.execute("ALTER TABLE \(table) ALTER CONSTRAINT \(name) NOT DEFERRABLE")
        }
    }

    /// Has references between rows checked at the end.
    ///
    /// - Returns: The tables and the names of the constraints.
    private func delayConstraints() throws -> [(table: String, name: String)] {
        let constraints: [(table: String, name: String)] = try connection.run(
            """
            SELECT conrelid::regclass::text, quote_ident(conname) FROM pg_constraint
            WHERE contype = 'f'
                AND connamespace IN (current_schema()::regnamespace, '\(PostgresSchema.hubSchema)'::regnamespace)
            """
        ).map { (try $0[0], try $0[1]) }
        for (table, name) in constraints {
            try connection.execute("ALTER TABLE \(table) ALTER CONSTRAINT \(name) DEFERRABLE INITIALLY DEFERRED")
        }
        return constraints
    }

    private func copy(
        _ selection: RowSelection, of table: StoredTable, from source: some TableStore
    ) throws -> RowDigest {
        var digest = RowDigest()
        try insertRows(of: table, selection, from: source) { digest.add($0) }
        return digest
    }

    /// Deletes the rows that are gone in another database, and writes the others over those that are there: what depends on
    /// them stays.
    private func replace(
        _ selection: RowSelection, in table: StoredTable, from source: some TableStore
    ) throws -> RowDigest {
        guard case .owners(let owners) = selection, let key = table.owner else {
            throw TableMove.Fault.different(table.name)
        }
        var digest = RowDigest()
        var rows: [[ColumnValue]] = []
        try source.forEachRow(of: table, selection) { row in
            digest.add(row)
            rows.append(row)
        }
        let there = Set(rows.map { $0[table.columns.firstIndex(of: key) ?? 0] })
        try delete(.owners(owners.filter { !there.contains(.integer($0)) }), from: table)
        let columns = table.columns.map { "\"\($0)\" = excluded.\"\($0)\"" }.joined(separator: ", ")
        try insert(rows, into: table, orElse: "ON CONFLICT (\(key)) DO UPDATE SET \(columns)")
        if StoredTable.numbered.contains(table.name) {
            try continueNumbers(in: table, after: try source.lastNumber(in: table))
        }
        return digest
    }

    private func delete(_ selection: RowSelection, from table: StoredTable) throws {
        guard case .owners(let owners) = selection, let owner = table.owner else {
            try connection.execute("DELETE FROM \(table.name)")
            return
        }
        for owners in Self.slices(owners) {
            if table.name == "message" { try deleteIdentities(of: owners) }
            try connection.run(
                Statement(
                    "DELETE FROM \(table.name) USING unnest($1::bigint[]) AS gone(owner) WHERE \(table.name).\(owner) = gone.owner",
                    [.int8s(owners)]))
        }
    }

    private func deleteIdentities(of messages: [Int64]) throws {
        try connection.run(
            Statement(
                """
                DELETE FROM identity USING unnest($1::bigint[]) AS gone(id) JOIN message ON message.id = gone.id
                WHERE identity.apns_id = lower(message.apns_id) AND identity.id = message.id
                """, [.int8s(messages)]))
    }

    private func makeOtherTables(after changes: [TableMove.Change]) throws {
        for case .owners(let messages) in changes.filter({ $0.table.name == "message" }).map(\.selection) {
            for messages in Self.slices(messages) {
                try connection.run(
                    Statement(
                        """
                        INSERT INTO identity(apns_id, device, app, environment, id, accepted_at)
                            SELECT \(Self.identity) FROM unnest($1::bigint[]) AS wanted(owner)
                            JOIN message ON message.id = wanted.owner WHERE apns_id IS NOT NULL AND code IS NULL
                        """, [.int8s(messages)]))
            }
        }
        try connection.execute(
            "INSERT INTO meta VALUES ('fanout', 0) ON CONFLICT DO NOTHING; \(Self.makeCounts); \(Self.countInstallations)"
        )
    }

    private func count(of table: StoredTable) throws -> Int {
        try connection.run("SELECT count(*) FROM \(table.name)\(Self.condition(table))").first?[0] ?? 0
    }
}
