import Foundation
import GRDB
import PushServer

/// Why one of the server's databases cannot be used until the server starts again.
package struct DatabaseFault: StoreFailure, Hashable, CustomStringConvertible {
    /// The kinds of faults. A file that is missing or empty is none where the data folder never had the database.
    package enum Kind: Hashable, Sendable {
        /// There is no file any more.
        case missing
        /// The file has 0 bytes, or no tables.
        case empty
        /// Parts of the file are not as SQLite wrote them, or it is no database; in SQLite's words.
        case damaged(String)
        /// The file has tables of a version of aldaba that this one does not know.
        case newer
        /// The file cannot be opened or brought up to date; in the system's or SQLite's words.
        case unusable(String)
    }

    /// The database.
    package var database: ServerDatabase
    /// The file's path.
    package var path: String
    /// The kind of fault.
    package var kind: Kind

    /// Makes a fault of a database's file.
    package init(_ database: ServerDatabase, path: String, _ kind: Kind) {
        self.database = database
        self.path = path
        self.kind = kind
    }

    /// Such a fault stays until the server starts again.
    package var isDamage: Bool { true }

    /// The fault in words that anybody may read: they hold no path.
    package var reason: String {
        switch kind {
        case .missing: "\(database.fileName) is missing"
        case .empty: "\(database.fileName) is empty"
        case .damaged(let reason): "\(database.fileName) is damaged: \(reason)"
        case .newer: "\(database.fileName) was made by a newer version of aldaba"
        case .unusable(let reason): "\(database.fileName) cannot be opened: \(reason)"
        }
    }

    /// The file with its path, the fault, and the remedy.
    package var description: String { "\(finding); \(remedy)" }

    /// The file with its path, and the fault.
    package var finding: String {
        let words =
            switch kind {
            case .missing: "is missing, and this data folder has had one"
            case .empty: "is empty, and this data folder has had one with tables"
            case .damaged(let reason): "is damaged: \(reason)"
            case .newer: "was made by a newer version of aldaba"
            case .unusable(let reason): "cannot be opened: \(reason)"
            }
        return "the database \(path) \(words)"
    }

    /// The remedy, in a sentence without a path.
    package var remedy: String {
        let (name, file) = (database.rawValue, database.fileName)
        switch (kind, database) {
        case (.newer, _): return "run that version, or restore an older backup"
        case (.unusable, _):
            return
                "free some space on its disk, or make the file and its folder writable for this user on a disk that is "
                + "not mounted read-only; then start the server again"
        case (.missing, .server), (.empty, .server):
            return "restore a backup into an empty folder with `aldaba restore`, or begin with an empty register: "
                + "`aldaba serve --new-database server`"
        case (.missing, _), (.empty, _):
            return
                "stop the server, and restore it from a backup with `aldaba restore BACKUP --only \(name)`, or begin "
                + "with an empty one: `aldaba serve --new-database \(name)`"
        case (.damaged, .server):
            return "keep a copy of \(file) and of \(file)-wal; then restore a backup into an empty folder with `aldaba "
                + "restore`, or save what can be read with `sqlite3 \(file) .recover`"
        case (.damaged, _):
            return
                "stop the server, and restore it from a backup with `aldaba restore BACKUP --only \(name)`, which puts "
                + "the damaged file aside; `aldaba doctor` says whether it is in order"
        }
    }
}

extension DatabaseFault {
    /// Judges an error that opening a database's file, or looking at it, has thrown.
    package init(_ database: ServerDatabase, opening path: String, _ error: any Error) {
        switch error {
        case let fault as DatabaseFault: self = fault
        case let error as DatabaseError:
            self.init(database, path: path, error.isDamage ? .damaged(error.reason) : .unusable(error.reason))
        default: self.init(database, path: path, .unusable("\(error)"))
        }
    }
}

extension ServerDatabase {
    /// Makes an empty file, readable by its owner alone, where there is none.
    ///
    /// - Throws: ``DatabaseFault`` where it cannot be made.
    package func makeFile(at path: String) throws(DatabaseFault) {
        guard !FileManager.default.fileExists(atPath: path),
            !FileManager.default.createFile(atPath: path, contents: nil, attributes: [.posixPermissions: 0o600])
        else { return }
        throw DatabaseFault(self, path: path, .unusable("the file cannot be made"))
    }
}
