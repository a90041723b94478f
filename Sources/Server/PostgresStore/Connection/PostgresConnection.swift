import CPQ
import Glibc

/// A connection to PostgreSQL over libpq. One thread at a time uses it.
package final class PostgresConnection {
    /// A prepared statement with the parameters of one execution.
    package struct Query {
        /// The name of the prepared statement.
        var name: String
        var parameters: [PostgresParameter]

        /// Executes a prepared statement.
        package init(_ name: String, _ parameters: [PostgresParameter] = []) {
            self.name = name
            self.parameters = parameters
        }
    }

    private let handle: OpaquePointer

    /// Connects.
    ///
    /// - Parameter parameters: The connection's parameters, as libpq names them.
    /// - Throws: ``PostgresError`` where no server answers, or refuses.
    package init(_ parameters: [String: String]) throws {
        let pairs = parameters.sorted { $0.key < $1.key }
        let names = pairs.map { strdup($0.key) }
        let values = pairs.map { strdup($0.value) }
        defer { for text in names + values { free(text) } }
        var keywords = names.map { UnsafePointer($0) } + [nil]
        var contents = values.map { UnsafePointer($0) } + [nil]
        guard let handle = PQconnectdbParams(&keywords, &contents, 0) else {
            throw PostgresError(code: nil, message: "there is no memory for a connection")
        }
        self.handle = handle
        guard PQstatus(handle) == CONNECTION_OK else { throw failure() }
    }

    deinit { PQfinish(handle) }

    /// The number of the server's process for this connection.
    package var processID: Int32 { PQbackendPID(handle) }

    /// Executes statements without parameters, separated by semicolons.
    package func execute(_ sql: String) throws {
        guard let result = PQexec(handle, sql) else { throw failure() }
        defer { PQclear(result) }
        try check(result)
    }

    /// Prepares a statement under a name.
    package func prepare(_ name: String, _ sql: String, _ kinds: [PostgresParameter.Kind]) throws {
        let types = kinds.map(\.rawValue)
        guard let result = PQprepare(handle, name, sql, Int32(types.count), types) else { throw failure() }
        defer { PQclear(result) }
        try check(result)
    }

    /// Executes statements in one round trip, and stops at the first that fails.
    ///
    /// - Returns: The rows of each.
    package func pipeline(_ queries: [Query]) throws -> [PostgresRows] {
        guard PQenterPipelineMode(handle) == 1 else { throw failure() }
        for query in queries { try send(query) }
        guard PQpipelineSync(handle) == 1 else { throw failure() }
        var rows: [PostgresRows] = []
        var fault: PostgresError?
        for _ in queries {
            while let result = PQgetResult(handle) {
                let found = PostgresRows(result)
                do { try check(result) } catch let error as PostgresError { fault = fault ?? error }
                rows.append(found)
            }
        }
        // The answer to the synchronization ends the pipeline.
        if let result = PQgetResult(handle) { PQclear(result) }
        guard PQexitPipelineMode(handle) == 1 else { throw fault ?? failure() }
        if let fault { throw fault }
        return rows
    }

    private func send(_ query: Query) throws {
        let count = query.parameters.count
        let formats = [Int32](repeating: 1, count: count)
        let lengths = query.parameters.map { Int32($0.bytes?.count ?? 0) }
        // The library copies the values before it returns.
        let sent = Self.withPointers(to: query.parameters[...], []) { values in
            PQsendQueryPrepared(handle, query.name, Int32(count), values, lengths, formats, 1)
        }
        guard sent == 1 else { throw failure() }
    }

    private static func withPointers<Result>(
        to parameters: ArraySlice<PostgresParameter>, _ found: [UnsafePointer<CChar>?],
        _ body: ([UnsafePointer<CChar>?]) -> Result
    ) -> Result {
        guard let first = parameters.first else { return body(found) }
        guard let bytes = first.bytes else { return withPointers(to: parameters.dropFirst(), found + [nil], body) }
        // An empty value has no address, which would mean NULL.
        return (bytes.isEmpty ? [0] : bytes).withUnsafeBufferPointer { buffer in
            buffer.withMemoryRebound(to: CChar.self) {
                withPointers(to: parameters.dropFirst(), found + [$0.baseAddress], body)
            }
        }
    }

    private func check(_ result: OpaquePointer) throws {
        switch PQresultStatus(result) {
        case PGRES_COMMAND_OK, PGRES_TUPLES_OK, PGRES_EMPTY_QUERY, PGRES_PIPELINE_SYNC: return
        default:
            throw PostgresError(
                code: PQresultErrorField(result, 67).map { String(cString: $0) },
                message: Self.line(PQresultErrorMessage(result)))
        }
    }

    private func failure() -> PostgresError { PostgresError(code: nil, message: Self.line(PQerrorMessage(handle))) }

    /// The first line of a message of the library.
    private static func line(_ text: UnsafePointer<CChar>?) -> String {
        let message = text.map { String(cString: $0) } ?? ""
        return message.split(separator: "\n").first.map(String.init) ?? "the connection failed"
    }
}
