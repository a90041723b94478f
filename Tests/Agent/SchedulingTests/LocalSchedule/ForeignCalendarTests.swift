import AldabaTestSupport
import CoreValues
import Foundation
import Scheduling
import Testing

/// Calendars whose months are not Gregorian, beside what Foundation says of each single day.
struct ForeignCalendarTests {
    private static let identifiers: [Calendar.Identifier] = [
        .hebrew, .chinese, .coptic, .ethiopicAmeteMihret, .indian, .islamic, .islamicCivil,
        .islamicTabular, .islamicUmmAlQura, .persian,
    ]

    /// A date as it must come out, with what is asked of it.
    struct Example: Sendable, CustomTestStringConvertible {
        var calendar: Calendar.Identifier
        var fields: @Sendable () -> DateComponents
        var next: [String]
        var testDescription: String { "\(calendar) \(fields())" }
    }

    private static let examples = [
        Example(
            calendar: .hebrew, fields: { DateComponents(month: 1, day: 1, hour: 9) },
            next: ["2026-09-12T09:00:00Z", "2027-10-02T09:00:00Z"]),
        // Adar I comes in leap years only.
        Example(
            calendar: .hebrew, fields: { DateComponents(month: 6) },
            next: ["2027-02-08T00:00:00Z", "2030-02-04T00:00:00Z", "2033-01-31T00:00:00Z"]),
        Example(
            calendar: .hebrew, fields: { fields([\.dayOfYear: 385]) },
            next: ["2027-10-01T00:00:00Z"]),
        Example(calendar: .hebrew, fields: { DateComponents(year: 5800) }, next: ["2039-09-19T00:00:00Z"]),
        Example(calendar: .hebrew, fields: { DateComponents(year: 9000, month: 2) }, next: ["5239-11-03T00:00:00Z"]),
        Example(
            calendar: .chinese, fields: { DateComponents(month: 6, day: 10) },
            next: ["2026-07-23T00:00:00Z", "2027-07-13T00:00:00Z"]),
        Example(
            calendar: .chinese, fields: { leap(DateComponents(month: 6, day: 10)) },
            next: ["2036-08-01T00:00:00Z", "2055-08-02T00:00:00Z"]),
        Example(
            calendar: .chinese, fields: { leap(DateComponents(day: 3)) },
            next: ["2028-06-25T00:00:00Z", "2031-04-24T00:00:00Z"]),
        // The years are numbered within cycles of sixty.
        Example(
            calendar: .chinese, fields: { DateComponents(year: 43) },
            next: ["2086-02-14T00:00:00Z", "2146-02-11T00:00:00Z"]),
        Example(calendar: .chinese, fields: { DateComponents(era: 79) }, next: ["2044-01-30T00:00:00Z"]),
        Example(
            calendar: .chinese, fields: { DateComponents(era: 79, year: 3, month: 2, day: 5) },
            next: ["2046-03-12T00:00:00Z"]),
        Example(
            calendar: .coptic, fields: { DateComponents(month: 13, day: 6) },
            next: ["2027-09-11T00:00:00Z", "2031-09-11T00:00:00Z"]),
        Example(
            calendar: .islamicUmmAlQura, fields: { DateComponents(month: 9, weekday: 6) },
            next: ["2027-02-12T00:00:00Z", "2027-02-19T00:00:00Z"]),
        Example(
            calendar: .persian, fields: { DateComponents(quarter: 4) },
            next: ["2026-12-22T00:00:00Z", "2027-12-22T00:00:00Z"]),
        Example(
            calendar: .persian, fields: { DateComponents(hour: 9, nanosecond: 500_000_000) },
            next: ["2026-06-01T09:00:00Z", "2026-06-01T09:00:01Z"]),
    ]

    private static func leap(_ fields: DateComponents) -> DateComponents {
        var fields = fields
        fields.isLeapMonth = true
        return fields
    }

    @Test(arguments: examples)
    func `a date of another calendar comes when it is there`(example: Example) throws {
        var fields = example.fields()
        fields.calendar = Calendar(identifier: example.calendar)
        let found = try CalendarPattern(fields).next(example.next.count, in: .utc, after: "2026-06-01T00:00:00Z")
        #expect(found == example.next)
    }

    @Test(arguments: identifiers, [(1, 1), (2, 4)])
    func `the first day that matches by what Foundation says of each is found, no later than by its own search`(
        identifier: Calendar.Identifier, weeks: (firstWeekday: Int, minimumDays: Int)
    ) {
        let oracle = CalendarOracle(identifier, firstWeekday: weeks.firstWeekday, minimumDays: weeks.minimumDays)
        var random = SeededGenerator(seed: 5786)
        var agreed = 0
        for _ in 0..<40 {
            let fields = oracle.question(by: &random)
            let start = CalendarOracle.first + Int.random(in: 1...2500, using: &random)
            let after = Timestamp(seconds: Int64(start + 1) * 86_400 - 1)
            let found = CalendarPattern(fields).nextFire(in: .utc, after: after)?.date
            let expected = oracle.next(fields, afterDay: start)
            // Beyond the years that both look through one of them may find what the other does not.
            guard [found, expected].contains(where: { $0.map { $0 < Self.horizon } ?? false }) else { continue }
            #expect(found == expected, "\(fields) after \(after.date)")
            guard let found, let theirs = oracle.search(fields, after: after.date), theirs < Self.horizon,
                oracle.holds(fields, at: theirs)
            else { continue }
            #expect(found <= theirs, "\(fields) after \(after.date)")
            agreed += found == theirs ? 1 : 0
        }
        #expect(agreed > 10)
    }

