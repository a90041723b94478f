import Logging
import PushCore
import Synchronization

/// Logs refused sends of known senders: each, up to ten a second after a burst of a hundred. The next line has the
/// number of those that had none. Thread-safe.
final class RefusalLog: Sendable {
    private struct State {
        var bucket: TokenBucket
        var unsaid = 0
    }

    private let logger: Logger
    private let state: Mutex<State>

    /// Logs nothing yet.
    init(logger: Logger, at now: Timestamp) {
        self.logger = logger
        state = Mutex(State(bucket: TokenBucket(capacity: 100, perSecond: 10, now: now)))
    }

    /// Logs one refusal by its internal id, with which a timeline answers.
    func refused(_ id: NotificationID, reason: String, team: TeamID, topic: Substring, at now: Timestamp) {
        let count = state.withLock { state -> Int? in
            guard state.bucket.take(at: now) == nil else {
                state.unsaid += 1
                return nil
            }
            defer { state.unsaid = 0 }
            return state.unsaid + 1
        }
        guard let count else { return }
        logger.info(
            "a send was refused: \(reason)",
            metadata: [
                LogKey.notification: "\(id)", LogKey.team: "\(team)", LogKey.topic: "\(topic)",
                LogKey.count: "\(count)",
            ])
    }
}
