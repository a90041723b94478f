import GRDB
import Synchronization

/// Groups concurrent changes into one transaction with one sync. Thread-safe.
///
/// Each change is independent: one that fails is undone alone. It completes for its caller when the transaction is
/// durable.
final class GroupedWrites: Sendable {
    private struct Change: Sendable {
        /// Makes the change; returns a closure that notifies its caller once it is durable.
        var make: @Sendable (Database) throws -> @Sendable () -> Void
        var fail: @Sendable (any Error) -> Void
    }

    private struct State {
        var waiting: [Change] = []
        var isWriting = false
    }

    /// The maximum number of changes in one transaction; other writers of the store wait for it.
    private static let limit = 256

    private let pool: WatchedDatabase<DatabasePool>
    private let state = Mutex(State())

    init(_ pool: WatchedDatabase<DatabasePool>) { self.pool = pool }

    /// The number of changes that wait for a transaction; for tests.
    var waitingCount: Int { state.withLock { $0.waiting.count } }

    /// Makes a change, durably when this returns.
    ///
    /// - Throws: The error of the body, or of the store; then none of the changes has happened.
    func write<Value: Sendable>(_ body: @escaping @Sendable (Database) throws -> Value) async throws -> Value {
        try await withCheckedThrowingContinuation { continuation in
            let change = Change(
                make: { [pool] database in
                    var made: Result<Value, any Error>?
                    do {
                        try database.inSavepoint {
                            made = .success(try body(database))
                            return .commit
                        }
                    } catch {
                        // Some failures of SQLite undo the whole transaction; then no change of it remains.
                        guard database.isInsideTransaction else { throw error }
                        made = .failure(pool.health.judged(error))
                    }
                    let outcome = made ?? .failure(DatabaseError(message: "a change was not made"))
                    return { continuation.resume(with: outcome) }
                }, fail: { continuation.resume(throwing: $0) })
            let begins = state.withLock { state in
                state.waiting.append(change)
                defer { state.isWriting = true }
                return !state.isWriting
            }
            if begins { Task { await self.writeAll() } }
        }
    }

    private func writeAll() async {
        while true {
            let group: [Change] = state.withLock { state in
                let group = Array(state.waiting.prefix(Self.limit))
                state.waiting.removeFirst(group.count)
                state.isWriting = !group.isEmpty
                return group
            }
            if group.isEmpty { return }
            do {
                let told = try await pool.write { database in try group.map { try $0.make(database) } }
                for tell in told { tell() }
            } catch {
                for change in group { change.fail(error) }
            }
        }
    }
}