    @Test(arguments: [Calendar.Identifier.ethiopicAmeteAlem, .vietnamese, .gujarati])
    func `a calendar whose months Foundation does not know has no dates, and is said to be unknown`(
        identifier: Calendar.Identifier
    ) {
        let date = DateComponents(calendar: Calendar(identifier: identifier), month: 1, day: 1)
        #expect(CalendarPattern(date).isNever && !CalendarPattern.knowsCalendar(of: date))
        // A second is one of all calendars, and of no month that is known.
        var second = DateComponents(calendar: Calendar(identifier: identifier), second: 11)
        #expect(!CalendarPattern(second).isNever && CalendarPattern.knowsCalendar(of: second))
        second.isLeapMonth = false
        #expect(CalendarPattern(second).isNever && !CalendarPattern.knowsCalendar(of: second))
        let time = DateComponents(calendar: Calendar(identifier: identifier), hour: 9)
        #expect(!CalendarPattern(time).isNever && CalendarPattern.knowsCalendar(of: time))
    }

    private static let horizon = Date(timeIntervalSince1970: Double(CalendarOracle.first + 14_600) * 86_400)

    @Test(arguments: [Calendar.Identifier.hebrew, .coptic, .islamicCivil, .persian, .indian])
    func `a year however far away is found`(identifier: Calendar.Identifier) throws {
        var calendar = Calendar(identifier: identifier)
        calendar.timeZone = .gmt
        let after = try at("2026-06-01T00:00:00Z")
        let now = calendar.component(.year, from: after.date)
        for year in stride(from: now + 1, to: now + 7900, by: 131) {
            let fields = DateComponents(calendar: calendar, year: year, month: 5, day: 7)
            #expect(CalendarPattern(fields).nextFire(in: .utc, after: after)?.date == calendar.date(from: fields))
        }
    }

    @Test(arguments: [
        (DateComponents(year: 5700, yearForWeekOfYear: 5701), "1940-09-29T00:00:00Z"),
        (DateComponents(year: 5700, weekOfYear: 1, yearForWeekOfYear: 5701), "1940-09-29T00:00:00Z"),
        (DateComponents(year: 5700, weekOfYear: 2, yearForWeekOfYear: 5700), "1939-09-17T00:00:00Z"),
        (DateComponents(weekday: 7, weekOfYear: 52, yearForWeekOfYear: 5700), "1940-09-07T00:00:00Z"),
    ])
    func `weeks of years long ago are found`(fields: DateComponents, expected: String) throws {
        var fields = fields
        fields.calendar = Calendar(identifier: .hebrew)
        #expect(CalendarPattern(fields).nextFire(in: .utc, after: .distantPast) == (try at(expected)))
    }

    @Test(
        arguments: [
            (.hebrew, DateComponents(month: 13, day: 30)),
            (.hebrew, DateComponents(month: 4, day: 30, hour: 1, weekday: 2)),
            (.hebrew, leap(DateComponents(month: 6))), (.hebrew, DateComponents(year: 5700)),
            (.islamicUmmAlQura, DateComponents(month: 9, day: 31)), (.coptic, DateComponents(month: 13, day: 7)),
            (.coptic, DateComponents(era: 0, month: 1)), (.chinese, DateComponents(month: 13)),
            (.chinese, DateComponents(year: 61, month: 1)), (.persian, DateComponents(month: 12, day: 31)),
            (.indian, DateComponents(quarter: 1, weekOfYear: 40)), (.persian, leap(DateComponents())),
            (.persian, DateComponents(year: 9500)), (.chinese, DateComponents(era: 1000, year: 1)),
            (.hebrew, DateComponents(weekOfYear: 56, yearForWeekOfYear: 5786)),
        ] as [(Calendar.Identifier, DateComponents)])
    func `a date that never is there is never found`(identifier: Calendar.Identifier, fields: DateComponents) throws {
        var fields = fields
        fields.calendar = Calendar(identifier: identifier)
        #expect(CalendarPattern(fields).nextFire(in: .utc, after: try at("2026-06-01T00:00:00Z")) == nil)
    }

    @Test(arguments: [Calendar.Identifier.gujarati, .tamil])
    func `of a calendar whose days are not known weekdays and times still match`(
        identifier: Calendar.Identifier
    ) throws {
        let calendar = Calendar(identifier: identifier)
        #expect(CalendarPattern(DateComponents(calendar: calendar, month: 4, day: 1)).isNever)
        let found = try CalendarPattern(DateComponents(calendar: calendar, hour: 9, weekday: 2)).next(
            1, in: .utc, after: "2026-06-01T10:00:00Z")
        #expect(found == ["2026-06-08T09:00:00Z"])
    }
}
