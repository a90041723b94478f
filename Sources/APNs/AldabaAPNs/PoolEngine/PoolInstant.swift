/// A time of a monotonic clock, in nanoseconds.
///
/// `ContinuousClock.Instant` is copied by calls of the runtime, in every structure that contains one.
struct PoolInstant: Sendable, Hashable, Comparable {
    var nanoseconds: Int64

    static func < (left: PoolInstant, right: PoolInstant) -> Bool { left.nanoseconds < right.nanoseconds }

    static func + (instant: PoolInstant, duration: Duration) -> PoolInstant {
        let (seconds, attoseconds) = duration.components
        // A deadline beyond the clock's end, in 292 years, is its end.
        let (whole, overflow) = seconds.multipliedReportingOverflow(by: 1_000_000_000)
        let (sum, overflowToo) = instant.nanoseconds.addingReportingOverflow(whole &+ attoseconds / 1_000_000_000)
        return PoolInstant(nanoseconds: overflow || overflowToo ? (seconds < 0 ? .min : .max) : sum)
    }

    static func - (left: PoolInstant, right: PoolInstant) -> Duration {
        .nanoseconds(left.nanoseconds.subtractingReportingOverflow(right.nanoseconds).partialValue)
    }
}
