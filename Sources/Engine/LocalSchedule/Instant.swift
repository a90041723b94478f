import Foundation

/// A point of time: milliseconds since 1970, UTC, without leap seconds, as the system's clock counts.
///
/// Sums that do not fit end at `min` or `max`; nothing traps.
public struct Instant: Hashable, Comparable, Sendable, Codable {
    /// Milliseconds since 1970-01-01T00:00:00Z.
    public var milliseconds: Int64

    public init(milliseconds: Int64) { self.milliseconds = milliseconds }

    /// Seconds since 1970, as nearly as it can be told; what is beyond the range becomes `min` or `max`.
    public init(seconds: Int64) { milliseconds = seconds.saturatingProduct(1000) }

    /// The millisecond within which a date lies; one beyond the range, or not a number, becomes `min` or `max`.
    public init(_ date: Date) {
        // A date holds seconds since 2001, so a millisecond seldom is a whole number of them: a tenth of one is forgiven.
        let value = (date.timeIntervalSince1970 * 1000 + 0.1).rounded(.down)
        milliseconds =
            if value >= 0x1p63 {
                .max
            } else if value >= -0x1p63 {
                Int64(value)
            } else {
                .min
            }
    }

    /// The earliest one that can be told.
    public static let min = Instant(milliseconds: .min)
    /// The latest one that can be told.
    public static let max = Instant(milliseconds: .max)

    /// The same point of time for Foundation.
    public var date: Date { Date(timeIntervalSince1970: Double(milliseconds) / 1000) }

    public static func < (left: Instant, right: Instant) -> Bool { left.milliseconds < right.milliseconds }

    /// So many milliseconds later, or earlier when negative; ends at `min` and `max`.
    public func advanced(by milliseconds: Int64) -> Instant {
        Instant(milliseconds: self.milliseconds.saturatingSum(milliseconds))
    }

    /// What clocks show that are so many seconds east of UTC, to the second, with that offset: `2026-03-29T03:00:00+02:00`.
    public func text(secondsFromGMT offset: Int) -> String {
        let zone = TimeZone(secondsFromGMT: offset) ?? .gmt
        return date.formatted(
            Date.ISO8601FormatStyle(timeZoneSeparator: .colon, timeZone: zone))
    }

    /// The milliseconds from another one to this; negative when the other is later. Ends at the range of `Int64`.
    public func since(_ other: Instant) -> Int64 { milliseconds.saturatingDifference(other.milliseconds) }
}

extension Int64 {
    /// The sum, or the end of the range that it would go beyond.
    func saturatingSum(_ other: Int64) -> Int64 {
        let (sum, overflow) = addingReportingOverflow(other)
        return overflow ? (other < 0 ? .min : .max) : sum
    }

    /// The difference, or the end of the range that it would go beyond.
    func saturatingDifference(_ other: Int64) -> Int64 {
        let (difference, overflow) = subtractingReportingOverflow(other)
        return overflow ? (other < 0 ? .max : .min) : difference
    }

    /// The product, or the end of the range that it would go beyond.
    func saturatingProduct(_ other: Int64) -> Int64 {
        let (product, overflow) = multipliedReportingOverflow(by: other)
        return overflow ? ((self < 0) == (other < 0) ? .max : .min) : product
    }

    /// The quotient rounded down, of a positive divisor.
    func floorDivided(by divisor: Int64) -> Int64 {
        let (quotient, rest) = quotientAndRemainder(dividingBy: divisor)
        return rest < 0 ? quotient - 1 : quotient
    }
}
