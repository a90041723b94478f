import PushCore
import Synchronization

/// The connection by which a node changes mailboxes. A node has one, and its lock: no other node has the same number.
final class PostgresWriter: Sendable {
    private struct State {
        /// The connection; `nil` after a loss.
        var connection: PostgresConnection?
        /// The number of the last batch; the node's row has that of the last one that was committed.
        var batch: Int64 = 0
        /// Whether ``begin(_:)`` began a transaction that did not end.
        var isOpen = false
    }

    /// The class of the advisory locks by which nodes have their numbers. Any number: the same for all nodes.
    private static let lockClass: Int32 = 41_442

    /// The number of the node.
    let node: UInt16
    private let isAlone: Bool
    /// A number that no other writer has: the node's row tells whose last batch it names.
    private let run = Int64.random(in: 1 ... .max)
    /// Called once where another node has the number after a loss of the connection.
    private let numberLost: @Sendable () -> Void
    private let connect: @Sendable () throws -> PostgresConnection
    private let state: Mutex<State>

    /// Connects, and takes a number for the node: 0 for a server that is alone, otherwise the first that is free.
    ///
    /// - Throws: ``DatabaseInUseError`` where another server uses the database, or has taken all numbers.
    init(
        isAlone: Bool, numberLost: @escaping @Sendable () -> Void = {},
        connect: @escaping @Sendable () throws -> PostgresConnection
    ) throws {
        self.isAlone = isAlone
        self.numberLost = numberLost
        self.connect = connect
        let connection = try Self.connect(isAlone: isAlone, connect)
        node = try Self.takeNumber(isAlone ? 1 : Int(NotificationIDBlock.nodeLimit), connection)
        try connection.run(
            "INSERT INTO node(id, run) VALUES($1, $2) ON CONFLICT (id) DO UPDATE SET batch = 0, run = excluded.run",
            Int(node), run)
        state = Mutex(State(connection: connection))
    }

    /// Another server uses the database.
    package struct DatabaseInUseError: Error, Hashable, CustomStringConvertible {
        /// Whether this server is to be alone.
        package var isAlone: Bool
        /// The fault, and the remedy.
        package var description: String {
            isAlone
                ? "another server uses this database; stop it, or give all of them the setting nats"
                : "a server without the setting nats uses this database; stop it, or give it the setting"
        }
    }

    /// Takes a number that no other server has.
    private static func takeNumber(_ count: Int, _ connection: PostgresConnection) throws -> UInt16 {
        for number in 0..<count
        where try connection.run("SELECT pg_try_advisory_lock($1::int, $2::int)", Int(lockClass), number).first?[0]
            ?? false
        {
            return UInt16(number)
        }
        throw DatabaseInUseError(isAlone: count == 1)
    }

    /// Reads with the writer's connection, which has the rows of the last batches at hand.
    func read<Value: Sendable>(_ body: @Sendable (PostgresConnection) throws -> Value) throws -> Value {
        try state.withLock { state in
            do { return try body(try usable(&state)) } catch let error as PostgresError where error.isLost {
                return try body(try usable(&state))
            }
        }
    }

    /// Begins the transaction of a batch, which ``commit(_:)`` or ``abandon()`` ends.
    func begin<Value: Sendable>(_ body: @Sendable (PostgresConnection) throws -> Value) throws -> Value {
        try state.withLock { state in
            do { return try begin(&state, body) } catch let error as PostgresError where error.isLost {
                return try begin(&state, body)
            }
        }
    }

    private func begin<Value: Sendable>(
        _ state: inout State, _ body: @Sendable (PostgresConnection) throws -> Value
    ) throws -> Value {
        let connection = try usable(&state)
        do {
            let value = try body(connection)
            state.isOpen = true
            return value
        } catch {
            try connection.rollBack()
            throw error
        }
    }

