import Synchronization

/// The connection by which a node changes mailboxes. A node has one, and its lock: no other node has the same number.
final class PostgresWriter: Sendable {
    private struct State {
        /// The connection; `nil` after a loss.
        var connection: PostgresConnection?
        /// The number of the last batch; the node's row has that of the last one that was committed.
        var batch: Int64 = 0
    }

    /// A server is told of a node's death by its connection. Any number: the same for all nodes.
    private static let lockClass: Int32 = 41_442

    private let node: Int32
    private let connect: @Sendable () throws -> PostgresConnection
    private let state = Mutex(State())

    /// Connects, and takes the node's number.
    ///
    /// - Throws: ``NodeTaken`` where another process has the number.
    init(node: Int32, connect: @escaping @Sendable () throws -> PostgresConnection) throws {
        self.node = node
        self.connect = connect
        try state.withLock { state in
            let connection = try open()
            try connection.run("INSERT INTO node(id) VALUES($1) ON CONFLICT DO NOTHING", Int(node))
            state.batch = try committedBatch(connection)
            state.connection = connection
        }
    }

    /// The node's number is another process's.
    package struct NodeTaken: Error, Hashable, CustomStringConvertible {
        /// The number.
        package var node: Int32
        /// The fault, and the remedy.
        package var description: String {
            "another server uses this database as node \(node); stop it, or give this one another database"
        }
    }

    /// Reads with the writer's connection, which has the rows of the last batches at hand.
    func read<Value: Sendable>(_ body: @Sendable (PostgresConnection) throws -> Value) throws -> Value {
        try state.withLock { state in
            do { return try body(try usable(&state)) } catch let error as PostgresError where error.isLost {
                return try body(try usable(&state))
            }
        }
    }

    /// Executes the statements of a batch in one transaction and one round trip.
    ///
    /// A connection that is lost meanwhile is replaced, and the node's row then tells whether the batch was committed.
    /// - Throws: ``PostgresError``, of which ``PostgresError/isCommitUnknown`` tells whether something may have changed.
    func commit(_ statements: [PostgresConnection.Statement]) throws {
        try state.withLock { state in
            var attempt = 1
            while true {
                let connection = try usable(&state)
                state.batch += 1
                do { return try commit(statements, as: state.batch, connection) } catch let error as PostgresError {
                    if error.isLost {
                        if try wasCommitted(&state, after: error) { return }
                    } else {
                        try connection.rollBack()
                        guard error.isDeadlock else { throw error }
                    }
                    guard attempt < PostgresPool.attempts else { throw error }
                    attempt += 1
                }
            }
        }
    }

    /// Makes changes that need more than one round trip, in one transaction.
    func transaction<Value: Sendable>(_ body: @Sendable (PostgresConnection) throws -> Value) throws -> Value {
        try state.withLock { try usable(&$0).transaction(body) }
    }

    /// Closes the connection, which gives the node's number back.
    func close() { state.withLock { $0.connection = nil } }

    private func commit(
        _ statements: [PostgresConnection.Statement], as batch: Int64, _ connection: PostgresConnection
    ) throws {
        let mark = PostgresConnection.Statement(
            "UPDATE node SET batch = $2 WHERE id = $1", [PostgresParameter(Int(node)), PostgresParameter(batch)])
        let rows = try connection.pipeline([.init("BEGIN"), mark] + statements + [.init("COMMIT")])
        guard rows.last?.command == "COMMIT" else { throw PostgresError.undone }
    }

    /// Whether the last batch was committed, asked by a new connection.
    private func wasCommitted(_ state: inout State, after error: PostgresError) throws -> Bool {
        do { return try committedBatch(try usable(&state)) == state.batch } catch {
            var unknown = error as? PostgresError ?? PostgresError(code: nil, message: "\(error)")
            unknown.isCommitUnknown = true
            throw unknown
        }
    }

    private func usable(_ state: inout State) throws -> PostgresConnection {
        if let connection = state.connection, connection.isUsable { return connection }
        state.connection = nil
        let connection = try open()
        state.connection = connection
        return connection
    }

    private func open() throws -> PostgresConnection {
        let connection = try connect()
        // Plans for one row and for a million are the same: by the keys.
        try connection.execute(
            """
            SET enable_hashjoin = off; SET enable_mergejoin = off; SET enable_seqscan = off; SET jit = off; \
            SET plan_cache_mode = force_generic_plan
            """)
        // The server may not know yet that the node's last connection was lost, and then waits for its lock.
        do { try connection.run("SELECT pg_advisory_lock($1::int, $2::int)", Int(Self.lockClass), Int(node)) } catch let
            error as PostgresError where error.code == "55P03"
        { throw NodeTaken(node: node) }
        return connection
    }

    /// The last batch of the node that was committed. It waits for a transaction of the node that has not ended.
    private func committedBatch(_ connection: PostgresConnection) throws -> Int64 {
        try connection.run("SELECT batch FROM node WHERE id = $1 FOR UPDATE", Int(node)).first.map { try $0[0] } ?? 0
    }
}
