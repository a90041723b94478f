import PushModel
import Synchronization

/// Reads something from the store once for all who wait for it. Thread-safe.
///
/// Guarantees: one reading runs at a time, and callers that come meanwhile wait for it. After a failed reading began no
/// other begins for a second, and callers of that second get its error. So a store that cannot be read is asked at most
/// once a second.
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

    /// Nothing is read yet; the clock spaces readings that fail.
    package init(clock: @escaping @Sendable () -> Timestamp) { self.clock = clock }

    /// Waits for the reading that runs, or else for a new one.
    ///
    /// - Parameter read: Reads and keeps what it found; goes on even when nobody waits for it any more.
    /// - Throws: what the reading threw.
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
            ended(hasFailed: false)
        } catch {
            ended(hasFailed: true)
            throw error
        }
    }

    private func ended(hasFailed: Bool) {
        state.withLock { state in
            state.isRunning = false
            state.hasFailed = hasFailed
        }
    }

    /// A clock that was set back makes nothing recent.
    private static func isRecent(_ instant: Timestamp, _ now: Timestamp) -> Bool {
        (.zero..<pause).contains(now.duration(since: instant))
    }
}
