import Foundation

/// What Foundation says of single days of a calendar, and the stretches that follow from that.
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

        /// Whether both are of one month, and called as their distance says.
        func isInOneRow(with other: Day) -> Bool {
            isInOneMonth(with: other) && day - other.day == number - other.number
        }

        func isInOneMonth(with other: Day) -> Bool {
            month == other.month && isLeap == other.isLeap && year == other.year && era == other.era
        }

        /// The first of its month, were its days called one after the other.
        var first: Day {
            var first = self
            first.number -= day - 1
            first.dayOfYear -= day - 1
            first.day = 1
            return first
        }
    }

    /// Days that no month has.
    private static let beyondMonth = 33
    private static let components: Set<Calendar.Component> = [.era, .year, .month, .isLeapMonth, .day, .dayOfYear]

    /// How many years a cycle has, of a calendar that numbers them within one.
    let cycle: Int?
    private let calendar: Calendar

    init(_ identifier: Calendar.Identifier) {
        var calendar = Calendar(identifier: identifier)
        // Days are asked for as those of UTC, so that the rules for what clocks skip and repeat stay ours.
        calendar.timeZone = .gmt
        self.calendar = calendar
        cycle = calendar.maximumRange(of: .year).flatMap { $0.lowerBound == 1 && $0.count < 1000 ? $0.count : nil }
    }

    /// Whether its days are called as those of the Gregorian calendar: Foundation takes calendars for that which it does not know.
    var isGregorian: Bool {
        [0, 10_000, 20_000].allSatisfy { number in
            let date = Civil.date(ofDay: number)
            guard let day = self[number] else { return false }
            return (day.year, day.month, day.day) == (date.year, date.month, date.day)
        }
    }

    /// A day by its number; `nil` when Foundation does not tell where in its year it is.
    subscript(number: Int) -> Day? {
        let found = calendar.dateComponents(Self.components, from: Self.date(of: number))
        guard let era = found.era, let year = found.year, let month = found.month, let day = found.day,
            let dayOfYear = found.dayOfYear, dayOfYear > 0
        else { return nil }
        return Day(
            number: number, era: era, year: year, month: month, isLeap: found.isLeapMonth ?? false, day: day,
            dayOfYear: dayOfYear)
    }

    /// The number of a year, through all eras, by its first day: that of the year of its weeks.
    func number(ofYearFrom first: Int) -> Int {
        // A day from the midst of it, whose week can be of no other year.
        calendar.component(.yearForWeekOfYear, from: Self.date(of: first + 100))
    }

    /// The stretches of some days, in order; fewer where Foundation does not tell.
    func stretches(in days: Range<Int>) -> [MonthTable.Stretch] {
        var found: [MonthTable.Stretch] = []
        guard var day = self[days.lowerBound] else { return [] }
        while day.number < days.upperBound, let next = beginning(after: day) {
            let isSameYear = found.last.map { Int($0.yearFirst) == day.yearFirst } ?? false
            let number = isSameYear ? found.last?.number : Int16(clamping: number(ofYearFrom: day.yearFirst))
            found.append(
                MonthTable.Stretch(
                    first: Int32(clamping: day.number), yearFirst: Int32(clamping: day.yearFirst),
                    era: Int16(clamping: day.era), year: Int16(clamping: day.year), number: number ?? 0,
                    length: UInt8(clamping: min(next.number, days.upperBound) - day.number),
                    month: UInt8(clamping: day.month), firstDay: Int8(clamping: day.day), isLeap: day.isLeap))
            day = next
        }
        return found
    }

    /// The first day after one that is not in a row with it.
    private func beginning(after day: Day) -> Day? {
        // A day of the next month tells where that begins, unless days are left out or called strangely before it: Foundation
        // calls a few days "0". No month is so short that 29 days could be too many.
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
        Date(timeIntervalSince1970: Double(number) * Double(Civil.secondsPerDay))
    }
}
