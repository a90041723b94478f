/// The delays before retries of a failed operation: twice as long each time, up to a maximum.
///
/// A single client uses ``next()`` or ``deadline()``. Many clients that lost the same server should not reconnect
/// together: they use ``next(using:)``, which has full jitter.
package struct BackOff: Hashable, Sendable {
    /// The first delay, or with jitter its maximum, in milliseconds.
    package let base: Int64
    /// The maximum delay, in milliseconds.
    package let cap: Int64
    /// The number of delays since the start or the last ``reset()``; at most 62.
    package private(set) var attempts = 0

    /// Creates delays in milliseconds.
    ///
    /// - Parameters:
    ///   - base: The first delay, at least 1 millisecond; a lower value counts as 1.
    ///   - cap: The maximum delay, at least `base`.
    package init(base: Int64, cap: Int64) {
        self.base = max(1, base)
        self.cap = max(self.base, cap)
    }

    /// Creates delays from durations, in whole milliseconds; by default 1 s, 2 s, … 60 s.
    package init(base: Duration = .seconds(1), cap: Duration = .seconds(60)) {
        self.init(base: base.milliseconds, cap: cap.milliseconds)
    }

    /// The next delay in milliseconds: `base`, doubled with each attempt, up to `cap`.
    package mutating func next() -> Int64 {
        let (doubled, overflow) = base.multipliedReportingOverflow(by: 1 << Int64(attempts))
        attempts = min(attempts + 1, 62)
        return overflow ? cap : min(doubled, cap)
    }

    /// The next delay with jitter in milliseconds: any number from 0 to the result of ``next()``.
    package mutating func next(using random: inout some RandomNumberGenerator) -> Int64 {
        let ceiling = next()
        // One draw, scaled: `Int64.random` draws again until a number is suitable, and a source that always returns the
        // same would never end. The bias is one part in 2^64 of the range.
        return Int64(random.next().multipliedFullWidth(by: UInt64(ceiling) + 1).high)
    }

    /// The time of the next attempt: ``next()`` from now on.
    package mutating func deadline() -> ContinuousClock.Instant { .now + .milliseconds(next()) }

    /// Resets the delays after a success, or a login that lasted: the next attempt counts as the first.
    package mutating func reset() { attempts = 0 }
}
