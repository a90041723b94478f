import PushCore
import PushServer

/// The tables of a PostgreSQL database, for a move from another database or to one.
package struct PostgresTables: TableStore {
    private typealias Statement = PostgresConnection.Statement

    /// The types of columns, as far as they differ when they are moved.
    private enum Column {
        case number
        case truth
        case text
        case bytes
    }

    let connection: PostgresConnection
    private let parameters: [String: String]
    private let types: [String: [String: Column]]

    /// Runs a closure in one transaction of a new database's, or of one that a server has left.
    ///
    /// - Throws: The error of the closure, and nothing has changed.
    package static func withTransaction<Value>(
        _ parameters: [String: String], _ body: (PostgresTables) throws -> Value
    ) throws -> Value {
        let tables = try begin(parameters)
        let value: Value
        do { value = try body(tables) } catch {
            try tables.connection.rollBack()
            throw error
        }
        try tables.commit()
        return value
    }

    /// Begins a transaction; it ends without changes where ``commit()`` does not end it.
    package static func begin(_ parameters: [String: String]) throws -> PostgresTables {
        let connection = try connection(parameters)
        try connection.execute("SET statement_timeout = 0; SET idle_in_transaction_session_timeout = 0")
        try PostgresSchema.migrate(connection)
        // All tables as of one moment, also where a command changes something meanwhile.
        try connection.execute("BEGIN ISOLATION LEVEL REPEATABLE READ; SET LOCAL aldaba.imports = 'on'")
        return try PostgresTables(connection: connection, parameters: parameters)
    }

    /// Commits. Where the connection is lost meanwhile, another one looks whether the tables have rows.
    ///
    /// - Throws: ``PostgresError``; then nothing has changed, unless the outcome could not be looked up.
    package func commit() throws {
        do { try connection.commit() } catch let error as PostgresError where error.isCommitUnknown {
            let next = try Self.connection(parameters)
            // The table is free when the transaction has ended.
            try next.execute("BEGIN; LOCK TABLE app IN SHARE MODE")
            guard try !PostgresTables(connection: next, parameters: parameters).isNew() else {
                throw PostgresError.undone
            }
        }
    }

    private static func connection(_ parameters: [String: String]) throws -> PostgresConnection {
        // A statement that makes one table from another takes as long as the table is large.
        try PostgresConnection(parameters, timeout: .seconds(3600))
    }

    private init(connection: PostgresConnection, parameters: [String: String]) throws {
        self.parameters = parameters
        self.connection = connection
        var types: [String: [String: Column]] = [:]
        let rows = try connection.run(
            """
            SELECT CASE table_schema WHEN current_schema() THEN table_name ELSE table_schema || '.' || table_name END,
                column_name, data_type
            FROM information_schema.columns
            WHERE table_schema IN (current_schema(), '\(PostgresSchema.hubSchema)', '\(PostgresSchema.relaySchema)')
            """)
        for row in rows {
            let type: String = try row[2]
            types[try row[0], default: [:]][try row[1] as String] =
                switch type {
                case "boolean": .truth
                case "text": .text
                case "bytea": .bytes
                default: .number
                }
        }
        self.types = types
    }

    /// Looks at five tables.
    package func isNew() throws -> Bool {
        try connection.run(
            """
            SELECT 1 FROM app UNION ALL SELECT 1 FROM device UNION ALL SELECT 1 FROM message UNION ALL
            SELECT 1 FROM hub.hub UNION ALL SELECT 1 FROM relay.relay_device LIMIT 1
            """
        ).isEmpty
    }

    private static func quoted(_ columns: [String]) -> String { columns.map { "\"\($0)\"" }.joined(separator: ", ") }

    private func kinds(of table: StoredTable) -> [Column] {
        table.columns.map { types[table.name]?[$0] ?? .number }
    }

    /// Reads a table with a cursor, or the rows of some thousand owners with one statement.
    package func forEachRow(
        of table: StoredTable, _ selection: RowSelection, _ body: ([ColumnValue]) throws -> Void
    ) throws {
        let kinds = kinds(of: table)
        if case .owners(let owners) = selection, let owner = table.owner {
            let columns = table.columns.map { "\(table.name).\"\($0)\"" }.joined(separator: ", ")
            for owners in Self.slices(owners) {
                let rows = try connection.run(
                    Statement(
                        """
                        SELECT \(columns) FROM unnest($1::bigint[]) AS wanted(owner)
                        JOIN \(table.name) ON \(table.name).\(owner) = wanted.owner
                        """, [.int8s(owners)]))
                for row in rows { try body(try Self.values(of: row, kinds)) }
            }
            return
        }
        // Each table has a cursor of its own name: a prepared statement keeps the columns of its rows.
        let cursor = "moved_\(table.name.replacing(".", with: "_"))"
        try connection.execute(
            """
            DECLARE \(cursor) NO SCROLL CURSOR FOR
            SELECT \(Self.quoted(table.columns)) FROM \(table.name)\(Self.condition(table))
            """)
        while true {
            let rows = try connection.run("FETCH 4000 FROM \(cursor)")
            for row in rows { try body(try Self.values(of: row, kinds)) }
            if rows.isEmpty { break }
        }
        try connection.execute("CLOSE \(cursor)")
    }

    /// PostgreSQL always has the counter of broadcasts; other databases have it when it was used.
    static func condition(_ table: StoredTable) -> String {
        table.name == "meta" ? " WHERE NOT (key = 'fanout' AND value = 0)" : ""
    }

    /// Owners for one statement each.
    static func slices(_ owners: [Int64]) -> [[Int64]] {
        stride(from: 0, to: owners.count, by: 4000).map { Array(owners[$0..<min($0 + 4000, owners.count)]) }
    }

    private static func values(of row: PostgresRow, _ kinds: [Column]) throws -> [ColumnValue] {
        try kinds.enumerated().map { column, kind in
            switch kind {
            case .number: try (row[column] as Int64?).map(ColumnValue.integer) ?? .null
            case .truth: try (row[column] as Bool?).map { .integer($0 ? 1 : 0) } ?? .null
            case .text: try (row[column] as String?).map(ColumnValue.text) ?? .null
            case .bytes: try (row[column] as [UInt8]?).map(ColumnValue.bytes) ?? .null
            }
        }
    }

    /// Inserts the rows with one statement.
    package func insert(_ rows: [[ColumnValue]], into table: StoredTable) throws {
        try insert(rows, into: table, orElse: "")
    }

    /// Inserts the rows, or what a clause says where there is such a row.
    func insert(_ rows: [[ColumnValue]], into table: StoredTable, orElse clause: String) throws {
        if table.name == "meta" { try connection.execute("DELETE FROM meta") }
        let kinds = kinds(of: table)
        let arrays = kinds.enumerated().map { column, kind in
            "$\(column + 1)::\(kind == .truth ? "boolean" : kind == .text ? "text" : kind == .bytes ? "bytea" : "bigint")[]"
        }
        try connection.run(
            Statement(
                """
                INSERT INTO \(table.name)(\(Self.quoted(table.columns))) OVERRIDING SYSTEM VALUE
                SELECT * FROM unnest(\(arrays.joined(separator: ", "))) \(clause)
                """, kinds.enumerated().map { column, kind in Self.parameter(kind, rows.lazy.map { $0[column] }) }))
    }

    private static func parameter(_ kind: Column, _ values: some Collection<ColumnValue>) -> PostgresParameter {
        switch kind {
        case .number: .int8s(values.map { if case .integer(let number) = $0 { number } else { nil } })
        case .truth: .bools(values.map { if case .integer(let number) = $0 { number != 0 } else { nil } })
        case .text: .texts(values.map { if case .text(let text) = $0 { text } else { nil } })
        case .bytes: .byteas(values.map { if case .bytes(let bytes) = $0 { bytes } else { nil } })
        }
    }

    /// Reads the sequence of the table's numbers.
    package func lastNumber(in table: StoredTable) throws -> Int64 {
        let sequence: String = try connection.run(
            "SELECT pg_get_serial_sequence($1, $2)", table.name, table.columns[0])[0][0]
        return try connection.run("SELECT CASE WHEN is_called THEN last_value ELSE 0 END FROM \(sequence)")[0][0]
    }

    /// Sets the sequence of the table's numbers.
    package func continueNumbers(in table: StoredTable, after number: Int64) throws {
        guard number > 0 else { return }
        try connection.run("SELECT setval(pg_get_serial_sequence($1, $2), $3)", table.name, table.columns[0], number)
    }

    /// Makes the names of notifications, and the counts of messages from apps.
    package func makeOtherTables() throws {
        try connection.execute(
            """
            INSERT INTO identity(apns_id, device, app, environment, id, accepted_at)
                SELECT \(Self.identity) FROM message WHERE apns_id IS NOT NULL AND code IS NULL;
            INSERT INTO meta VALUES ('fanout', 0) ON CONFLICT DO NOTHING;
            \(Self.makeCounts);
            \(Self.countInstallations)
            """)
    }

    static let identity = """
        lower(apns_id), CASE WHEN expires_at IS NULL THEN \(BatchStatements.nobody) ELSE device END, app, environment, id,
        accepted_at
        """

    static let countInstallations = """
        UPDATE hub.hub SET (installations, document_bytes) = (
            SELECT count(*), coalesce(sum(octet_length(document)), 0)::bigint FROM hub.installation
            WHERE installation.hub = hub.number)
        """

    static let makeCounts = """
        DELETE FROM app_message_count;
        INSERT INTO app_message_count(app, device, waiting)
            SELECT app, device, count(*) FROM app_message WHERE ended_at IS NULL GROUP BY app, device;
        INSERT INTO app_message_count(app, device, waiting)
            SELECT app, 0, count(*) FROM app_message WHERE ended_at IS NULL GROUP BY app
        """
}
