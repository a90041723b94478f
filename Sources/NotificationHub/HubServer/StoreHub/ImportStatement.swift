import GRDB
import GRDBSQLite

/// A prepared statement that is bound, run and reset without boxing its arguments, for imports of many rows.
///
/// Confined to the connection on which it was prepared, and to the access in which it was made.
struct ImportStatement: ~Copyable {
    private let statement: OpaquePointer
    private let connection: OpaquePointer

    /// The outcome of a run.
    enum Outcome {
        /// The statement has run; `isNew` is whether it added a row.
        case done(isNew: Bool)
        /// A unique index contains such a row already: nothing was changed.
        case conflict
    }

    init(_ sql: String, on database: Database) throws {
        guard let connection = database.sqliteConnection else { throw DatabaseError(resultCode: .SQLITE_MISUSE) }
        var prepared: OpaquePointer?
        let code = sqlite3_prepare_v2(connection, sql, -1, &prepared, nil)
        guard code == SQLITE_OK, let prepared else {
            throw DatabaseError(
                resultCode: ResultCode(rawValue: code), message: String(cString: sqlite3_errmsg(connection)), sql: sql)
        }
        statement = prepared
        self.connection = connection
    }

    deinit { sqlite3_finalize(statement) }

    /// Binds the parameter with an index, from 1.
    func bind(_ value: Int64?, at index: Int32) {
        if let value { sqlite3_bind_int64(statement, index, value) } else { sqlite3_bind_null(statement, index) }
    }

    /// Binds the parameter with an index, from 1.
    func bind(_ value: String?, at index: Int32) {
        guard var value else {
            sqlite3_bind_null(statement, index)
            return
        }
        value.withUTF8 { bytes in
            bytes.withMemoryRebound(to: CChar.self) { text in
                _ = sqlite3_bind_text(statement, index, text.baseAddress, Int32(text.count), Self.transient)
            }
        }
    }

    /// Runs the statement with the bound values, which stay bound. RETURNING would report new rows too, but takes at
    /// least a sixth longer.
    func run() throws -> Outcome {
        sqlite3_set_last_insert_rowid(connection, 0)
        let code = sqlite3_step(statement)
        let message = code == SQLITE_DONE ? nil : String(cString: sqlite3_errmsg(connection))
        let extended = sqlite3_extended_errcode(connection)
        sqlite3_reset(statement)
        guard let message else { return .done(isNew: sqlite3_last_insert_rowid(connection) != 0) }
        if extended == Self.uniqueConflict { return .conflict }
        throw DatabaseError(resultCode: ResultCode(rawValue: code), message: message)
    }

    /// SQLITE_CONSTRAINT_UNIQUE, whose macro does not reach Swift.
    private static let uniqueConflict = SQLITE_CONSTRAINT | (8 << 8)

    /// SQLITE_TRANSIENT: SQLite copies bound values. The macro's cast does not reach Swift.
    private static var transient: sqlite3_destructor_type {
        unsafeBitCast(-1, to: sqlite3_destructor_type.self)  // The value that sqlite3.h defines for it.
    }
}
