import Foundation

/// How a calendar counts its years, months and weeks.
struct CalendarReckoning {
    /// The greatest numbers that any year of the calendar has.
    struct Limits {
        var year = 9999
        var months = 12
        var day = 31
        var weekOfYear = 53
        var dayOfYear = 366

        static let gregorian = Limits()
        static let foreign = Limits(year: 14_000, months: 13, day: 32, weekOfYear: 56, dayOfYear: 385)
    }

    /// What is added to a year for the Gregorian one.
    var yearZero = 0
    /// The era in which the years count; `nil` when it may be any.
    var era: Int? = 1
    var limits = Limits.gregorian
    var weeks = CalendarPattern.Weeks()
    /// `nil` for Gregorian ones.
    var months: MonthTable?

    /// `nil` for calendars that are not known well enough.
    init?(_ components: DateComponents) {
        guard let calendar = components.calendar else { return }
        switch calendar.identifier {
        case .gregorian, .iso8601: break
        case .buddhist: (yearZero, era) = (-543, 0)
        case .republicOfChina: (yearZero, era) = (1911, 1)
        case .japanese: (yearZero, era) = (2018, 236)
        default:
            // All calendars have the same weekdays and hours.
            guard Self.asksForDates(components) else { return }
            guard let table = MonthTable.table(of: calendar.identifier) else { return nil }
            (months, era, limits) = (table, nil, .foreign)
        }
        // Only those who count weeks ask for them, since a calendar may have to ask its locale.
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
