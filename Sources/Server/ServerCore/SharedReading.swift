import PushModel
import Synchronization

/// Reads something from the store once for everyone who lacks it. Thread-safe.
///
/// Guarantees: one reading runs at a time, and who asks meanwhile waits for that one; within a second of a
/// reading's beginning no other begins, and who asks then gets its result, a failure included. So the store is
/// read at most once a second, and at once after a quiet second.
final class SharedReading: Sendable {
    private struct State {
        var task: Task<Void, any Error>?
        var beganAt = Timestamp(rawValue: 0)
        var isRunning = false
        var hasSucceeded = false
    }

    private static let intervalMilliseconds: Int64 = 1000

    private let clock: @Sendable () -> Timestamp
    private let state = Mutex(State())

    init(clock: @escaping @Sendable () -> Timestamp) { self.clock = clock }

    /// Whether a reading that began within the last second has succeeded: what it did not find is not there.
    func isFresh(at now: Timestamp) -> Bool {
        state.withLock { $0.hasSucceeded && Self.isRecent($0.beganAt, now) }
    }

    /// Waits for the reading that runs or began within the last second, or else for a new one.
    ///
    /// - Parameter read: Reads and keeps what it found; goes on even when nobody waits for it any more.
    /// - Throws: what the reading threw.
    func wait(for read: @escaping @Sendable () async throws -> Void) async throws {
        let now = clock()
        let task = state.withLock { state in
            if let task = state.task, state.isRunning || Self.isRecent(state.beganAt, now) { return task }
            let task = Task { try await self.run(read) }
            state = State(task: task, beganAt: now, isRunning: true)
            return task
        }
        try await task.value
    }

    private func run(_ read: () async throws -> Void) async throws {
        do {
            try await read()
            ended(hasSucceeded: true)
        } catch {
            ended(hasSucceeded: false)
            throw error
        }
    }

    private func ended(hasSucceeded: Bool) {
        state.withLock { state in
            state.isRunning = false
            state.hasSucceeded = hasSucceeded
        }
    }

    /// A clock that was set back makes nothing recent.
    private static func isRecent(_ instant: Timestamp, _ now: Timestamp) -> Bool {
        (0..<intervalMilliseconds).contains(now.milliseconds(since: instant))
    }
}
