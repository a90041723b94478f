import PushCore
import PushServer
import Synchronization

/// The quota of a project's messages: a token bucket, filled steadily, whose capacity is one minute's share.
package struct SendQuota: Hashable, Sendable {
    /// The messages per minute where nothing else is configured: FCM's own quota.
    package static let standard = 600_000

    private var bucket: TokenBucket

    /// Creates a full bucket.
    package init(perMinute: Int, now: Timestamp) {
        let share = Double(max(1, perMinute))
        bucket = TokenBucket(capacity: share, perSecond: share / 60, now: now)
    }

    /// Takes a message's token.
    ///
    /// - Returns: `nil` when there was one; otherwise the seconds after which there is one.
    package mutating func take(at now: Timestamp) -> Int? { bucket.take(at: now) }
}

/// The quotas of all projects that have sent. Thread-safe.
final class SendQuotas: Sendable {
    private let perMinute: Int
    private let quotas = Mutex<[TeamID: SendQuota]>([:])

    init(perMinute: Int) { self.perMinute = perMinute }

    /// Takes a message's token, as ``SendQuota/take(at:)``.
    func take(_ team: TeamID, at now: Timestamp) -> Int? {
        quotas.withLock { quotas in
            quotas[team, default: SendQuota(perMinute: perMinute, now: now)].take(at: now)
        }
    }
}
