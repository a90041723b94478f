/// How long to wait before the next attempt: exponential with full jitter, so that many devices that lost the
/// same server do not come back together.
public struct BackOff: Hashable, Sendable {
    /// The longest first delay, in milliseconds.
    public let base: Int64
    /// The longest delay of all, in milliseconds.
    public let cap: Int64
    /// How many delays were taken since the start or the last ``reset()``.
    public private(set) var attempts = 0

    /// - Parameters:
    ///   - base: At least 1 millisecond; less is taken as 1.
    ///   - cap: At least `base`.
    public init(base: Int64, cap: Int64) {
        self.base = max(1, base)
        self.cap = max(self.base, cap)
    }

    /// The next delay: anything from 0 to `base`, doubled with each attempt, up to `cap`. In milliseconds.
    public mutating func next(using random: inout some RandomNumberGenerator) -> Int64 {
        let doublings = min(attempts, 62)
        attempts = min(attempts + 1, 62)
        let (doubled, overflow) = base.multipliedReportingOverflow(by: 1 << Int64(doublings))
        let ceiling = overflow ? cap : min(doubled, cap)
        // One draw, scaled: `Int64.random` draws again until it likes the number, and a source that always says
        // the same would hold it for ever. What this favours is one part in 2^64 of the range.
        return Int64(random.next().multipliedFullWidth(by: UInt64(ceiling) + 1).high)
    }

    /// The next attempt is a first one again: call it once a login has lasted.
    public mutating func reset() { attempts = 0 }
}
