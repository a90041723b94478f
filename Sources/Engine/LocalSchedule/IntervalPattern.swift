/// So much time after a beginning, once or again and again.
public struct IntervalPattern: Hashable, Sendable {
    /// At least one.
    public let milliseconds: Int64
    public let repeats: Bool

    /// The shortest interval that repeats, in seconds.
    public static let shortestRepeated = 60.0

    /// `nil` for an interval that is not greater than 0 or not finite, and for one that repeats within a minute. Rounded to
    /// milliseconds; one of more than 300 years counts as that.
    public init?(seconds: Double, repeats: Bool) {
        guard seconds > 0, seconds.isFinite, !repeats || seconds >= Self.shortestRepeated else { return nil }
        milliseconds = max(1, Int64((min(seconds, 1e10) * 1000).rounded()))
        self.repeats = repeats
    }

    /// The first occurrence after an instant, each being a whole number of intervals after the beginning; `nil` when there
    /// is none.
    public func nextFire(start: Instant, after: Instant) -> Instant? {
        let passed = after.since(start)
        guard repeats else { return passed < milliseconds ? start.advanced(by: milliseconds) : nil }
        let number = passed < milliseconds ? 1 : passed / milliseconds + 1
        let next = start.advanced(by: number.saturatingProduct(milliseconds))
        return next > after ? next : nil
    }
}
