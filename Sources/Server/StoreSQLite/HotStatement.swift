import GRDB
import GRDBSQLite

/// A prepared SQLite statement for the hot path: bound, stepped and reset without boxing its arguments.
///
/// Confined to the writer's connection; finalized with it.
final class HotStatement {
    private let statement: OpaquePointer
    private let connection: OpaquePointer
    private var index: Int32 = 0

    init(_ sql: String, on connection: OpaquePointer) throws {
        var prepared: OpaquePointer?
        let code = sqlite3_prepare_v3(connection, sql, -1, UInt32(SQLITE_PREPARE_PERSISTENT), &prepared, nil)
        guard code == SQLITE_OK, let prepared else {
            throw DatabaseError(
                resultCode: ResultCode(rawValue: code), message: String(cString: sqlite3_errmsg(connection)), sql: sql)
        }
        statement = prepared
        self.connection = connection
    }

    deinit { sqlite3_finalize(statement) }

    func bind(_ value: Int64) {
        index += 1
        sqlite3_bind_int64(statement, index, value)
    }

    func bind(_ value: Int64?) {
        guard let value else {
            index += 1
            sqlite3_bind_null(statement, index)
            return
        }
        bind(value)
    }

    func bind(_ value: String?) {
        index += 1
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

    func bind(_ value: [UInt8]) {
        index += 1
        value.withUnsafeBytes { bytes in
            if let start = bytes.baseAddress {
                _ = sqlite3_bind_blob(statement, index, start, Int32(bytes.count), Self.transient)
            } else {
                _ = sqlite3_bind_zeroblob(statement, index, 0)
            }
        }
    }

    /// Runs the statement with what was bound and makes it ready for the next.
    func run() throws {
        let code = sqlite3_step(statement)
        let message = code == SQLITE_DONE ? nil : String(cString: sqlite3_errmsg(connection))
        sqlite3_reset(statement)
        index = 0
        if let message { throw DatabaseError(resultCode: ResultCode(rawValue: code), message: message) }
    }

    /// SQLITE_TRANSIENT: SQLite copies what is bound. The macro's cast does not reach Swift.
    private static var transient: sqlite3_destructor_type {
        unsafeBitCast(-1, to: sqlite3_destructor_type.self)  // The value that sqlite3.h defines for it.
    }
}
