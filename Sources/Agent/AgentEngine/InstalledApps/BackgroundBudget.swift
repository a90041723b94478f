import PushCore

/// Limits how often an app may be woken for notifications without visible content: a token bucket, as a value.
///
/// Apple names no number but "two or three an hour"; here one wake is earned every twenty minutes, up to ten.
package struct BackgroundBudget: Hashable, Sendable {
    /// The most wakes that are left at once.
    package static let capacity = 10
    private static let secondsPerWake = 20.0 * 60

    private var wakes: TokenBucket?

    /// All wakes are left.
    package init() {}

    private func bucket(at now: Timestamp) -> TokenBucket {
        wakes ?? TokenBucket(capacity: Double(Self.capacity), perSecond: 1 / Self.secondsPerWake, now: now)
    }

    /// The time until the next wake is earned, when the budget is spent.
    package func pause(at now: Timestamp) -> Duration {
        var bucket = bucket(at: now)
        return .milliseconds((bucket.wait(at: now) ?? 0).rounded(.up))
    }

    /// Takes one wake; `false` when the budget is spent.
    package mutating func take(at now: Timestamp) -> Bool {
        var bucket = bucket(at: now)
        defer { wakes = bucket }
        return bucket.take(at: now) == nil
    }
}
