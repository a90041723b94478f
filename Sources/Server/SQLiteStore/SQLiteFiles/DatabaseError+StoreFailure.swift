import GRDB
import PushServer

extension DatabaseError: StoreFailure {
    /// SQLite's own words, such as "database or disk is full", without the statement.
    package var reason: String { message ?? "SQLite error \(resultCode.rawValue)" }

    /// Whether SQLite found the file to be damaged, or to be no database.
    package var isDamage: Bool { resultCode == .SQLITE_CORRUPT || resultCode == .SQLITE_NOTADB }
}
