import Foundation

/// The date components of a calendar trigger, packed.
///
/// A local time matches when all given fields match and the fields below the lowest given one have their least value.
///
/// - `minute: 30` is every hour at :30:00.
/// - `hour: 9` is every day at 9:00:00.
/// - `weekday: 2` is Mondays at 0:00.
/// - `month: 3` is the first of March at 0:00.
/// - `weekOfYear: 10` is the beginning of that week.
///
/// Without a field nothing matches, and neither does a field beyond its range. Nanoseconds count to the millisecond.
///
/// Calendars with Gregorian months are computed here: gregorian, iso8601, buddhist, republicOfChina, and japanese from
/// the Reiwa era on. The months of other calendars come from Foundation (``MonthTable``). A first search through forty
/// years takes milliseconds, later ones microseconds.
/// - A given month is the regular one, unless `isLeapMonth` is true. `isLeapMonth` alone matches nothing.
/// - A quarter is three months by their numbers; the fourth quarter also has the thirteenth month.
/// - For calendars whose days of the year Foundation does not know, such as the Hindu ones, only weekdays and times
///   match.
package struct CalendarPattern: Hashable, Sendable {
    /// How weeks of a year and of a month are numbered.
    struct Weeks: Hashable, Sendable {
        /// 0 for Sunday to 6 for Saturday.
        var first: UInt8 = 0
        /// The least number of days in the first week.
        var minimumDays: UInt8 = 1
    }

    struct Fields: OptionSet, Hashable, Sendable {
        let rawValue: UInt16

        static let year = Fields(rawValue: 1 << 0)
        static let month = Fields(rawValue: 1 << 1)
        static let day = Fields(rawValue: 1 << 2)
        static let weekday = Fields(rawValue: 1 << 3)
        static let ordinal = Fields(rawValue: 1 << 4)
        static let weekOfMonth = Fields(rawValue: 1 << 5)
        static let weekOfYear = Fields(rawValue: 1 << 6)
        static let weekYear = Fields(rawValue: 1 << 7)
        static let dayOfYear = Fields(rawValue: 1 << 8)
        static let hour = Fields(rawValue: 1 << 9)
        static let minute = Fields(rawValue: 1 << 10)
        static let second = Fields(rawValue: 1 << 11)
        static let millisecond = Fields(rawValue: 1 << 12)
        static let era = Fields(rawValue: 1 << 13)
        /// Only leap months match, or only regular months; neither is a field by itself.
        static let leapMonth = Fields(rawValue: 1 << 14)
        static let plainMonth = Fields(rawValue: 1 << 15)

        /// Fields that select single days within a week.
        static let singleDay: Fields = [.day, .weekday, .dayOfYear]
        static let belowHour: Fields = [.minute, .second, .millisecond]
        static let time: Fields = [.hour, .minute, .second, .millisecond]
    }

    /// The given fields; empty when nothing ever matches.
    var given: Fields = []
    /// The matching months by month and quarter, bit 0 for the first one of the year.
    var months: UInt16 = 0xFFF
    var era: Int16 = 0
    var year: Int16 = 0
    var weekYear: Int16 = 0
    var dayOfYear: UInt16 = 0
    var millisecond: UInt16 = 0
    var day: UInt8 = 0
    var weekday: UInt8 = 0
    var ordinal: UInt8 = 0
    var weekOfMonth: UInt8 = 0
    var weekOfYear: UInt8 = 0
    var hour: UInt8 = 0
    var minute: UInt8 = 0
    var second: UInt8 = 0
    var weeks = Weeks()
    /// The months, when they are not Gregorian.
    var monthTable: MonthTable?

    /// Matches nothing.
    static let never = CalendarPattern(DateComponents())

    /// Whether it is known without a search that nothing matches.
    package var isNever: Bool { given.isEmpty }

    /// Whether the months of the calendar are known, or the fields need no months.
    package static func knowsCalendar(of components: DateComponents) -> Bool { CalendarSystem(components) != nil }

    /// Whether the fields may match at many seconds of one minute.
    package var isManyAMinute: Bool { given.contains(.millisecond) && !given.contains(.second) }

    /// Whether the fields fix the hour: it is given, or neither are minute, second nor nanosecond, so that it is 0.
    var fixesHour: Bool { given.contains(.hour) || given.isDisjoint(with: .belowHour) }

    /// Whether the fields select a week, a month or a year, of which the first day matches.
    var isPeriod: Bool { given.isDisjoint(with: Fields.time.union(.singleDay)) }

    /// Packs date components. Their calendar counts, their time zone does not. Without a calendar they are Gregorian,
    /// weeks begin on Sunday, and the first week of a year or month is the one with its first day.
    package init(_ components: DateComponents) {
        guard let system = CalendarSystem(components) else { return }
        weeks = system.weeks
        monthTable = system.months
        let isTaken =
            takeYears(components, system) && takeMonths(components, system)
            && takeDays(components, system.limits)
            && takeTime(components)
        if !isTaken || !isPossible { given = [] }
    }

    /// Stores the value of a field; false when it is out of range.
    private mutating func take<Value: FixedWidthInteger>(
        _ value: Int?, range: ClosedRange<Int>, field: Fields, place: WritableKeyPath<Self, Value>
    ) -> Bool {
        guard let value else { return true }
        guard range.contains(value) else { return false }
        self[keyPath: place] = Value(value)
        given.insert(field)
        return true
    }

    private mutating func takeYears(_ components: DateComponents, _ system: CalendarSystem) -> Bool {
        if let era = system.era, let given = components.era, given != era { return false }
        guard components.year.map({ $0 > 0 }) ?? true else { return false }
        let year = components.year.map { $0.addingReportingOverflow(system.yearZero) }
        let years = 1...system.limits.year
        return take(components.era, range: 0...1000, field: .era, place: \.era)
            && year?.overflow != true && take(year?.partialValue, range: years, field: .year, place: \.year)
            && take(components.yearForWeekOfYear, range: years, field: .weekYear, place: \.weekYear)
    }

    private mutating func takeMonths(_ components: DateComponents, _ system: CalendarSystem) -> Bool {
        let count = system.limits.months
        months = 1 << UInt16(count) - 1
        if let month = components.month {
            guard (1...count).contains(month) else { return false }
            months &= 1 << (month - 1)
            given.insert(.month)
        }
        if let quarter = components.quarter {
            guard (1...4).contains(quarter) else { return false }
            months &= (quarter == 4 ? 0b1111 : 0b111) << ((quarter - 1) * 3)
            given.insert(.month)
        }
        guard monthTable != nil else { return components.isLeapMonth != true }
        if let isLeap = components.isLeapMonth ?? (components.month == nil ? nil : false) {
            given.insert(isLeap ? .leapMonth : .plainMonth)
        }
        return true
    }

    private mutating func takeDays(_ components: DateComponents, _ limits: CalendarSystem.Limits) -> Bool {
        take(components.day, range: 1...limits.day, field: .day, place: \.day)
            && take(components.weekday, range: 1...7, field: .weekday, place: \.weekday)
            && take(components.weekdayOrdinal, range: 1...5, field: .ordinal, place: \.ordinal)
            && take(components.weekOfMonth, range: 0...6, field: .weekOfMonth, place: \.weekOfMonth)
            && take(components.weekOfYear, range: 1...limits.weekOfYear, field: .weekOfYear, place: \.weekOfYear)
            && take(components.dayOfYear, range: 1...limits.dayOfYear, field: .dayOfYear, place: \.dayOfYear)
    }

    private mutating func takeTime(_ components: DateComponents) -> Bool {
        let millisecond = components.nanosecond.map { $0 < 0 ? -1 : $0 / 1_000_000 }
        return take(components.hour, range: 0...23, field: .hour, place: \.hour)
            && take(components.minute, range: 0...59, field: .minute, place: \.minute)
            && take(components.second, range: 0...59, field: .second, place: \.second)
            && take(millisecond, range: 0...999, field: .millisecond, place: \.millisecond)
    }

    /// Whether a date may match: a field is given, other than a Gregorian era alone, and one of the months has the day.
    private var isPossible: Bool {
        guard months != 0, !given.isSubset(of: monthTable == nil ? .era : [.leapMonth, .plainMonth]) else {
            return false
        }
        guard monthTable == nil else { return true }
        guard given.contains(.day) else { return true }
        return (1...12).contains { month in
            months & (1 << (month - 1)) != 0 && Int(day) <= GregorianCalendar.length(ofMonth: month, year: 2000)
        }
    }
}
