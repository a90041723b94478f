import Dispatch
import Foundation
import GRDB
import GRDBSQLite
import Mailbox
import PushModel
import ServerCore

/// The server's store on one SQLite file.
public final class SQLiteStore: Sendable {
    let pool: DatabasePool
    /// Raised by every process that changes the register.
    let registerChanges: SharedCounter
    private let hot: WriterStatements

    /// Opens (or makes) the database and brings its schema up to date.
    ///
    /// - Parameter path: Its folder must exist. The file is made readable by its owner alone.
    /// - Throws: ``StoreError`` when the file cannot be opened, is no database of ours, or does not sync.
    public init(path: String) throws {
        let isNew = !FileManager.default.fileExists(atPath: path)
        if isNew, !FileManager.default.createFile(atPath: path, contents: nil, attributes: [.posixPermissions: 0o600]) {
            throw StoreError.cannotOpen(path: path, reason: "the file cannot be made; is the folder writable?")
        }
        var configuration = Configuration()
        configuration.busyMode = .timeout(10)
        configuration.maximumReaderCount = 4
        configuration.persistentReadOnlyConnections = true
        configuration.prepareDatabase { database in
            try database.execute(sql: "PRAGMA cache_size = -32768")
        }
        do {
            pool = try DatabasePool(path: path, configuration: configuration)
            // GRDB sets NORMAL on the writer after the preparation above: FULL only holds when set from here.
            try pool.writeWithoutTransaction { database in
                try database.execute(sql: "PRAGMA synchronous = FULL; PRAGMA wal_autocheckpoint = 10000")
            }
            try Schema.migrator.migrate(pool)
            hot = WriterStatements()
            registerChanges = try SharedCounter(path: path + "-register")
        } catch {
            throw StoreError.cannotOpen(path: path, reason: "\(error)")
        }
        guard try synchronousMode() == 2 else { throw StoreError.doesNotSync(path: path) }
    }

    /// SQLite's number of the writer's synchronous mode; 2 is FULL.
    public func synchronousMode() throws -> Int {
        try pool.writeWithoutTransaction { try Int.fetchOne($0, sql: "PRAGMA synchronous") ?? -1 }
    }

    /// Copies what the log holds into the database file and closes everything.
    public func close() throws {
        try pool.writeWithoutTransaction { database in
            hot.forget()
            _ = try database.checkpoint(.truncate)
        }
        try pool.close()
    }

    public func write<Result>(_ body: (any NotificationTransaction) throws -> Result) throws -> Result {
        try pool.writeWithoutTransaction { database in
            var result: Result?
            try database.inTransaction(.immediate) {
                result = try body(SQLiteTransaction(database: database, hot: try hot.prepared(database)))
                return .commit
            }
            guard let result else { throw StoreError.noResult }
            return result
        }
    }
}

/// Why a store cannot be used.
public enum StoreError: Error, CustomStringConvertible {
    case cannotOpen(path: String, reason: String)
    case doesNotSync(path: String)
    case noResult

    public var description: String {
        switch self {
        case .cannotOpen(let path, let reason): "the database \(path) cannot be opened: \(reason)"
        case .doesNotSync(let path): "the database \(path) does not take synchronous=FULL, so nothing would be durable"
        case .noResult: "the transaction ended without a result"
        }
    }
}

extension DatabaseError: StoreFailure {
    /// SQLite's own words, such as "database or disk is full", without the statement.
    public var reason: String { message ?? "SQLite error \(resultCode.rawValue)" }
}

/// The writer's own statements, prepared when first needed.
///
/// `@unchecked Sendable`: only touched inside the pool's `writeWithoutTransaction`, whose serial queue is the one
/// place where the writer's connection may be used.
final class WriterStatements: @unchecked Sendable {
    struct Prepared {
        let message: HotStatement
        let pending: HotStatement
        let identity: HotStatement
        let timeline: HotStatement
        let removePending: HotStatement
    }

    private var statements: Prepared?

    func prepared(_ database: Database) throws -> Prepared {
        if let statements { return statements }
        guard let connection = database.sqliteConnection else { throw StoreError.noResult }
        let prepared = Prepared(
            message: try HotStatement(
                """
                INSERT INTO message(id, app, device, environment, generation, lane, apns_id, push_type, priority,
                    collapse_id, accepted_at, expires_at, stored, payload)
                VALUES(?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
                """, on: connection),
            pending: try HotStatement(
                """
                INSERT INTO pending(device, id, message, app, environment, lane, expires_at, collapse_id)
                VALUES(?, ?, ?, ?, ?, ?, ?, ?)
                """, on: connection),
            identity: try HotStatement(
                "INSERT INTO identity(apns_id, device, app, environment, id) VALUES(?, ?, ?, ?, ?)", on: connection),
            timeline: try HotStatement(
                "INSERT OR IGNORE INTO timeline(id, at, state, source, note) VALUES(?, ?, ?, ?, ?)", on: connection),
            removePending: try HotStatement("DELETE FROM pending WHERE device = ? AND id = ?", on: connection))
        statements = prepared
        return prepared
    }

    /// Finalizes the statements; they must not outlive their connection.
    func forget() { statements = nil }
}
