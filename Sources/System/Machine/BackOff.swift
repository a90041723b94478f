/// How long to wait before something that failed is tried again: twice as long each time, up to a longest delay.
///
/// Who is alone takes ``next()`` or ``deadline()``. Many that lost the same server should not come back together: they take
/// ``next(using:)``, which has full jitter.
package struct BackOff: Hashable, Sendable {
    /// The longest first delay, in milliseconds.
    package let base: Int64
    /// The longest delay of all, in milliseconds.
    package let cap: Int64
    /// How many delays were taken since the start or the last ``reset()``; at most 62.
    package private(set) var attempts = 0

    /// The delays in milliseconds.
    ///
    /// - Parameters:
    ///   - base: At least 1 millisecond; less is taken as 1.
    ///   - cap: At least `base`.
    package init(base: Int64, cap: Int64) {
        self.base = max(1, base)
        self.cap = max(self.base, cap)
    }

    /// The same in whole milliseconds of durations; 1 s, 2 s, … 60 s unless told otherwise.
    package init(base: Duration = .seconds(1), cap: Duration = .seconds(60)) {
        self.init(base: base.milliseconds, cap: cap.milliseconds)
    }

    /// The next delay: `base`, doubled with each attempt, up to `cap`. In milliseconds.
    package mutating func next() -> Int64 {
        let (doubled, overflow) = base.multipliedReportingOverflow(by: 1 << Int64(attempts))
        attempts = min(attempts + 1, 62)
        return overflow ? cap : min(doubled, cap)
    }

    /// The next delay with jitter: anything from 0 to what ``next()`` would be. In milliseconds.
    package mutating func next(using random: inout some RandomNumberGenerator) -> Int64 {
        let ceiling = next()
        // One draw, scaled: `Int64.random` draws again until it likes the number, and a source that always says
        // the same would hold it for ever. What this favours is one part in 2^64 of the range.
        return Int64(random.next().multipliedFullWidth(by: UInt64(ceiling) + 1).high)
    }

    /// When to try again, from now on: after ``next()``.
    package mutating func deadline() -> ContinuousClock.Instant { .now + .milliseconds(next()) }

    /// It went well, or a login has lasted: the next attempt is a first one again.
    package mutating func reset() { attempts = 0 }
}
