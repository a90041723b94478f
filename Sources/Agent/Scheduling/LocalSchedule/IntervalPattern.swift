import CoreValues

/// An interval after a start, once or repeatedly.
package struct IntervalPattern: Hashable, Sendable {
    /// The interval in milliseconds, at least 1.
    package let milliseconds: Int64
    /// Whether it fires after every further interval too.
    package let repeats: Bool

    /// The shortest interval that repeats, in seconds.
    package static let shortestRepeated = 60.0

    /// `nil` for an interval that is not finite or not greater than 0, and for one that repeats within a minute. It is
    /// rounded to milliseconds, and clamped to 10,000,000,000 seconds (about 300 years).
    package init?(seconds: Double, repeats: Bool) {
        guard seconds > 0, seconds.isFinite, !repeats || seconds >= Self.shortestRepeated else { return nil }
        milliseconds = max(1, Int64((min(seconds, 1e10) * 1000).rounded()))
        self.repeats = repeats
    }

    /// The first occurrence after an instant; `nil` when there is none. Occurrences are whole multiples of the interval
    /// after the start.
    package func nextFire(start: Timestamp, after: Timestamp) -> Timestamp? {
        let passed = after.milliseconds(since: start)
        guard repeats else { return passed < milliseconds ? start.adding(milliseconds: milliseconds) : nil }
        let number = passed < milliseconds ? 1 : passed / milliseconds + 1
        let next = start.adding(milliseconds: number.saturatingProduct(milliseconds))
        return next > after ? next : nil
    }
}
