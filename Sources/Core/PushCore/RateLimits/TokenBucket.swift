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

    /// The milliseconds until there is a token; `nil` when there is one now. None is taken.
    package mutating func wait(at now: Timestamp) -> Double? {
        // A clock that was set back must add nothing.
        let elapsed = max(0, now.milliseconds(since: filledAt))
        tokens = min(capacity, tokens + Double(elapsed) * perSecond / 1000)
        filledAt = now
        // Fractions that add up to one must count as one.
        return tokens >= 1 - 1e-9 ? nil : (1 - tokens) / perSecond * 1000
    }

    /// Takes a token that ``wait(at:)`` has found.
    package mutating func spend() { tokens -= 1 }

    /// Takes a token.
    ///
    /// - Returns: `nil` when there was one; otherwise the whole seconds after which there is one, at least 1.
    package mutating func take(at now: Timestamp) -> Int? {
        if let milliseconds = wait(at: now) { return max(1, Int((milliseconds / 1000).rounded(.up))) }
        spend()
        return nil
    }
}
