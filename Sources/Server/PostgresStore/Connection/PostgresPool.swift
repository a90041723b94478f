import Dispatch
import Synchronization

/// Connections for everything but the mailboxes: each executes one piece of work after the other, on a queue of its own.
package final class PostgresPool: Sendable {
    private final class Lane: Sendable {
        let queue: DispatchQueue
        /// The connection; `nil` before the first use and after a loss.
        let connection = Mutex<PostgresConnection?>(nil)
        /// The pieces of work that were given to the queue and have not ended.
        let load = Atomic<Int>(0)

        init(_ number: Int) { queue = DispatchQueue(label: "aldaba.postgres.\(number)") }
    }

    /// How often a transaction is tried that PostgreSQL ended so that another could go on.
    static let attempts = 5

    private let lanes: [Lane]
    private let connect: @Sendable () throws -> PostgresConnection

    /// Creates the pool; connections are made when they are first needed.
    package init(count: Int = 8, connect: @escaping @Sendable () throws -> PostgresConnection) {
        lanes = (0..<count).map { Lane($0) }
        self.connect = connect
    }

    /// Reads in one transaction.
    package func read<Value: Sendable>(
        _ body: @escaping @Sendable (PostgresConnection) throws -> Value
    ) async throws -> Value {
        try await withCheckedThrowingContinuation { continuation in
            read(body) { continuation.resume(with: $0) }
        }
    }

    /// Reads in one transaction, and calls a closure with the result on the queue of a connection.
    package func read<Value: Sendable>(
        _ body: @escaping @Sendable (PostgresConnection) throws -> Value,
        then complete: @escaping @Sendable (Result<Value, any Error>) -> Void
    ) {
        readStatements({ try $0.snapshot(body) }, then: complete)
    }

    /// Reads as ``read(_:then:)``, without a transaction around the statements. A lost connection is replaced once.
    ///
    /// - Parameter isRepeated: Whether the body is run again then.
    func readStatements<Value: Sendable>(
        isRepeated: Bool = true, _ body: @escaping @Sendable (PostgresConnection) throws -> Value,
        then complete: @escaping @Sendable (Result<Value, any Error>) -> Void
    ) {
        enqueue { lane in
            complete(
                Result {
                    do { return try self.use(lane, body) } catch let error as PostgresError
                        where error.isLost && isRepeated
                    {
                        return try self.use(lane, body)
                    }
                })
        }
    }

    /// Makes changes in one transaction. It is tried again where PostgreSQL ended it for another, or where the connection
    /// was lost before its end.
    ///
    /// - Throws: The errors of ``PostgresConnection/transaction(_:)``.
    package func write<Value: Sendable>(
        _ body: @escaping @Sendable (PostgresConnection) throws -> Value
    ) async throws -> Value {
        try await withCheckedThrowingContinuation { continuation in
            enqueue { lane in continuation.resume(with: Result { try self.write(on: lane, body) }) }
        }
    }

    /// Makes changes as ``write(_:)``. Blocks.
    func writeBlocking<Value: Sendable>(_ body: @Sendable (PostgresConnection) throws -> Value) throws -> Value {
        guard let lane = leastLoaded else { throw PostgresError(code: nil, message: "the pool has no connections") }
        lane.load.add(1, ordering: .relaxed)
        defer { lane.load.subtract(1, ordering: .relaxed) }
        return try lane.queue.sync { try write(on: lane, body) }
    }

    private func write<Value: Sendable>(
        on lane: Lane, _ body: @Sendable (PostgresConnection) throws -> Value
    ) throws -> Value {
        var attempt = 1
        while true {
            do { return try use(lane) { try $0.transaction(body) } } catch let error as PostgresError {
                let isTriedAgain = error.isDeadlock || (error.isLost && !error.isCommitUnknown && attempt == 1)
                guard isTriedAgain, attempt < Self.attempts else { throw error }
                attempt += 1
            }
        }
    }

    private func use<Value: Sendable>(
        _ lane: Lane, _ body: @Sendable (PostgresConnection) throws -> Value
    ) throws -> Value {
        try lane.connection.withLock { kept in
            if kept?.isUsable != true { kept = nil }
            let connection = try kept ?? connect()
            kept = connection
            return try body(connection)
        }
    }

    private var leastLoaded: Lane? {
        lanes.min { $0.load.load(ordering: .relaxed) < $1.load.load(ordering: .relaxed) }
    }

    private func enqueue(_ work: @escaping @Sendable (Lane) -> Void) {
        guard let lane = leastLoaded else { return }
        lane.load.add(1, ordering: .relaxed)
        lane.queue.async {
            work(lane)
            lane.load.subtract(1, ordering: .relaxed)
        }
    }
}
