import Foundation
import GRDB
import PushServer

/// A database of a server in a SQLite file, which only this process and commands beside it change.
package struct SQLiteDatabase: SQLDatabase {
    /// The connections of its readers and of its writer.
    package let pool: WatchedDatabase<DatabasePool>
    /// Reads for callers that block: it waits for no long reading.
    private let blockingReader: WatchedDatabase<DatabaseQueue>

    /// Opens (or makes) the database and brings its schema up to date.
    ///
    /// - Parameters:
    ///   - path: Its folder must exist. The file is made readable by its owner alone.
    ///   - health: Notes damage that is met later.
    /// - Throws: ``DatabaseFault``.
    package init(_ database: ServerDatabase, path: String, migrator: DatabaseMigrator, health: DatabaseHealth) throws {
        try database.makeFile(at: path)
        var configuration = Configuration()
        configuration.busyMode = .timeout(10)
        configuration.maximumReaderCount = 4
        configuration.foreignKeysEnabled = true
        configuration.prepareDatabase { try $0.execute(sql: "PRAGMA cache_size = -32768") }
        do {
            let pool = try DatabasePool(path: path, configuration: configuration)
            // GRDB sets NORMAL on the writer after the preparation above: FULL only holds when set from here.
            try pool.writeWithoutTransaction { database in
                try database.execute(sql: "PRAGMA synchronous = FULL; PRAGMA wal_autocheckpoint = 10000")
            }
            guard try !pool.read(migrator.hasBeenSuperseded) else { throw DatabaseFault(database, path: path, .newer) }
            try migrator.migrate(pool)
            var reading = Configuration()
            reading.readonly = true
            reading.busyMode = .timeout(10)
            reading.prepareDatabase { try $0.execute(sql: "PRAGMA cache_size = -32768") }
            self.pool = WatchedDatabase(pool, health)
            blockingReader = WatchedDatabase(try DatabaseQueue(path: path, configuration: reading), health)
        } catch { throw DatabaseFault(database, opening: path, error) }
    }

    /// Stands in the place of a database that cannot be opened: every call throws the fault that its health has.
    package init(unopened health: DatabaseHealth) {
        pool = WatchedDatabase(unopened: health)
        blockingReader = WatchedDatabase(unopened: health)
    }

    /// Reads with one of the pool's readers.
    package func read<Value: Sendable>(
        _ body: @escaping @Sendable (any SQLConnection) throws -> Value
    ) async throws -> Value {
        try await pool.read { try body(SQLiteConnection(database: $0)) }
    }

    /// Reads with a connection of its own.
    package func readBlocking<Value: Sendable>(
        _ body: @Sendable (any SQLConnection) throws -> Value
    ) throws -> Value {
        try blockingReader.read { try body(SQLiteConnection(database: $0)) }
    }

    /// Writes with the pool's writer, on whose queue `committed` is called too.
    package func write<Value: Sendable>(
        _ body: @escaping @Sendable (any SQLConnection) throws -> Value,
        committed: @escaping @Sendable (Value) -> Void
    ) async throws -> Value {
        try await pool.writeWithoutTransaction { database in
            var result: Value?
            try database.inTransaction(.immediate) {
                result = try body(SQLiteConnection(database: database))
                return .commit
            }
            guard let result else { throw DatabaseError(resultCode: .SQLITE_INTERNAL) }
            committed(result)
            return result
        }
    }

    /// Writes with the pool's writer.
    package func writeBlocking<Value: Sendable>(
        _ body: @Sendable (any SQLConnection) throws -> Value
    ) throws -> Value {
        try pool.writeWithoutTransaction { database in
            var result: Value?
            try database.inTransaction(.immediate) {
                result = try body(SQLiteConnection(database: database))
                return .commit
            }
            guard let result else { throw DatabaseError(resultCode: .SQLITE_INTERNAL) }
            return result
        }
    }

    /// The only server does all work.
    package func claim(_ claim: SQLClaim) async -> Bool { true }
    /// Does nothing.
    package func release(_ claim: SQLClaim) async {}
    /// There are no other servers.
    package func claims(_ kind: SQLClaim.Kind) async -> [SQLClaim] { [] }

    /// Copies what the log holds into the database file and closes everything. A file that was found damaged stays as it is.
    package func close() throws {
        guard pool.health.fault == nil else { return }
        try blockingReader.sound().close()
        try pool.close()
    }
}

/// A connection to a SQLite file.
package struct SQLiteConnection: SQLConnection {
    /// The connection as GRDB has it.
    package let database: Database

    /// Wraps a connection that is in a transaction.
    package init(database: Database) { self.database = database }

    /// A SQLite file has one writer at a time.
    package var isShared: Bool { false }

    /// Executes the statement, which is prepared once.
    package func execute(_ sql: String, each parameters: [[SQLParameter]]) throws -> [SQLResult] {
        let statement = try database.cachedStatement(sql: sql)
        return try parameters.map { list in
            let arguments = StatementArguments(list.map(Self.value))
            guard statement.columnCount > 0 else {
                try statement.execute(arguments: arguments)
                return SQLResult(rows: [], changed: database.changesCount)
            }
            let rows = try Row.fetchAll(statement, arguments: arguments).map(SQLiteRow.init)
            return SQLResult(rows: rows, changed: rows.count)
        }
    }

    private static func value(_ parameter: SQLParameter) -> (any DatabaseValueConvertible)? {
        switch parameter {
        case .integer(let number): number
        case .text(let text): text
        case .bytes(let bytes): bytes.map { Data($0) }
        case .truth(let truth): truth
        }
    }
}

/// A row of a SQLite file.
package struct SQLiteRow: SQLRow {
    private let row: Row

    /// Wraps a row.
    package init(_ row: Row) { self.row = row }

    /// The number in a column.
    package func integer(in column: String) throws -> Int64? { try value(column) }
    /// The text in a column.
    package func text(in column: String) throws -> String? { try value(column) }
    /// The bytes in a column.
    package func bytes(in column: String) throws -> [UInt8]? { try (value(column) as Data?).map(Array.init) }
    /// The truth value in a column, which SQLite has as a number.
    package func truth(in column: String) throws -> Bool? { try value(column) }

    private func value<Value: DatabaseValueConvertible>(_ column: String) throws -> Value? {
        guard row.hasColumn(column) else { throw SQLColumnError(column: column) }
        let stored: DatabaseValue = row[column]
        if stored.isNull { return nil }
        guard let value = Value.fromDatabaseValue(stored) else { throw SQLColumnError(column: column) }
        return value
    }
}
