import Foundation
import GRDB
import PushModel
import SQLiteSchema
import ServerCore

/// The server's store on one SQLite file.
public final class SQLiteStore: Sendable {
    let pool: DatabasePool
    /// Raised by every process that changes the register.
    let registerChanges: SharedCounter
    /// For changes that may come by the thousand, and each for itself.
    let grouped: GroupedWrites
    let hot: WriterStatements

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
            guard try !pool.read(Schema.migrator.hasBeenSuperseded) else { throw StoreError.isNewer(path: path) }
            try Schema.migrator.migrate(pool)
            hot = WriterStatements()
            grouped = GroupedWrites(pool)
            registerChanges = try SharedCounter(path: path + "-register")
        } catch {
            throw StoreError(opening: path, error)
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

    /// Makes the changes in one transaction of the writer's; an empty list costs none.
    ///
    /// - Throws: what SQLite says, or ``StoreError/isClosed``; then nothing of it has happened.
    public func apply(_ changes: [RowChange]) throws {
        guard !changes.isEmpty else { return }
        try write { database in
            let writer = RowWriter(database: database, hot: try hot.prepared(database))
            for change in changes { try writer.apply(change) }
            try writer.noteForReports(changes)
        }
    }

    /// Prunes one slice in one transaction of the writer's.
    public func prune(
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

/// Why a store cannot be used.
public enum StoreError: Error, CustomStringConvertible {
    /// The file is no database, or parts of it are not as SQLite wrote them; the reason is SQLite's.
    case isDamaged(path: String, reason: String)
    /// The file has tables of a version that this one does not know.
    case isNewer(path: String)
    /// The file cannot be made or opened, or is no database of ours; the reason is the system's or SQLite's.
    case cannotOpen(path: String, reason: String)
    /// SQLite does not keep `synchronous=FULL` on the writer, so that a commit might not be on the disk.
    case doesNotSync(path: String)
    /// The writer's connection is closed.
    case isClosed

    /// Says of an error that opening a database threw what it means.
    init(opening path: String, _ error: any Error) {
        switch error {
        case let error as StoreError: self = error
        case let error as DatabaseError where error.isDamage: self = .isDamaged(path: path, reason: error.reason)
        case let error as DatabaseError where error.resultCode == .SQLITE_FULL:
            self = .cannotOpen(path: path, reason: "\(error.reason); free some space on its disk")
        case let error as DatabaseError
        where [.SQLITE_READONLY, .SQLITE_CANTOPEN, .SQLITE_PERM, .SQLITE_IOERR].contains(error.resultCode):
            self = .cannotOpen(
                path: path,
                reason: "\(error.reason); this user must be able to write the file and its folder, and the disk must "
                    + "have space and not be mounted read-only")
        default: self = .cannotOpen(path: path, reason: "\(error)")
        }
    }

    public var description: String {
        switch self {
        case .isDamaged(let path, let reason):
            "the database \(path) is damaged: \(reason). Keep a copy of it and of \(path)-wal; then restore a backup into "
                + "an empty folder with `aldaba restore`, or save what can be read with `sqlite3 \(path) .recover`"
        case .isNewer(let path):
            "the database \(path) was made by a newer version of aldaba; run that one, or restore an older backup"
        case .cannotOpen(let path, let reason): "the database \(path) cannot be opened: \(reason)"
        case .doesNotSync(let path): "the database \(path) does not take synchronous=FULL, so nothing would be durable"
        case .isClosed: "the database was closed"
        }
    }
}

extension DatabaseError: StoreFailure {
    /// SQLite's own words, such as "database or disk is full", without the statement.
    public var reason: String { message ?? "SQLite error \(resultCode.rawValue)" }

    /// Whether SQLite found the file to be damaged, or to be no database.
    public var isDamage: Bool { resultCode == .SQLITE_CORRUPT || resultCode == .SQLITE_NOTADB }
}
