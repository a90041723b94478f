import CPQ

/// The rows that a statement returned, in PostgreSQL's binary format.
package final class PostgresRows {
    private let result: OpaquePointer

    /// Takes a result of the client library, and frees it in the end.
    init(_ result: OpaquePointer) { self.result = result }

    deinit { PQclear(result) }

    /// The number of rows.
    package var count: Int { Int(PQntuples(result)) }

    /// The number of rows that the statement changed.
    package var changed: Int { PQcmdTuples(result).flatMap { Int(String(cString: $0)) } ?? 0 }

    /// The number in a column; `nil` for NULL.
    package func integer(_ row: Int, _ column: Int) -> Int64? {
        bytes(row, column)?.reduce(into: Int64(0)) { $0 = $0 << 8 | Int64($1) }
    }

    /// The text in a column; `nil` for NULL.
    package func text(_ row: Int, _ column: Int) -> String? {
        bytes(row, column).map { String(decoding: $0, as: UTF8.self) }
    }

    /// The bytes of a column, until the rows are freed; `nil` for NULL.
    private func bytes(_ row: Int, _ column: Int) -> UnsafeRawBufferPointer? {
        guard PQgetisnull(result, Int32(row), Int32(column)) == 0 else { return nil }
        return UnsafeRawBufferPointer(
            start: PQgetvalue(result, Int32(row), Int32(column)),
            count: Int(PQgetlength(result, Int32(row), Int32(column))))
    }
}
