import PushCore
import Synchronization

/// Shares one reading of the store among concurrent callers. Thread-safe.
///
/// Guarantees: one reading runs at a time, and callers that arrive meanwhile wait for it. After the beginning of a
/// failed reading no other begins for a second, and callers within that second get its error. So a store that cannot be
/// read is tried at most once a second.
package final class CoalescedLoad: Sendable {
    private struct State {
        var task: Task<Void, any Error>?
        var beganAt = Timestamp(rawValue: 0)
        var isRunning = false
        var hasFailed = false
    }

    private static let pause = Duration.seconds(1)

    private let clock: @Sendable () -> Timestamp
    private let state = Mutex(State())

    /// Creates a load that has read nothing yet; the clock spaces readings that fail.
    package init(clock: @escaping @Sendable () -> Timestamp) { self.clock = clock }

    /// Waits for the reading that runs, or for a new one.
    ///
    /// - Parameter read: Reads and stores the result; continues even when no caller waits for it any more.
    /// - Throws: The error of the reading.
    package func wait(for read: @escaping @Sendable () async throws -> Void) async throws {
        let now = clock()
        let task = state.withLock { state in
            if let task = state.task, state.isRunning || (state.hasFailed && Self.isRecent(state.beganAt, now)) {
                return task
            }
            let task = Task { try await self.run(read) }
            state = State(task: task, beganAt: now, isRunning: true)
            return task
        }
        try await task.value
    }

    private func run(_ read: () async throws -> Void) async throws {
        do {
            try await read()
            recordEnd(hasFailed: false)
        } catch {
            recordEnd(hasFailed: true)
            throw error
        }
    }

    private func recordEnd(hasFailed: Bool) {
        state.withLock { state in
            state.isRunning = false
            state.hasFailed = hasFailed
        }
    }

    /// Whether an instant is within the last pause. After a clock was set back, none is.
    private static func isRecent(_ instant: Timestamp, _ now: Timestamp) -> Bool {
        (.zero..<pause).contains(now.duration(since: instant))
    }
}
