import PushCore
import PushServer
import Synchronization

/// The quotas of projects for requests that add or remove subscriptions. Thread-safe.
///
/// A request counts once, however many registration tokens it contains.
package final class SubscriptionQuotas: Sendable {
    /// The requests per second where nothing else is configured: FCM's own quota.
    package static let standard = 3000

    private let perSecond: Double
    private let clock: @Sendable () -> Timestamp
    /// The bucket of each project that made a request; callers that may act for every team share one.
    private let buckets = Mutex<[TeamID?: TokenBucket]>([:])

    /// Creates full quotas.
    ///
    /// - Parameter perSecond: The requests per second, at least 1, which is also the maximum burst.
    package init(perSecond: Int = SubscriptionQuotas.standard, clock: @escaping @Sendable () -> Timestamp) {
        self.perSecond = Double(max(1, perSecond))
        self.clock = clock
    }

    /// Counts a request of a project.
    ///
    /// - Returns: `nil` where it may be made; otherwise the seconds after which one may.
    package func take(_ team: TeamID?) -> Int? {
        let now = clock()
        return buckets.withLock { buckets in
            buckets[team, default: TokenBucket(capacity: perSecond, perSecond: perSecond, now: now)].take(at: now)
        }
    }
}
