import GRDB
import GRDBSQLite

/// A prepared SQLite statement for the hot path: bound, stepped and reset without boxing its arguments or its columns.
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

    // MARK: Reading

    /// Reads the first row for the bound values, and resets the statement.
    ///
    /// - Returns: The result of `read`; `nil` without a row.
    func first<Value>(_ read: (HotStatement) throws -> Value) throws -> Value? {
        defer { reset() }
        return try step() ? try read(self) : nil
    }

    /// Reads every row for the bound values, and resets the statement.
    func forEach(_ read: (HotStatement) throws -> Void) throws {
        defer { reset() }
        while try step() { try read(self) }
    }

    /// The columns of the row that is being read; `nil` for NULL.
    func integer(_ column: Int32) -> Int64? {
        isNull(column) ? nil : sqlite3_column_int64(statement, column)
    }

    func text(_ column: Int32) -> String {
        sqlite3_column_text(statement, column).map { String(cString: $0) } ?? ""
    }

    /// Calls a closure with a column's bytes, which belong to SQLite and are valid only for this row.
    func withBytes<Value>(_ column: Int32, _ read: (UnsafeRawBufferPointer) throws -> Value) rethrows -> Value {
        let start = sqlite3_column_blob(statement, column)
        return try read(UnsafeRawBufferPointer(start: start, count: Int(sqlite3_column_bytes(statement, column))))
    }

    private func isNull(_ column: Int32) -> Bool { sqlite3_column_type(statement, column) == SQLITE_NULL }

    private func step() throws -> Bool {
        switch sqlite3_step(statement) {
        case SQLITE_ROW: true
        case SQLITE_DONE: false
        case let code:
            throw DatabaseError(
                resultCode: ResultCode(rawValue: code), message: String(cString: sqlite3_errmsg(connection)))
        }
    }

    private func reset() {
        sqlite3_reset(statement)
        index = 0
    }

    // MARK: Running

    /// Runs the statement with the bound values and resets it.
    func run() throws {
        defer { reset() }
        while try step() {}
    }

    /// SQLITE_TRANSIENT: SQLite copies bound values. The macro's cast does not reach Swift.
    private static var transient: sqlite3_destructor_type {
        unsafeBitCast(-1, to: sqlite3_destructor_type.self)  // The value that sqlite3.h defines for it.
    }
}
