import Logging
import PushCore
import Synchronization

/// Logs refused sends of known senders: each, up to ten a second after a burst of a hundred. The next line has the
/// number of those that had none. Thread-safe.
final class RefusalLog: Sendable {
    private let logger: Logger
    private let budget: Mutex<LogTokenBucket>

    /// Logs nothing yet.
    init(logger: Logger, at now: Timestamp) {
        self.logger = logger
        budget = Mutex(LogTokenBucket(at: now))
    }

    /// Logs one refusal by its internal id, with which a timeline answers.
    func refused(_ id: NotificationID, reason: String, team: TeamID, topic: Substring, at now: Timestamp) {
        guard let count = budget.withLock({ $0.take(at: now) }) else { return }
        logger.info(
            "a send was refused: \(reason)",
            metadata: [
                LogKey.notification: "\(id)", LogKey.team: "\(team)", LogKey.topic: "\(topic)",
                LogKey.count: "\(count)",
            ])
    }
}
