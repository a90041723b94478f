import PushCore

/// A day of the Gregorian calendar in UTC, counted from 1970-01-01.
package struct ReportDay: Hashable, Comparable, Sendable, CustomStringConvertible {
    /// The number of days after 1970-01-01.
    package let number: Int64

    /// Creates the day with a number.
    package init(number: Int64) { self.number = number }

    /// The day that contains an instant.
    package init(_ instant: Timestamp) {
        let (days, rest) = instant.rawValue.quotientAndRemainder(dividingBy: 86_400_000)
        number = rest < 0 ? days - 1 : days
    }

    /// Parses `YYYY-MM-DD`, of the years 1970 to 9999; `nil` for any other text.
    package init?(text: some StringProtocol) {
        let parts = text.split(separator: "-", omittingEmptySubsequences: false)
        guard parts.count == 3, parts.map(\.utf8.count) == [4, 2, 2],
            parts.allSatisfy({ $0.utf8.allSatisfy { (48...57).contains($0) } }), let year = Int64(parts[0]),
            let month = Int64(parts[1]), let day = Int64(parts[2]), year >= 1970, (1...12).contains(month), day >= 1
        else { return nil }
        let found = ReportDay(year: year, month: month, day: day)
        // A day after the end of its month yields a day of the next month.
        guard found.date == (year, month, day) else { return nil }
        self = found
    }

    /// Counts days by years that begin in March, so that the leap day is the last.
    private init(year: Int64, month: Int64, day: Int64) {
        let shifted = month <= 2 ? year - 1 : year
        let (era, yearOfEra) = (shifted / 400, shifted % 400)
        let dayOfYear = (153 * (month + (month > 2 ? -3 : 9)) + 2) / 5 + day - 1
        number = era * 146_097 + yearOfEra * 365 + yearOfEra / 4 - yearOfEra / 100 + dayOfYear - 719_468
    }

    /// The year, month and day.
    package var date: (year: Int64, month: Int64, day: Int64) {
        let shifted = number + 719_468
        let (era, dayOfEra) = (shifted / 146_097, shifted % 146_097)
        let yearOfEra = (dayOfEra - dayOfEra / 1460 + dayOfEra / 36_524 - dayOfEra / 146_096) / 365
        let dayOfYear = dayOfEra - (365 * yearOfEra + yearOfEra / 4 - yearOfEra / 100)
        let shiftedMonth = (5 * dayOfYear + 2) / 153
        let month = shiftedMonth < 10 ? shiftedMonth + 3 : shiftedMonth - 9
        return (
            era * 400 + yearOfEra + (month <= 2 ? 1 : 0), month, dayOfYear - (153 * shiftedMonth + 2) / 5 + 1
        )
    }

    /// The first instant of the day.
    package var beginning: Timestamp {
        Timestamp(rawValue: number.multipliedReportingOverflow(by: 86_400_000).partialValue)
    }

    /// The day in the form `YYYY-MM-DD`.
    package var description: String {
        func padded(_ value: Int64, _ width: Int) -> String {
            let text = String(value)
            return String(repeating: "0", count: max(0, width - text.count)) + text
        }
        let (year, month, day) = date
        return "\(padded(year, 4))-\(padded(month, 2))-\(padded(day, 2))"
    }

    package static func < (left: ReportDay, right: ReportDay) -> Bool { left.number < right.number }

    /// The day that is `count` days later.
    package static func + (day: ReportDay, count: Int64) -> ReportDay { ReportDay(number: day.number + count) }
}
