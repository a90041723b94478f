import Foundation
import GRDB
import PushCore
import PushServer

/// The server's store in one SQLite file.
package final class SQLiteStore: Sendable {
    let pool: WatchedDatabase<DatabasePool>
    /// The register, in the same database.
    package let register: SQLiteRegister
    /// The people of the console, in the same database.
    package var people: SQLitePeople { SQLitePeople(pool: pool) }
    /// The audit log, in the same database.
    package var audit: SQLiteAudit { SQLiteAudit(pool: pool) }
    /// The writer for changes that may come by the thousand, each independent of the others.
    let grouped: GroupedWrites<Database>
    let hot: WriterStatements

    /// Opens (or creates) the database and brings its schema up to date.
    ///
    /// - Parameter path: Its folder must exist. The file is made readable by its owner alone.
    /// - Throws: ``DatabaseFault`` when the file cannot be opened or is no database of ours; ``StoreError`` when it does
    ///   not sync.
    package convenience init(path: String) throws {
        try self.init(path: path, health: DatabaseHealth(.server, path: path))
    }

    /// Opens the database as ``init(path:)`` does.
    ///
    /// - Parameter health: Notes damage that is met later.
    package init(path: String, health: DatabaseHealth) throws {
        try ServerDatabase.server.makeFile(at: path)
        var configuration = Configuration()
        configuration.busyMode = .timeout(10)
        configuration.maximumReaderCount = 4
        configuration.persistentReadOnlyConnections = true
        configuration.prepareDatabase { database in
            try database.execute(sql: "PRAGMA cache_size = -32768")
        }
        do {
            let pool = try DatabasePool(path: path, configuration: configuration)
            // GRDB sets NORMAL on the writer after the preparation above: FULL only holds when set from here.
            try pool.writeWithoutTransaction { database in
                try database.execute(sql: "PRAGMA synchronous = FULL; PRAGMA wal_autocheckpoint = 10000")
            }
            guard try !pool.read(Schema.migrator.hasBeenSuperseded) else {
                throw DatabaseFault(.server, path: path, .newer)
            }
            try Schema.migrator.migrate(pool)
            self.pool = WatchedDatabase(pool, health)
            hot = WriterStatements()
            grouped = Self.grouped(self.pool)
            register = SQLiteRegister(
                pool: self.pool, registerChanges: try SharedCounter(path: path + "-register"))
        } catch {
            throw DatabaseFault(.server, opening: path, error)
        }
        guard try synchronousMode() == 2 else { throw StoreError.doesNotSync(path: path) }
    }

    private static func grouped(_ pool: WatchedDatabase<DatabasePool>) -> GroupedWrites<Database> {
        GroupedWrites(
            transaction: { body in try await pool.write(body) },
            part: { database, body in
                do {
                    try database.inSavepoint {
                        try body()
                        return .commit
                    }
                    return nil
                } catch {
                    // Some failures of SQLite undo the whole transaction; then no change of it remains.
                    guard database.isInsideTransaction else { throw error }
                    return pool.health.judged(error)
                }
            })
    }

    /// An inspection of a file of this store's.
    package static func inspection(path: String) -> DatabaseInspection {
        DatabaseInspection(.server, path: path, migrator: Schema.migrator)
    }

    /// Whether the database can be used.
    package var databaseHealth: DatabaseHealth { pool.health }

    /// SQLite's number of the writer's synchronous mode; 2 is FULL.
    package func synchronousMode() throws -> Int {
        try pool.writeWithoutTransaction { try Int.fetchOne($0, sql: "PRAGMA synchronous") ?? -1 }
    }

    /// Copies what the log holds into the database file and closes everything. A file that was found damaged stays as it is.
    package func close() throws {
        guard pool.health.fault == nil else { return }
        try pool.writeWithoutTransaction { _ in hot.forget() }
        try pool.close()
    }

    /// Makes the changes in one transaction of the writer's; an empty list costs none.
    ///
    /// - Throws: SQLite's error, or ``StoreError/isClosed``; then none of the changes has happened.
    package func apply(_ changes: [RowChange]) throws {
        guard !changes.isEmpty else { return }
        try write { database in
            let writer = RowWriter(database: database, hot: try hot.prepared(database))
            for change in changes { try writer.apply(change) }
            try writer.noteForReports(changes)
        }
    }

    /// Prunes one slice in one transaction of the writer's.
    package func prune(
        timelinesBefore: Timestamp, payloadsBefore: Timestamp, now: Timestamp, limit: Int
    ) throws -> Bool {
        var isMore = false
        try write { database in
            isMore = try Retention(database: database).prune(
                timelinesBefore: timelinesBefore, payloadsBefore: payloadsBefore, now: now, limit: limit)
        }
        return isMore
    }

    private func write(_ body: (Database) throws -> Void) throws {
        try pool.writeWithoutTransaction { database in
            try database.inTransaction(.immediate) {
                try body(database)
                return .commit
            }
        }
    }
}

extension SQLiteStore: ServerStore {}

extension SQLiteRegister: ServerStoreRegister {}

/// Why a store cannot be used, beside a fault of its file (``DatabaseFault``).
package enum StoreError: Error, CustomStringConvertible {
    /// A file beside the database, or a copy of it, cannot be made or opened; the reason is the system's.
    case cannotOpen(path: String, reason: String)
    /// SQLite does not keep `synchronous=FULL` on the writer, so that a commit might not be on the disk.
    case doesNotSync(path: String)
    /// The writer's connection is closed.
    case isClosed

    package var description: String {
        switch self {
        case .cannotOpen(let path, let reason): "\(path) cannot be opened: \(reason)"
        case .doesNotSync(let path): "the database \(path) does not take synchronous=FULL, so nothing would be durable"
        case .isClosed: "the database was closed"
        }
    }
}
