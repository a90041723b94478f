import Foundation

/// Which moments fields of a calendar mean, packed.
///
/// A moment matches when all fields that are given match and those below the lowest given are at their least:
/// `minute: 30` is every hour at :30:00, `hour: 9` every day at 9:00:00, `weekday: 2` Mondays at 0:00, `month: 3` the
/// first of March at 0:00, `weekOfYear: 10` the beginning of that week. Without a field nothing matches, and neither
/// does a field beyond its range. Nanoseconds count to the millisecond.
///
/// Gregorian calendars and those with the same months are reckoned here: gregorian, iso8601, buddhist, republicOfChina, and
/// japanese from the Reiwa era on. Of others Foundation tells the months, once of each three years that somebody looks at,
/// and the days are reckoned here; a first look through forty years takes milliseconds, later ones microseconds.
/// - A month that is given is the one that is no leap month, unless `isLeapMonth` says so; that counts beside other fields only.
/// - A quarter is three months by their numbers, the last one also a thirteenth.
/// - Of calendars whose days of the year Foundation does not know, such as the Hindu ones, only weekdays and times match.
public struct CalendarPattern: Hashable, Sendable {
    /// How the weeks of a year and of a month are counted.
    struct Weeks: Hashable, Sendable {
        /// 0 for Sunday to 6 for Saturday.
        var first: UInt8 = 0
        /// The fewest days of a week that make it the first one.
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
        /// Whether months are meant that are leap months, or those that are not; no field of its own.
        static let leapMonth = Fields(rawValue: 1 << 14)
        static let plainMonth = Fields(rawValue: 1 << 15)

        /// What tells one day from another within a week.
        static let singleDay: Fields = [.day, .weekday, .dayOfYear]
        static let belowHour: Fields = [.minute, .second, .millisecond]
        static let time: Fields = [.hour, .minute, .second, .millisecond]
    }

    /// Empty when nothing ever matches.
    var given: Fields = []
    /// Bit 0 for the first of the year; month and quarter together.
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
    /// The months when they are not Gregorian.
    var foreign: MonthTable?

    /// Matches nothing.
    static let never = CalendarPattern(DateComponents())

    /// Whether nothing can ever match, as far as is seen without a search.
    public var isNever: Bool { given.isEmpty }

    /// Whether fields are of a calendar whose months are known, or need no months.
    public static func knowsCalendar(of components: DateComponents) -> Bool { CalendarReckoning(components) != nil }

    /// Whether the fields match at many seconds of one minute.
    public var isManyAMinute: Bool { given.contains(.millisecond) && !given.contains(.second) }

    /// Whether the hour is one certain hour: it is given, or no part of it is.
    var fixesHour: Bool { given.contains(.hour) || given.isDisjoint(with: .belowHour) }

    /// Whether what is given are days by no name of their own, such as a month, whose first day is meant.
    var isPeriod: Bool { given.isDisjoint(with: Fields.time.union(.singleDay)) }

    /// Packs fields. Their zone is not looked at; their calendar is, and without one they are Gregorian, with weeks that
    /// begin on Sunday, the first week of a year or month being the one with its first day.
    public init(_ components: DateComponents) {
        guard let reckoning = CalendarReckoning(components) else { return }
        weeks = reckoning.weeks
        foreign = reckoning.months
        let isTaken =
            takeYears(components, reckoning) && takeMonths(components, reckoning)
            && takeDays(components, reckoning.limits)
            && takeTime(components)
        if !isTaken || !isPossible { given = [] }
    }

    /// Takes a field's value into its place; false when it is beyond the range.
    private mutating func take<Value: FixedWidthInteger>(
        _ value: Int?, _ range: ClosedRange<Int>, _ field: Fields, _ place: WritableKeyPath<Self, Value>
    ) -> Bool {
        guard let value else { return true }
        guard range.contains(value) else { return false }
        self[keyPath: place] = Value(value)
        given.insert(field)
        return true
    }

    private mutating func takeYears(_ components: DateComponents, _ reckoning: CalendarReckoning) -> Bool {
        if let era = reckoning.era, let given = components.era, given != era { return false }
        guard components.year.map({ $0 > 0 }) ?? true else { return false }
        let year = components.year.map { $0.addingReportingOverflow(reckoning.yearZero) }
        let years = 1...reckoning.limits.year
        return take(components.era, 0...1000, .era, \.era)
            && year?.overflow != true && take(year?.partialValue, years, .year, \.year)
            && take(components.yearForWeekOfYear, years, .weekYear, \.weekYear)
    }

    private mutating func takeMonths(_ components: DateComponents, _ reckoning: CalendarReckoning) -> Bool {
        let count = reckoning.limits.months
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
        guard foreign != nil else { return components.isLeapMonth != true }
        if let isLeap = components.isLeapMonth ?? (components.month == nil ? nil : false) {
            given.insert(isLeap ? .leapMonth : .plainMonth)
        }
        return true
    }

    private mutating func takeDays(_ components: DateComponents, _ limits: CalendarReckoning.Limits) -> Bool {
        take(components.day, 1...limits.day, .day, \.day)
            && take(components.weekday, 1...7, .weekday, \.weekday)
            && take(components.weekdayOrdinal, 1...5, .ordinal, \.ordinal)
            && take(components.weekOfMonth, 0...6, .weekOfMonth, \.weekOfMonth)
            && take(components.weekOfYear, 1...limits.weekOfYear, .weekOfYear, \.weekOfYear)
            && take(components.dayOfYear, 1...limits.dayOfYear, .dayOfYear, \.dayOfYear)
    }

    private mutating func takeTime(_ components: DateComponents) -> Bool {
        let millisecond = components.nanosecond.map { $0 < 0 ? -1 : $0 / 1_000_000 }
        return take(components.hour, 0...23, .hour, \.hour)
            && take(components.minute, 0...59, .minute, \.minute)
            && take(components.second, 0...59, .second, \.second)
            && take(millisecond, 0...999, .millisecond, \.millisecond)
    }

    /// Whether something is given, and a month can have the day; a Gregorian era alone is over already.
    private var isPossible: Bool {
        guard months != 0, !given.isSubset(of: foreign == nil ? .era : [.leapMonth, .plainMonth]) else { return false }
        guard foreign == nil else { return true }
        guard given.contains(.day) else { return true }
        return (1...12).contains { month in
            months & (1 << (month - 1)) != 0 && Int(day) <= Civil.length(ofMonth: month, year: 2000)
        }
    }
}
