import Foundation

/// A point in time: milliseconds since 1970-01-01T00:00:00Z without leap seconds, as CLOCK_REALTIME counts.
///
/// Arithmetic saturates at `min` and `max`; nothing traps.
public struct Instant: Hashable, Comparable, Sendable, Codable {
    /// Milliseconds since 1970-01-01T00:00:00Z.
    public var milliseconds: Int64

    /// An instant so many milliseconds after 1970-01-01T00:00:00Z.
    public init(milliseconds: Int64) { self.milliseconds = milliseconds }

    /// An instant so many seconds after 1970-01-01T00:00:00Z, saturated.
    public init(seconds: Int64) { milliseconds = seconds.saturatingProduct(1000) }

    /// A date, rounded down to milliseconds and saturated; a date that is not a number becomes `min`.
    public init(_ date: Date) {
        // A date is a floating-point number of seconds since 2001, which most milliseconds are not exactly: a tenth of a
        // millisecond is tolerated.
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

    /// The earliest instant.
    public static let min = Instant(milliseconds: .min)
    /// The latest instant.
    public static let max = Instant(milliseconds: .max)

    /// The instant as Foundation's date.
    public var date: Date { Date(timeIntervalSince1970: Double(milliseconds) / 1000) }

    public static func < (left: Instant, right: Instant) -> Bool { left.milliseconds < right.milliseconds }

    /// The instant so many milliseconds later, or earlier when negative, saturated.
    public func advanced(by milliseconds: Int64) -> Instant {
        Instant(milliseconds: self.milliseconds.saturatingSum(milliseconds))
    }

    /// The local time at an offset in seconds east of UTC, in the format of ISO 8601: `2026-03-29T03:00:00+02:00`.
    public func text(secondsFromGMT offset: Int) -> String {
        let zone = TimeZone(secondsFromGMT: offset) ?? .gmt
        return date.formatted(
            Date.ISO8601FormatStyle(timeZoneSeparator: .colon, timeZone: zone))
    }

    /// The milliseconds since another instant, saturated; negative when the other one is later.
    public func since(_ other: Instant) -> Int64 { milliseconds.saturatingDifference(other.milliseconds) }
}

extension Int64 {
    /// The sum, saturated.
    func saturatingSum(_ other: Int64) -> Int64 {
        let (sum, overflow) = addingReportingOverflow(other)
        return overflow ? (other < 0 ? .min : .max) : sum
    }

    /// The difference, saturated.
    func saturatingDifference(_ other: Int64) -> Int64 {
        let (difference, overflow) = subtractingReportingOverflow(other)
        return overflow ? (other < 0 ? .max : .min) : difference
    }

    /// The product, saturated.
    func saturatingProduct(_ other: Int64) -> Int64 {
        let (product, overflow) = multipliedReportingOverflow(by: other)
        return overflow ? ((self < 0) == (other < 0) ? .max : .min) : product
    }

    /// The quotient by a positive divisor, rounded down.
    func floorDivided(by divisor: Int64) -> Int64 {
        let (quotient, rest) = quotientAndRemainder(dividingBy: divisor)
        return rest < 0 ? quotient - 1 : quotient
    }
}
