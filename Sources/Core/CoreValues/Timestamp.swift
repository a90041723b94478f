/// An instant as whole milliseconds since 1970-01-01 UTC, the form of stores and wires.
///
/// Arithmetic saturates at the ends of `Int64`, so that no untrusted number can trap.
package struct Timestamp: Hashable, Comparable, Sendable, RawRepresentable {
    /// Milliseconds since 1970-01-01 UTC, negative before; any number.
    package let rawValue: Int64
    /// Creates an instant from milliseconds since 1970-01-01 UTC.
    package init(rawValue: Int64) { self.rawValue = rawValue }

    /// Creates the instant `seconds` after 1970, saturated.
    package init(seconds: Int64) {
        let (product, overflow) = seconds.multipliedReportingOverflow(by: 1000)
        rawValue = overflow ? (seconds < 0 ? .min : .max) : product
    }

    package static func < (left: Timestamp, right: Timestamp) -> Bool { left.rawValue < right.rawValue }

    /// The instant `milliseconds` later (earlier when negative), saturated.
    package func adding(milliseconds: Int64) -> Timestamp {
        let (sum, overflow) = rawValue.addingReportingOverflow(milliseconds)
        return Timestamp(rawValue: overflow ? (milliseconds < 0 ? .min : .max) : sum)
    }

    /// Milliseconds from `earlier` to this instant, saturated.
    package func milliseconds(since earlier: Timestamp) -> Int64 {
        let (difference, overflow) = rawValue.subtractingReportingOverflow(earlier.rawValue)
        return overflow ? (rawValue < 0 ? .min : .max) : difference
    }

    /// The time from `earlier` to this instant, in whole milliseconds, saturated.
    package func duration(since earlier: Timestamp) -> Duration { .milliseconds(milliseconds(since: earlier)) }

    /// The instant a duration later, in whole milliseconds, saturated.
    package static func + (instant: Timestamp, duration: Duration) -> Timestamp {
        let (seconds, attoseconds) = duration.components
        let (product, overflow) = seconds.multipliedReportingOverflow(by: 1000)
        // The remainder of a second has the sign of the seconds.
        guard !overflow else { return Timestamp(rawValue: seconds < 0 ? .min : .max) }
        return instant.adding(milliseconds: product).adding(milliseconds: attoseconds / 1_000_000_000_000_000)
    }

    /// The instant a duration earlier, in whole milliseconds, saturated.
    package static func - (instant: Timestamp, duration: Duration) -> Timestamp { instant + (.zero - duration) }

    /// The earliest instant.
    package static let distantPast = Timestamp(rawValue: .min)
    /// The latest instant; an expiration that is never reached.
    package static let distantFuture = Timestamp(rawValue: .max)
}

extension Timestamp: CustomStringConvertible {
    /// The text in ISO 8601, in UTC with milliseconds, `2026-11-21T04:05:06.789Z`; proleptic Gregorian, any year.
    package var description: String {
        let day: Int64 = 86_400_000
        let days = rawValue >= 0 ? rawValue / day : -((-(rawValue + 1)) / day) - 1
        // Near `Int64.min` the product overflows; the difference is still correct, since it is within a day.
        let inDay = rawValue &- days &* day
        // Days to civil date, counted in 400-year eras that begin on 1 March.
        let shifted = days + 719_468
        let era = (shifted >= 0 ? shifted : shifted - 146_096) / 146_097
        let dayOfEra = shifted - era * 146_097
        let yearOfEra = (dayOfEra - dayOfEra / 1460 + dayOfEra / 36_524 - dayOfEra / 146_096) / 365
        let dayOfYear = dayOfEra - (365 * yearOfEra + yearOfEra / 4 - yearOfEra / 100)
        let marchMonth = (5 * dayOfYear + 2) / 153
        let dayOfMonth = dayOfYear - (153 * marchMonth + 2) / 5 + 1
        let month = marchMonth < 10 ? marchMonth + 3 : marchMonth - 9
        let year = yearOfEra + era * 400 + (month <= 2 ? 1 : 0)
        func padded(_ value: Int64, _ width: Int) -> String {
            let digits = String(value)
            return String(repeating: "0", count: max(0, width - digits.count)) + digits
        }
        let date = "\(padded(year, 4))-\(padded(month, 2))-\(padded(dayOfMonth, 2))"
        let clock =
            "\(padded(inDay / 3_600_000, 2)):\(padded(inDay / 60_000 % 60, 2)):\(padded(inDay / 1000 % 60, 2))"
        return "\(date)T\(clock).\(padded(inDay % 1000, 3))Z"
    }
}
