import PushModel
import Synchronization

/// How many messages a project may send: a token bucket, filled steadily, that holds a minute's share.
package struct SendQuota: Hashable, Sendable {
    /// Messages a minute where nothing else is configured: FCM's own quota.
    package static let standard = 600_000

    private let perMinute: Double
    private var tokens: Double
    private var filledAt: Timestamp

    /// A full bucket.
    package init(perMinute: Int, now: Timestamp) {
        self.perMinute = Double(max(1, perMinute))
        tokens = self.perMinute
        filledAt = now
    }

    /// Takes a message's token.
    ///
    /// - Returns: `nil` when there was one; else the seconds after which there is one.
    package mutating func take(at now: Timestamp) -> Int? {
        // A clock that was set back fills nothing.
        let elapsed = max(0, now.milliseconds(since: filledAt))
        tokens = min(perMinute, tokens + Double(elapsed) * perMinute / 60_000)
        filledAt = now
        guard tokens >= 1 else { return max(1, Int(((1 - tokens) * 60 / perMinute).rounded(.up))) }
        tokens -= 1
        return nil
    }
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
