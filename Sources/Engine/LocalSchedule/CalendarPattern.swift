import Foundation

/// Which moments fields of a calendar mean, packed.
///
/// A moment matches when all fields that are given match and those below the lowest given are at their least:
/// `minute: 30` is every hour at :30:00, `hour: 9` every day at 9:00:00, `weekday: 2` Mondays at 0:00, `month: 3` the
/// first of March at 0:00, `weekOfYear: 10` the beginning of that week. Without a field nothing matches, and neither
/// does a field beyond its range. Nanoseconds count to the millisecond.
///
/// Gregorian calendars and those with the same months are reckoned here: gregorian, iso8601, buddhist, republicOfChina, and
/// japanese from the Reiwa era on. Others are asked of Foundation, without their nanoseconds, which is slower.
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

        /// What tells one day from another within a week.
        static let singleDay: Fields = [.day, .weekday, .dayOfYear]
        static let belowHour: Fields = [.minute, .second, .millisecond]
        static let time: Fields = [.hour, .minute, .second, .millisecond]
    }

    /// Empty when nothing ever matches.
    var given: Fields = []
    /// Bit 0 for January; month and quarter together.
    var months: UInt16 = 0xFFF
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
    /// Set when Foundation is to be asked, with `given` telling the fields of the time only.
    var foreign: ForeignPattern?

    /// Matches nothing.
    static let never = CalendarPattern(DateComponents())

    /// Whether nothing can ever match, as far as is seen without a search.
    public var isNever: Bool { given.isEmpty }

    /// Whether the hour is one certain hour: it is given, or no part of it is.
    var fixesHour: Bool { given.contains(.hour) || given.isDisjoint(with: .belowHour) }

    /// Whether what is given are days by no name of their own, such as a month, whose first day is meant.
    var isPeriod: Bool { given.isDisjoint(with: Fields.time.union(.singleDay)) }

    /// Packs fields. Their zone is not looked at; their calendar is, and without one they are Gregorian, with weeks that
    /// begin on Sunday, the first week of a year or month being the one with its first day.
    public init(_ components: DateComponents) {
        guard let reckoning = Reckoning(components) else {
            foreign = ForeignPattern(components)
            given = foreign.map { Self.fields(of: $0.fields) } ?? []
            return
        }
        weeks = reckoning.weeks
        let isTaken = takeYears(components, reckoning) && takeDays(components) && takeTime(components)
        if !isTaken || !isPossible { given = [] }
    }

    /// The fields of a time that another calendar has as well; the era stands for all others.
    private static func fields(of components: DateComponents) -> Fields {
        var fields: Fields = .era
        if components.hour != nil { fields.insert(.hour) }
        if components.minute != nil { fields.insert(.minute) }
        if components.second != nil { fields.insert(.second) }
        return fields
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

    private mutating func takeYears(_ components: DateComponents, _ reckoning: Reckoning) -> Bool {
        if let era = components.era {
            guard era == reckoning.era else { return false }
            given.insert(.era)
        }
        let year = components.year.map { $0.addingReportingOverflow(reckoning.yearZero) }
        guard year?.overflow != true, take(year?.partialValue, 1...9999, .year, \.year) else { return false }
        return take(components.yearForWeekOfYear, 1...9999, .weekYear, \.weekYear)
            && components.isLeapMonth != true
    }

    private mutating func takeDays(_ components: DateComponents) -> Bool {
        if let month = components.month {
            guard (1...12).contains(month) else { return false }
            months &= 1 << (month - 1)
            given.insert(.month)
        }
        if let quarter = components.quarter {
            guard (1...4).contains(quarter) else { return false }
            months &= 0b111 << ((quarter - 1) * 3)
            given.insert(.month)
        }
        return take(components.day, 1...31, .day, \.day)
            && take(components.weekday, 1...7, .weekday, \.weekday)
            && take(components.weekdayOrdinal, 1...5, .ordinal, \.ordinal)
            && take(components.weekOfMonth, 0...6, .weekOfMonth, \.weekOfMonth)
            && take(components.weekOfYear, 1...53, .weekOfYear, \.weekOfYear)
            && take(components.dayOfYear, 1...366, .dayOfYear, \.dayOfYear)
    }

    private mutating func takeTime(_ components: DateComponents) -> Bool {
        let millisecond = components.nanosecond.map { $0 < 0 ? -1 : $0 / 1_000_000 }
        return take(components.hour, 0...23, .hour, \.hour)
            && take(components.minute, 0...59, .minute, \.minute)
            && take(components.second, 0...59, .second, \.second)
            && take(millisecond, 0...999, .millisecond, \.millisecond)
    }

    /// Whether a month can have the day; an era alone is over already.
    private var isPossible: Bool {
        guard months != 0, given != .era else { return false }
        guard given.contains(.day) else { return true }
        return (1...12).contains { month in
            months & (1 << (month - 1)) != 0 && Int(day) <= Civil.length(ofMonth: month, year: 2000)
        }
    }
}

/// How a calendar with Gregorian months counts its years and weeks.
private struct Reckoning {
    /// What is added to a year for the Gregorian one.
    var yearZero = 0
    /// The era in which the years count.
    var era = 1
    var weeks = CalendarPattern.Weeks()

    /// `nil` for other calendars.
    init?(_ components: DateComponents) {
        guard let calendar = components.calendar else { return }
        switch calendar.identifier {
        case .gregorian, .iso8601: break
        case .buddhist: (yearZero, era) = (-543, 0)
        case .republicOfChina: (yearZero, era) = (1911, 1)
        case .japanese: (yearZero, era) = (2018, 236)
        default: return nil
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
}