    /// Ends the transaction that ``begin(_:)`` began, without changes. A connection that cannot is not used again.
    func abandon() {
        state.withLock { state in
            guard state.isOpen else { return }
            state.isOpen = false
            do { try state.connection?.rollBack() } catch { state.connection = nil }
        }
    }

    /// Executes the statements of a batch in the transaction that ``begin(_:)`` began, or in one of its own and one round trip.
    ///
    /// A connection that is lost meanwhile is replaced, and the node's row then tells whether the batch was committed.
    /// - Throws: ``PostgresError``, of which ``PostgresError/isCommitUnknown`` tells whether something may have changed.
    func commit(_ statements: [PostgresConnection.Statement]) throws {
        try state.withLock { state in
            var attempt = 1
            while true {
                let connection = try usable(&state)
                state.batch += 1
                let isOpen = state.isOpen
                state.isOpen = false
                do {
                    return try commit(statements, as: state.batch, connection, begins: !isOpen)
                } catch var error as PostgresError {
                    if error.isLost {
                        if try wasCommitted(&state, after: error) { return }
                        error.isUndone = true
                    } else {
                        try connection.rollBack()
                        guard error.isDeadlock else { throw error }
                    }
                    // What the batch was decided by is not locked any more.
                    guard !isOpen, attempt < PostgresPool.attempts else { throw error }
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
        _ statements: [PostgresConnection.Statement], as batch: Int64, _ connection: PostgresConnection, begins: Bool
    ) throws {
        let mark = PostgresConnection.Statement(
            "UPDATE node SET batch = $2 WHERE id = $1", [PostgresParameter(Int(node)), PostgresParameter(batch)])
        let beginning: [PostgresConnection.Statement] = begins ? [.init("BEGIN")] : []
        let rows = try connection.pipeline(beginning + [mark] + statements + [.init("COMMIT")])
        guard rows.last?.command == "COMMIT" else { throw PostgresError.undone }
    }

    /// Whether the last batch was committed, asked by a new connection.
    private func wasCommitted(_ state: inout State, after error: PostgresError) throws -> Bool {
        do {
            // This waits for a transaction of the node that has not ended.
            let row = try usable(&state).run("SELECT batch, run FROM node WHERE id = $1 FOR UPDATE", Int(node)).first
            guard let row, try row[1] == run else {
                throw PostgresError(code: nil, message: "another node has used this node's number")
            }
            return try row[0] == state.batch
        } catch {
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
        let connection = try Self.connect(isAlone: isAlone, connect)
        // The server may not know yet that the node's last connection was lost, and then waits for its lock.
        do { try connection.run("SELECT pg_advisory_lock($1::int, $2::int)", Int(Self.lockClass), Int(node)) } catch let
            error as PostgresError where error.code == "55P03"
        {
            if !isAlone { numberLost() }
            throw DatabaseInUseError(isAlone: isAlone)
        }
        return connection
    }

    /// Connects, and keeps others out: all of them, or one that is alone.
    private static func connect(
        isAlone: Bool, _ connect: () throws -> PostgresConnection
    ) throws -> PostgresConnection {
        let connection = try connect()
        // Plans for one row and for a million are the same: by the keys. A node that stands still keeps no mailbox locked.
        try connection.execute(
            """
            SET enable_hashjoin = off; SET enable_mergejoin = off; SET enable_seqscan = off; \
            SET plan_cache_mode = force_generic_plan; SET idle_in_transaction_session_timeout = '3s'; \
            SET tcp_keepalives_idle = 4; SET tcp_keepalives_interval = 1; SET tcp_keepalives_count = 3
            """)
        let lock = isAlone ? "pg_advisory_lock" : "pg_advisory_lock_shared"
        do { try connection.run("SELECT \(lock)($1::int, 0)", Int(lockClass + 1)) } catch let error as PostgresError
            where error.code == "55P03"
        { throw DatabaseInUseError(isAlone: isAlone) }
        return connection
    }
}
