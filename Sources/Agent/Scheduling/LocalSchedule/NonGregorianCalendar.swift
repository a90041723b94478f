import Foundation

/// A non-Gregorian calendar of Foundation, asked for single days; the segments of months are derived from these.
struct NonGregorianCalendar: Sendable {
    struct Day {
        var number: Int
        var era: Int
        var year: Int
        var month: Int
        var isLeap: Bool
        var day: Int
        var dayOfYear: Int

        var yearFirst: Int { number - dayOfYear + 1 }

        /// Whether both are in one month, and their days of the month differ by as much as their day numbers.
        func isInOneRow(with other: Day) -> Bool {
            isInOneMonth(with: other) && day - other.day == number - other.number
        }

        func isInOneMonth(with other: Day) -> Bool {
            month == other.month && isLeap == other.isLeap && year == other.year && era == other.era
        }

        /// The first day of its month, if the days of the month are consecutive.
        var first: Day {
            var first = self
            first.number -= day - 1
            first.dayOfYear -= day - 1
            first.day = 1
            return first
        }
    }

    /// More days than any month has.
    private static let beyondMonth = 33
    private static let components: Set<Calendar.Component> = [.era, .year, .month, .isLeapMonth, .day, .dayOfYear]

    /// The number of years of a cycle, for a calendar that numbers years in cycles.
    let cycle: Int?
    private let calendar: Calendar

    init(_ identifier: Calendar.Identifier) {
        var calendar = Calendar(identifier: identifier)
        // Days are those of UTC: skipped and repeated local times are not left to Foundation.
        calendar.timeZone = .gmt
        self.calendar = calendar
        cycle = calendar.maximumRange(of: .year).flatMap { $0.lowerBound == 1 && $0.count < 1000 ? $0.count : nil }
    }

    /// Whether its dates are those of the Gregorian calendar, which Foundation uses for calendars that it does not
    /// know.
    var isGregorian: Bool {
        [0, 10_000, 20_000].allSatisfy { number in
            let date = GregorianCalendar.date(ofDay: number)
            guard let day = self[number] else { return false }
            return (day.year, day.month, day.day) == (date.year, date.month, date.day)
        }
    }

    /// A day by its day number; `nil` when Foundation does not know its day of the year.
    subscript(number: Int) -> Day? {
        let found = calendar.dateComponents(Self.components, from: Self.date(of: number))
        guard let era = found.era, let year = found.year, let month = found.month, let day = found.day,
            let dayOfYear = found.dayOfYear, dayOfYear > 0
        else { return nil }
        return Day(
            number: number, era: era, year: year, month: month, isLeap: found.isLeapMonth ?? false, day: day,
            dayOfYear: dayOfYear)
    }

    /// The number of a year through all eras, by its first day: Foundation has it as `yearForWeekOfYear`.
    func number(ofYearFrom first: Int) -> Int {
        // A day in the middle of the year, whose week is in no other year.
        calendar.component(.yearForWeekOfYear, from: Self.date(of: first + 100))
    }

    /// The segments of a range of days, in order; fewer where Foundation does not know a day.
    func segments(in days: Range<Int>) -> [MonthTable.Segment] {
        var found: [MonthTable.Segment] = []
        guard var day = self[days.lowerBound] else { return [] }
        while day.number < days.upperBound, let next = beginning(after: day) {
            let isSameYear = found.last.map { Int($0.yearFirst) == day.yearFirst } ?? false
            let number = isSameYear ? found.last?.number : Int16(clamping: number(ofYearFrom: day.yearFirst))
            found.append(
                MonthTable.Segment(
                    first: Int32(clamping: day.number), yearFirst: Int32(clamping: day.yearFirst),
                    era: Int16(clamping: day.era), year: Int16(clamping: day.year), number: number ?? 0,
                    length: UInt8(clamping: min(next.number, days.upperBound) - day.number),
                    month: UInt8(clamping: day.month), firstDay: Int8(clamping: day.day), isLeap: day.isLeap))
            day = next
        }
        return found
    }

    /// The first day after the segment of a day.
    private func beginning(after day: Day) -> Day? {
        // A day of the next month gives the beginning of that month, unless days before it are left out or misnumbered:
        // Foundation numbers a few days "0". Every month has 29 days at least.
        if let guess = self[day.number - day.day + Self.beyondMonth]?.first, guess.number > day.number,
            guess.number - day.number < Self.beyondMonth, !guess.isInOneMonth(with: day),
            guess.number - day.number + day.day == 30 || self[guess.number - 1]?.isInOneRow(with: day) == true
        {
            return guess
        }
        for number in day.number + 1...day.number + Self.beyondMonth {
            guard let next = self[number] else { return nil }
            if !next.isInOneRow(with: day) { return next }
        }
        return nil
    }

    private static func date(of number: Int) -> Date {
        Date(timeIntervalSince1970: Double(number) * Double(GregorianCalendar.secondsPerDay))
    }
}
