import PushModel
import RegisterCore
import Synchronization

/// How many requests each project may make that add or remove subscriptions. Thread-safe.
///
/// A request counts once, however many registration tokens it names.
package final class SubscriptionQuotas: Sendable {
    /// Requests a second where nothing else is configured: FCM's own quota.
    package static let standard = 3000

    private let perSecond: Double
    private let clock: @Sendable () -> Timestamp
    /// One for each project that made a request; those who may act for every team share one.
    private let buckets = Mutex<[TeamID?: TokenBucket]>([:])

    /// Full quotas.
    ///
    /// - Parameter perSecond: At least 1; as many requests may come at once.
    package init(perSecond: Int = SubscriptionQuotas.standard, clock: @escaping @Sendable () -> Timestamp) {
        self.perSecond = Double(max(1, perSecond))
        self.clock = clock
    }

    /// Counts a request of a project.
    ///
    /// - Returns: `nil` where it may be made; else the seconds after which one may.
    package func take(_ team: TeamID?) -> Int? {
        let now = clock()
        return buckets.withLock { buckets in
            buckets[team, default: TokenBucket(capacity: perSecond, perSecond: perSecond, now: now)].take(at: now)
        }
    }
}
