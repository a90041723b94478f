import Foundation
import GRDB
import PushServer

/// The tables of a server's SQLite database, for a move to another database or from one.
package struct SQLiteTables: TableStore {
    private let database: Database

    /// The files of a server's databases.
    package struct Files: Sendable {
        private let queue: DatabaseQueue

        /// Opens the files, whose tables have to be there.
        ///
        /// - Parameters:
        ///   - server: The path of the server's database.
        ///   - hubs: The path of the hubs' database.
        ///   - relay: The path of the relay's database.
        package init(server: String, hubs: String, relay: String) throws {
            var configuration = Configuration()
            configuration.busyMode = .timeout(10)
            configuration.prepareDatabase { database in
                try database.execute(
                    sql: "ATTACH DATABASE ? AS hub; ATTACH DATABASE ? AS relay", arguments: [hubs, relay])
            }
            queue = try DatabaseQueue(path: server, configuration: configuration)
        }

        /// Runs a closure in one transaction of all files. A crash at its end may leave the changes of some of them.
        ///
        /// - Throws: The error of the closure, and nothing has changed.
        package func withTransaction<Value>(_ body: (SQLiteTables) throws -> Value) throws -> Value {
            try queue.inDatabase { database in
                var value: Value?
                try database.inTransaction(.immediate) {
                    value = try body(SQLiteTables(database: database))
                    return .commit
                }
                guard let value else { throw StoreError.isClosed }
                return value
            }
        }

        /// Runs a closure with the state of each file at one moment, while a server goes on.
        ///
        /// - Throws: The error of the closure, or of the database.
        package func withSnapshot<Value>(_ body: (SQLiteTables) throws -> Value) throws -> Value {
            try queue.read { try body(SQLiteTables(database: $0)) }
        }

        /// Closes the files.
        package func close() throws { try queue.close() }
    }

    /// Looks at five tables.
    package func isNew() throws -> Bool {
        try ["app", "device", "message", "hub.hub", "relay.relay_device"].allSatisfy { table in
            try Int.fetchOne(database, sql: "SELECT 1 FROM \(table) LIMIT 1") == nil
        }
    }

    /// Reads a table row by row, with one statement whatever is selected.
    package func forEachRow(
        of table: StoredTable, _ selection: RowSelection, _ body: ([ColumnValue]) throws -> Void
    ) throws {
        var sql = "SELECT \(table.columns.joined(separator: ", ")) FROM \(table.name)"
        var arguments = StatementArguments()
        if case .owners(let owners) = selection, let owner = table.owner {
            sql += " WHERE \(owner) IN (SELECT value FROM json_each(?))"
            arguments = ["[" + owners.map(String.init).joined(separator: ",") + "]"]
        }
        let rows = try Row.fetchCursor(database, sql: sql, arguments: arguments)
        while let row = try rows.next() {
            try body(
                row.databaseValues.map { value in
                    switch value.storage {
                    case .null: .null
                    case .int64(let number): .integer(number)
                    // No column has fractions.
                    case .double(let number): .integer(Int64(number))
                    case .string(let text): .text(text)
                    case .blob(let data): .bytes(Array(data))
                    }
                })
        }
    }

    /// Inserts the rows one by one.
    package func insert(_ rows: [[ColumnValue]], into table: StoredTable) throws {
        // A waiting row has the notification's id twice here.
        let copied = table.name == "pending" ? [("message", 1)] : []
        let names = table.columns + copied.map(\.0)
        let marks = repeatElement("?", count: names.count).joined(separator: ", ")
        let statement = try database.cachedStatement(
            sql: "INSERT INTO \(table.name)(\(names.joined(separator: ", "))) VALUES(\(marks))")
        for row in rows {
            let values = (row + copied.map { row[$0.1] }).map { value -> DatabaseValue in
                switch value {
                case .null: .null
                case .integer(let number): number.databaseValue
                case .text(let text): text.databaseValue
                case .bytes(let bytes): Data(bytes).databaseValue
                }
            }
            try statement.execute(arguments: StatementArguments(values))
        }
    }

    /// SQLite's table of numbers in a table's file, and the table's name there.
    private static func numbers(of table: StoredTable) -> (sequences: String, name: String) {
        let parts = table.name.split(separator: ".")
        return (parts.dropLast().map { "\($0)." }.joined() + "sqlite_sequence", String(parts.last ?? ""))
    }

    /// Reads SQLite's table of numbers, and the highest number, since not all tables are in it.
    package func lastNumber(in table: StoredTable) throws -> Int64 {
        let (sequences, name) = Self.numbers(of: table)
        let given = try Int64.fetchOne(
            database, sql: "SELECT seq FROM \(sequences) WHERE name = ?", arguments: [name])
        let highest = try Int64.fetchOne(database, sql: "SELECT MAX(\(table.columns[0])) FROM \(table.name)")
        return max(given ?? 0, highest ?? 0)
    }

    /// Changes SQLite's table of numbers.
    package func continueNumbers(in table: StoredTable, after number: Int64) throws {
        let (sequences, name) = Self.numbers(of: table)
        try database.execute(sql: "DELETE FROM \(sequences) WHERE name = ?", arguments: [name])
        try database.execute(sql: "INSERT INTO \(sequences)(name, seq) VALUES(?, ?)", arguments: [name, number])
    }

    /// Makes the names of notifications, and the counts of messages from apps.
    package func makeOtherTables() throws {
        try database.execute(
            sql: """
                INSERT INTO identity(apns_id, device, app, environment, id)
                    SELECT lower(apns_id), CASE WHEN expires_at IS NULL THEN \(RowWriter.nobody) ELSE device END, app,
                        environment, id
                    FROM message WHERE apns_id IS NOT NULL AND code IS NULL;
                DELETE FROM app_message_count;
                INSERT INTO app_message_count(app, device, waiting)
                    SELECT app, device, count(*) FROM app_message WHERE ended_at IS NULL GROUP BY app, device;
                INSERT INTO app_message_count(app, device, waiting)
                    SELECT app, 0, count(*) FROM app_message WHERE ended_at IS NULL GROUP BY app
                """)
    }
}
