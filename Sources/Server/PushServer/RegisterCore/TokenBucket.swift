import PushCore

/// A quota as a bucket of tokens that is filled steadily: a value.
package struct TokenBucket: Hashable, Sendable {
    private let capacity: Double
    private let perSecond: Double
    private var tokens: Double
    private var filledAt: Timestamp

    /// Creates a full bucket.
    ///
    /// - Parameters:
    ///   - capacity: The maximum number of tokens, at least 1.
    ///   - perSecond: The number of tokens added per second, more than 0.
    package init(capacity: Double, perSecond: Double, now: Timestamp) {
        self.capacity = capacity
        self.perSecond = perSecond
        tokens = capacity
        filledAt = now
    }

    /// Takes a token.
    ///
    /// - Returns: `nil` when there was one; otherwise the whole seconds after which there is one, at least 1.
    package mutating func take(at now: Timestamp) -> Int? {
        // A clock that was set back must add nothing.
        let elapsed = max(0, now.milliseconds(since: filledAt))
        tokens = min(capacity, tokens + Double(elapsed) * perSecond / 1000)
        filledAt = now
        guard tokens >= 1 else { return max(1, Int(((1 - tokens) / perSecond).rounded(.up))) }
        tokens -= 1
        return nil
    }
}
