import Dispatch
import Logging
import Networking
import PushCore
import Synchronization

/// The log lines of requests that were refused for their credential: each, up to ten a second after a burst of a hundred. The
/// next line has the number of those that had none.
package enum CredentialRefusals {
    private static let budget = Mutex(LogTokenBucket(at: now))

    /// The time on a clock that is never set.
    private static var now: Timestamp {
        Timestamp(rawValue: Int64(DispatchTime.now().uptimeNanoseconds / 1_000_000))
    }

    /// Logs a refusal, or counts it for the next line.
    ///
    /// - Parameter reason: What was wrong, and with what; no secret.
    package static func log(_ reason: String, to logger: Logger) {
        let now = now
        guard let count = budget.withLock({ $0.take(at: now) }) else { return }
        var metadata: Logger.Metadata = [LogKey.error: "\(reason)"]
        if count != 1 { metadata[LogKey.count] = "\(count)" }
        logger.notice("a request was refused for its credential", metadata: metadata)
    }
}

/// How many lines of one kind may be logged: ten a second, after a burst of a hundred.
struct LogTokenBucket {
    private var bucket: TokenBucket
    private var unsaid = 0

    /// Begins with a full burst.
    init(at now: Timestamp) { bucket = TokenBucket(capacity: 100, perSecond: 10, now: now) }

    /// Counts an event.
    ///
    /// - Returns: The number of events that its line stands for; `nil` where it has none.
    mutating func take(at now: Timestamp) -> Int? {
        guard bucket.take(at: now) == nil else {
            unsaid += 1
            return nil
        }
        defer { unsaid = 0 }
        return unsaid + 1
    }
}
