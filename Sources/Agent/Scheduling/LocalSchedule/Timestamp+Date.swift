import CoreValues
import Foundation

extension Timestamp {
    /// A date, rounded down to milliseconds and saturated; a date that is not a number becomes ``distantPast``.
    package init(_ date: Date) {
        // A date is a floating-point number of seconds since 2001, which most milliseconds are not exactly: a tenth of
        // a millisecond is tolerated.
        let value = (date.timeIntervalSince1970 * 1000 + 0.1).rounded(.down)
        let milliseconds: Int64 =
            if value >= 0x1p63 {
                .max
            } else if value >= -0x1p63 {
                Int64(value)
            } else {
                .min
            }
        self.init(rawValue: milliseconds)
    }

    /// The instant as Foundation's date.
    package var date: Date { Date(timeIntervalSince1970: Double(rawValue) / 1000) }

    /// The local time at an offset in seconds east of UTC, in the format of ISO 8601: `2026-03-29T03:00:00+02:00`.
    package func text(secondsFromGMT offset: Int) -> String {
        let zone = TimeZone(secondsFromGMT: offset) ?? .gmt
        return date.formatted(
            Date.ISO8601FormatStyle(timeZoneSeparator: .colon, timeZone: zone))
    }
}
