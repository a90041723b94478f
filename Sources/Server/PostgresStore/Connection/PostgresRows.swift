import CPQ

/// The rows that a statement returned, in PostgreSQL's binary format.
final class PostgresRows: RandomAccessCollection {
    private let result: OpaquePointer

    /// Takes a result of the client library, and frees it in the end.
    init(_ result: OpaquePointer) { self.result = result }

    deinit { PQclear(result) }

    let startIndex = 0
    var endIndex: Int { Int(PQntuples(result)) }

    /// A row by its index.
    subscript(position: Int) -> PostgresRow { PostgresRow(rows: self, index: position) }

    /// The number of rows that the statement changed.
    var changed: Int { PQcmdTuples(result).flatMap { Int(String(cString: $0)) } ?? 0 }

    /// The command that was executed, such as `COMMIT`; that of an aborted transaction is `ROLLBACK`.
    var command: String { PQcmdStatus(result).map { String(cString: $0) } ?? "" }

    var status: ExecStatusType { PQresultStatus(result) }
    /// The field of a result with the code (SQLSTATE).
    private static let sqlState: Int32 = 67
    var errorCode: String? { PQresultErrorField(result, Self.sqlState).map { String(cString: $0) } }
    var errorMessage: UnsafePointer<CChar>? { UnsafePointer(PQresultErrorMessage(result)) }

    private var columns: [String: Int32] = [:]

    /// The number of a column; -1 where there is none of that name.
    func column(_ name: String) -> Int32 {
        if let known = columns[name] { return known }
        let number = PQfnumber(result, name)
        columns[name] = number
        return number
    }

    /// Calls a closure with the bytes of a column; `nil` for NULL.
    func withBytes<Value>(
        _ row: Int, _ column: Int32, _ body: (UnsafeRawBufferPointer?) throws -> Value
    ) rethrows -> Value {
        guard column >= 0, column < PQnfields(result), PQgetisnull(result, Int32(row), column) == 0 else {
            return try body(nil)
        }
        return try body(
            UnsafeRawBufferPointer(
                start: PQgetvalue(result, Int32(row), column), count: Int(PQgetlength(result, Int32(row), column))))
    }
}

/// A row that a statement returned.
struct PostgresRow {
    fileprivate let rows: PostgresRows
    fileprivate let index: Int

    /// Whether the row has a column of that name.
    func hasColumn(_ name: String) -> Bool { rows.column(name) >= 0 }

    /// The value in a column, by its number.
    ///
    /// - Throws: ``PostgresError`` for NULL, where the type has no such value, and for a value that the type cannot hold.
    subscript<Value: PostgresValue>(column: Int) -> Value {
        get throws { try rows.withBytes(index, Int32(column)) { try Value.decode($0) } }
    }

    /// The value in a column, by its name.
    ///
    /// - Throws: ``PostgresError`` in the same cases, and where there is no such column.
    subscript<Value: PostgresValue>(name: String) -> Value {
        get throws { try rows.withBytes(index, rows.column(name)) { try Value.decode($0) } }
    }
}
