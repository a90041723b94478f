import CPQ
import Glibc

/// A connection to PostgreSQL over libpq. One thread at a time uses it.
///
/// Statements are prepared when they are first executed. No call takes longer than the timeout.
package final class PostgresConnection {
    /// A statement with the parameters of one execution.
    struct Statement {
        var sql: String
        var parameters: [PostgresParameter]

        /// Executes a statement.
        ///
        /// - Parameter sql: The statement, with `$1` for the first parameter. Equal texts have parameters of equal types.
        init(_ sql: String, _ parameters: [PostgresParameter] = []) {
            self.sql = sql
            self.parameters = parameters
        }
    }

    private let handle: OpaquePointer
    private let timeout: Duration
    /// The time after which the plans of statements are made again.
    private let planLifetime: Duration
    private var plannedAt = ContinuousClock.now
    /// The names of the prepared statements, by their texts.
    private var prepared: [String: String] = [:]
    /// Whether the connection can be used; one that failed in the middle of an exchange cannot.
    package private(set) var isUsable = true

    /// Connects.
    ///
    /// - Parameters:
    ///   - parameters: The connection's parameters, as libpq names them; `dbname` may be a URL with all of them.
    ///   - timeout: The time that a call may take.
    ///   - planLifetime: The time after which the plans of statements are made again.
    /// - Throws: ``PostgresError`` where no server answers, or refuses.
    package init(
        _ parameters: [String: String], timeout: Duration = .seconds(10), planLifetime: Duration = .seconds(1)
    ) throws {
        self.timeout = timeout
        self.planLifetime = planLifetime
        let defaults = ["application_name": "aldaba", "tcp_user_timeout": "10000"]
        // Those after `dbname` are taken in the place of the URL's.
        let pairs = defaults.sorted { $0.key < $1.key } + parameters.sorted { $0.key < $1.key }
        handle = try PostgresConnector(pairs).connect(within: .seconds(5))
        guard PQstatus(handle) == CONNECTION_OK, PQsetnonblocking(handle, 1) == 0 else { throw failure() }
    }

    deinit { PQfinish(handle) }

    /// The number of the server's process for this connection.
    package var processID: Int32 { PQbackendPID(handle) }

    /// The server's version as a number, such as 150018.
    package var serverVersion: Int32 { PQserverVersion(handle) }

    /// Whether a transaction was begun and did not end, whatever became of its statements.
    package var isInTransaction: Bool {
        [PQTRANS_INTRANS, PQTRANS_INERROR].contains(PQtransactionStatus(handle))
    }

    /// Executes statements in one round trip, and stops at the first that fails.
    ///
    /// - Returns: The rows of each.
    /// - Throws: ``PostgresError``: of the server, and the connection can still be used, or of the connection.
    func pipeline(_ statements: [Statement]) throws -> [PostgresRows] {
        try renewPlans()
        guard isUsable else { throw PostgresError(code: nil, message: "the connection was lost") }
        isUsable = false
        let deadline = ContinuousClock.now + timeout
        guard PQenterPipelineMode(handle) == 1 else { throw failure() }
        var steps: [Step] = []
        var names = prepared
        for statement in statements { try send(statement, steps: &steps, names: &names) }
        guard PQpipelineSync(handle) == 1 else { throw failure() }
        try flush(until: deadline)
        var rows: [PostgresRows] = []
        var fault: PostgresError?
        for step in steps {
            guard let result = try receive(until: deadline) else { throw failure() }
            let found = PostgresRows(result)
            if let error = try self.fault(found) {
                fault = fault ?? error
            } else if let sql = step.prepares {
                prepared[sql] = names[sql]
            } else {
                rows.append(found)
            }
            // The end of the statement's results.
            if let more = try receive(until: deadline) { PQclear(more) }
        }
        // The answer to the synchronization ends the pipeline.
        if let result = try receive(until: deadline) { PQclear(result) }
        guard PQexitPipelineMode(handle) == 1, PQstatus(handle) == CONNECTION_OK else { throw failure() }
        isUsable = true
        if let fault { throw fault }
        return rows
    }

    /// Has the server plan statements anew. A plan that it made for an empty table reads the whole table once that has grown, until
    /// the table's statistics change, which takes a minute.
    func renewPlans() throws {
        guard !prepared.isEmpty, !isInTransaction, .now - plannedAt > planLifetime else { return }
        plannedAt = .now
        try execute("DISCARD PLANS")
    }

    /// Executes commands without parameters and results, separated by semicolons.
    package func execute(_ sql: String) throws {
        guard isUsable else { throw PostgresError(code: nil, message: "the connection was lost") }
        isUsable = false
        let deadline = ContinuousClock.now + timeout
        guard PQsendQuery(handle, sql) == 1 else { throw failure() }
        try flush(until: deadline)
        var fault: PostgresError?
        while let result = try receive(until: deadline) { fault = try self.fault(PostgresRows(result)) ?? fault }
        isUsable = true
        if let fault { throw fault }
    }

    /// Waits until a notification of a channel arrives that the connection listens to, for at most a time.
    package func waitForNotification(upTo limit: Duration) throws {
        guard isUsable else { throw PostgresError(code: nil, message: "the connection was lost") }
        _ = poll(for: POLLIN, until: .now + limit)
        guard PQconsumeInput(handle) == 1 else {
            isUsable = false
            throw failure()
        }
        while let notification = PQnotifies(handle) { PQfreemem(notification) }
    }

    /// A request whose answer is to come.
    private struct Step {
        /// The text of a statement to prepare; `nil` for an execution.
        var prepares: String?
    }

    private func send(_ statement: Statement, steps: inout [Step], names: inout [String: String]) throws {
        let name = names[statement.sql] ?? "s\(names.count)"
        if names.updateValue(name, forKey: statement.sql) == nil {
            let types = statement.parameters.map(\.kind.rawValue)
            guard PQsendPrepare(handle, name, statement.sql, Int32(types.count), types) == 1 else { throw failure() }
            steps.append(Step(prepares: statement.sql))
        }
        let count = statement.parameters.count
        let formats = [Int32](repeating: 1, count: count)
        let lengths = statement.parameters.map { Int32($0.bytes?.count ?? 0) }
        // The library copies the values before it returns.
        let sent = Self.withPointers(to: statement.parameters[...], []) { values in
            PQsendQueryPrepared(handle, name, Int32(count), values, lengths, formats, 1)
        }
        guard sent == 1 else { throw failure() }
        steps.append(Step())
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

    /// Writes everything that was sent; reads meanwhile, since the server may wait for its own answers to be read.
    private func flush(until deadline: ContinuousClock.Instant) throws {
        while true {
            let rest = PQflush(handle)
            guard rest >= 0 else { throw failure() }
            if rest == 0 { return }
            guard poll(for: POLLIN | POLLOUT, until: deadline) else { throw late() }
            guard PQconsumeInput(handle) == 1 else { throw failure() }
        }
    }

    /// The next result; `nil` for the end of a statement's results.
    private func receive(until deadline: ContinuousClock.Instant) throws -> OpaquePointer? {
        while PQisBusy(handle) == 1 {
            guard poll(for: POLLIN, until: deadline) else { throw late() }
            guard PQconsumeInput(handle) == 1 else { throw failure() }
        }
        return PQgetResult(handle)
    }

    /// Waits until the socket can be read or written; `false` after the deadline.
    private func poll(for events: Int32, until deadline: ContinuousClock.Instant) -> Bool {
        var descriptor = pollfd(fd: PQsocket(handle), events: Int16(events), revents: 0)
        while true {
            let left = (deadline - .now).components
            let milliseconds = left.seconds * 1000 + left.attoseconds / 1_000_000_000_000_000
            guard milliseconds >= 0 else { return false }
            let found = Glibc.poll(&descriptor, 1, Int32(clamping: milliseconds + 1))
            if found > 0 { return true }
            // A signal interrupts it. Another error shows when the socket is read.
            if found < 0, errno != EINTR { return true }
        }
    }

    /// The error of a result; `nil` where the statement succeeded.
    ///
    /// - Throws: ``PostgresError`` where the connection was lost.
    private func fault(_ rows: PostgresRows) throws -> PostgresError? {
        switch rows.status {
        case PGRES_COMMAND_OK, PGRES_TUPLES_OK, PGRES_EMPTY_QUERY, PGRES_PIPELINE_SYNC: return nil
        default:
            guard PQstatus(handle) == CONNECTION_OK else { throw failure() }
            return PostgresError(code: rows.errorCode, message: Self.line(rows.errorMessage))
        }
    }

    private func failure() -> PostgresError { PostgresError(code: nil, message: Self.line(PQerrorMessage(handle))) }

    private func late() -> PostgresError {
        PostgresError(code: nil, message: "PostgreSQL did not answer within \(timeout)")
    }

    /// The first line of a message of the library, without the word that begins each.
    static func line(_ text: UnsafePointer<CChar>?) -> String {
        let message = text.map { String(cString: $0) } ?? ""
        let line = message.split(separator: "\n").first.map(String.init) ?? "the connection failed"
        return line.hasPrefix("ERROR:  ") ? String(line.dropFirst(8)) : line
    }
}
