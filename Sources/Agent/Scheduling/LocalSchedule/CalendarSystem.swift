import Foundation

/// How the calendar of a trigger numbers its years, months and weeks.
struct CalendarSystem {
    /// The greatest value of each field in any year.
    struct Limits {
        var year = 9999
        var months = 12
        var day = 31
        var weekOfYear = 53
        var dayOfYear = 366

        static let gregorian = Limits()
        static let nonGregorian = Limits(year: 14_000, months: 13, day: 32, weekOfYear: 56, dayOfYear: 385)
    }

    /// The difference between a Gregorian year and the year of this calendar.
    var yearZero = 0
    /// The only era that is accepted; `nil` where every era is.
    var era: Int? = 1
    var limits = Limits.gregorian
    var weeks = CalendarPattern.Weeks()
    /// The months; `nil` where they are the Gregorian ones.
    var months: MonthTable?

    /// `nil` for calendars whose months Foundation does not know.
    init?(_ components: DateComponents) {
        guard let calendar = components.calendar else { return }
        switch calendar.identifier {
        case .gregorian, .iso8601: break
        case .buddhist: (yearZero, era) = (-543, 0)
        case .republicOfChina: (yearZero, era) = (1911, 1)
        case .japanese: (yearZero, era) = (2018, 236)
        default:
            // Weekdays and times are the same in all calendars.
            guard Self.asksForDates(components) else { return }
            guard let table = MonthTable.table(of: calendar.identifier) else { return nil }
            (months, era, limits) = (table, nil, .nonGregorian)
        }
        // Reading these loads the calendar's locale, so only triggers with weeks do.
        guard components.weekOfMonth != nil || components.weekOfYear != nil || components.yearForWeekOfYear != nil
        else {
            return
        }
        let (first, days) = (calendar.firstWeekday, calendar.minimumDaysInFirstWeek)
        guard (1...7).contains(first), (1...7).contains(days) else { return }
        weeks = CalendarPattern.Weeks(first: UInt8(first - 1), minimumDays: UInt8(days))
    }

    private static func asksForDates(_ components: DateComponents) -> Bool {
        components.isLeapMonth != nil
            || [
                components.era, components.year, components.yearForWeekOfYear, components.quarter, components.month,
                components.day, components.dayOfYear, components.weekdayOrdinal, components.weekOfMonth,
                components.weekOfYear,
            ].contains { $0 != nil }
    }
}
