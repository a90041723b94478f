import Synchronization

/// Groups concurrent changes of a database into one transaction with one sync. Thread-safe.
///
/// Each change is independent: one that fails is undone alone. It completes for its caller when the transaction is
/// durable.
package final class GroupedWrites<Connection>: Sendable {
    /// Reports the end of a change to its caller.
    package typealias Completion = @Sendable () -> Void
    /// Runs a closure in one transaction, which is durable at the end.
    package typealias Transaction =
        @Sendable (_ body: @escaping @Sendable (Connection) throws -> [Completion]) async throws -> [Completion]
    /// Makes one change of a transaction, so that its failure, which is returned, undoes it alone.
    package typealias Part = @Sendable (Connection, () throws -> Void) throws -> (any Error)?

    private struct Change: Sendable {
        /// Makes the change; returns a closure that notifies its caller once it is durable.
        var make: @Sendable (Connection) throws -> Completion
        var fail: @Sendable (any Error) -> Void
    }

    private struct State {
        var waiting: [Change] = []
        var isWriting = false
    }

    /// The maximum number of changes in one transaction; other writers of the store wait for it.
    private let limit = 256

    private let transaction: Transaction
    private let part: Part
    private let state = Mutex(State())

    /// Creates a group.
    ///
    /// - Parameters:
    ///   - transaction: Runs the changes of a group; may do so again where it failed as a whole.
    ///   - part: Makes one of them; throws where the whole transaction is undone.
    package init(transaction: @escaping Transaction, part: @escaping Part) {
        self.transaction = transaction
        self.part = part
    }

    /// The number of changes that wait for a transaction; for tests.
    package var waitingCount: Int { state.withLock { $0.waiting.count } }

    /// Makes a change, durably when this returns.
    ///
    /// - Throws: The error of the body, or of the store; then none of the changes has happened.
    package func write<Value: Sendable>(_ body: @escaping @Sendable (Connection) throws -> Value) async throws -> Value
    {
        try await withCheckedThrowingContinuation { continuation in
            let change = Change(
                make: { [part] connection in
                    var made: Value?
                    if let failure = try part(connection, { made = try body(connection) }) {
                        return { continuation.resume(throwing: failure) }
                    }
                    guard let made else { throw NotMade() }
                    return { continuation.resume(returning: made) }
                }, fail: { continuation.resume(throwing: $0) })
            let begins = state.withLock { state in
                state.waiting.append(change)
                defer { state.isWriting = true }
                return !state.isWriting
            }
            if begins { Task { await self.writeAll() } }
        }
    }

    /// A part returned without an error and without making its change.
    private struct NotMade: Error {}

    private func writeAll() async {
        while true {
            let group: [Change] = state.withLock { state in
                let group = Array(state.waiting.prefix(limit))
                state.waiting.removeFirst(group.count)
                state.isWriting = !group.isEmpty
                return group
            }
            if group.isEmpty { return }
            do {
                let completions = try await transaction { connection in try group.map { try $0.make(connection) } }
                for complete in completions { complete() }
            } catch {
                for change in group { change.fail(error) }
            }
        }
    }
}
