import PushCore

/// Limits how often an app may be woken for notifications without visible content: a token bucket, as a value.
///
/// Apple names no number but "two or three an hour"; here one wake is earned every twenty minutes, up to ten.
package struct BackgroundBudget: Hashable, Sendable {
    /// The most wakes that are left at once.
    package static let capacity = 10
    private static let millisecondsPerWake: Int64 = 20 * 60_000

    private var wakes = Self.capacity
    private var countedAt: Timestamp?

    /// All wakes are left.
    package init() {}

    /// The time until the next wake is earned, when the budget is spent.
    package func pause(at now: Timestamp) -> Duration {
        let since = countedAt.map { max(0, now.milliseconds(since: $0)) } ?? 0
        return .milliseconds(Self.millisecondsPerWake - min(since, Self.millisecondsPerWake - 1))
    }

    /// Takes one wake; `false` when the budget is spent.
    package mutating func take(at now: Timestamp) -> Bool {
        let since = countedAt.map { max(0, now.milliseconds(since: $0)) } ?? 0
        let earned = since / Self.millisecondsPerWake
        if countedAt == nil || wakes + Int(clamping: earned) >= Self.capacity {
            (wakes, countedAt) = (Self.capacity, now)
        } else {
            wakes += Int(earned)
            countedAt = countedAt?.adding(milliseconds: earned * Self.millisecondsPerWake)
        }
        guard wakes > 0 else { return false }
        wakes -= 1
        return true
    }
}
