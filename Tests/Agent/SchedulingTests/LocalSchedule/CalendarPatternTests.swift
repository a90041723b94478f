import CoreValues
import Foundation
import Scheduling
import Testing

struct CalendarPatternTests {
    struct Case: Sendable, CustomTestStringConvertible {
        var name: String
        var fields: @Sendable () -> DateComponents
        var zone = "UTC"
        var after: String
        var next: [String]
        var testDescription: String { "\(name), \(zone)" }
    }

    private static let fieldCases = [
        Case(
            name: "a minute is every hour's", fields: { DateComponents(minute: 30) }, after: "2026-06-01T09:30:00Z",
            next: ["2026-06-01T10:30:00Z", "2026-06-01T11:30:00Z"]),
        Case(
            name: "an hour is every day's", fields: { DateComponents(hour: 9) }, after: "2026-06-01T08:59:59Z",
            next: ["2026-06-01T09:00:00Z", "2026-06-02T09:00:00Z"]),
        Case(
            name: "a weekday is its beginning", fields: { DateComponents(weekday: 2) }, after: "2026-06-01T00:00:00Z",
            next: ["2026-06-08T00:00:00Z", "2026-06-15T00:00:00Z"]),
        Case(
            name: "a month is its first day", fields: { DateComponents(month: 3) }, after: "2026-03-01T00:00:00Z",
            next: ["2027-03-01T00:00:00Z", "2028-03-01T00:00:00Z"]),
        Case(
            name: "a quarter is its first day", fields: { DateComponents(quarter: 3) }, after: "2026-06-01T00:00:00Z",
            next: ["2026-07-01T00:00:00Z", "2027-07-01T00:00:00Z"]),
        Case(
            name: "a week of the year is its first day", fields: { DateComponents(weekOfYear: 10) },
            after: "2026-01-01T00:00:00Z", next: ["2026-03-01T00:00:00Z", "2027-02-28T00:00:00Z"]),
        Case(
            name: "week 10 as ISO 8601 counts",
            fields: { DateComponents(calendar: Calendar(identifier: .iso8601), weekOfYear: 10) },
            after: "2026-01-01T00:00:00Z", next: ["2026-03-02T00:00:00Z", "2027-03-08T00:00:00Z"]),
        Case(
            name: "week 53 comes seldom",
            fields: { DateComponents(calendar: Calendar(identifier: .iso8601), hour: 9, weekday: 2, weekOfYear: 53) },
            after: "2026-01-01T00:00:00Z", next: ["2026-12-28T09:00:00Z", "2032-12-27T09:00:00Z"]),
        Case(
            name: "a week of the month is its first day in the month", fields: { DateComponents(weekOfMonth: 1) },
            after: "2026-06-02T00:00:00Z", next: ["2026-07-01T00:00:00Z", "2026-08-01T00:00:00Z"]),
        Case(
            name: "the third Friday", fields: { DateComponents(hour: 9, weekday: 6, weekdayOrdinal: 3) },
            after: "2026-06-01T00:00:00Z", next: ["2026-06-19T09:00:00Z", "2026-07-17T09:00:00Z"]),
        Case(
            name: "seconds of an hour", fields: { DateComponents(hour: 9, second: 30) }, after: "2026-06-01T09:58:30Z",
            next: ["2026-06-01T09:59:30Z", "2026-06-02T09:00:30Z"]),
        Case(
            name: "the 31st skips months", fields: { DateComponents(day: 31, hour: 9) }, after: "2026-06-01T00:00:00Z",
            next: ["2026-07-31T09:00:00Z", "2026-08-31T09:00:00Z", "2026-10-31T09:00:00Z"]),
        Case(
            name: "29 February skips years", fields: { DateComponents(month: 2, day: 29, hour: 9) },
            after: "2096-03-01T00:00:00Z", next: ["2104-02-29T09:00:00Z", "2108-02-29T09:00:00Z"]),
        Case(
            name: "a day of the year", fields: { fields([\.dayOfYear: 366]) }, after: "2026-06-01T00:00:00Z",
            next: ["2028-12-31T00:00:00Z", "2032-12-31T00:00:00Z"]),
        Case(
            name: "a year that is far ahead", fields: { DateComponents(year: 2099, month: 5) },
            after: "2026-06-01T00:00:00Z", next: ["2099-05-01T00:00:00Z"]),
        Case(
            name: "a year of another calendar",
            fields: { DateComponents(calendar: Calendar(identifier: .buddhist), year: 2570, month: 2) },
            after: "2026-06-01T00:00:00Z", next: ["2027-02-01T00:00:00Z"]),
        Case(
            name: "a year of an era",
            fields: { DateComponents(calendar: Calendar(identifier: .japanese), era: 236, year: 9, month: 2) },
            after: "2026-06-01T00:00:00Z", next: ["2027-02-01T00:00:00Z"]),
    ]

    private static let clockCases = [
        Case(
            name: "a skipped time counts with the next", fields: { DateComponents(hour: 2, minute: 30) },
            zone: "New York", after: "2026-03-07T07:30:00Z", next: ["2026-03-08T07:00:00Z", "2026-03-09T06:30:00Z"]),
        Case(
            name: "a gap of half an hour", fields: { DateComponents(hour: 2, minute: 15) }, zone: "Lord Howe",
            after: "2026-10-03T00:00:00Z", next: ["2026-10-03T15:30:00Z", "2026-10-04T15:15:00Z"]),
        Case(
            name: "a gap at midnight", fields: { DateComponents(hour: 0, minute: 30) }, zone: "Cairo",
            after: "2026-04-23T00:00:00Z", next: ["2026-04-23T22:00:00Z", "2026-04-24T21:30:00Z"]),
        Case(
            name: "a day that begins late", fields: { DateComponents(weekday: 6) }, zone: "Cairo",
            after: "2026-04-23T00:00:00Z", next: ["2026-04-23T22:00:00Z", "2026-04-30T21:00:00Z"]),
        Case(
            name: "a skipped minute of any hour does not count", fields: { DateComponents(minute: 30) },
            zone: "New York", after: "2026-03-08T06:00:00Z", next: ["2026-03-08T06:30:00Z", "2026-03-08T07:30:00Z"]),
        Case(
            name: "a gap over the end of a day whose weekday is given",
            fields: { DateComponents(hour: 23, minute: 30, weekday: 7) },
            zone: "Nuuk", after: "2026-03-28T02:00:00Z", next: ["2026-03-29T01:00:00Z", "2026-04-05T00:30:00Z"]),
        Case(
            name: "a gap over the end of a certain day",
            fields: { DateComponents(year: 2026, month: 3, day: 28, hour: 23, minute: 30) },
            zone: "Nuuk", after: "2026-03-28T02:00:00Z", next: ["2026-03-29T01:00:00Z"]),
        Case(
            name: "a gap over the end of any day", fields: { DateComponents(hour: 23, minute: 30) },
            zone: "Nuuk", after: "2026-03-28T02:00:00Z", next: ["2026-03-29T01:00:00Z", "2026-03-30T00:30:00Z"]),
        Case(
            name: "a repeated time counts the first time", fields: { DateComponents(hour: 1, minute: 30) },
            zone: "New York", after: "2026-11-01T00:00:00Z", next: ["2026-11-01T05:30:00Z", "2026-11-02T06:30:00Z"]),
        Case(
            name: "a repeated minute of any hour counts both times", fields: { DateComponents(minute: 30) },
            zone: "New York", after: "2026-11-01T05:00:00Z",
            next: ["2026-11-01T05:30:00Z", "2026-11-01T06:30:00Z", "2026-11-01T07:30:00Z"]),
        Case(
            name: "two hours are skipped", fields: { DateComponents(hour: 1, second: 15) }, zone: "Troll",
            after: "2026-03-28T02:00:00Z", next: ["2026-03-29T01:00:00Z", "2026-03-29T23:00:15Z"]),
    ]

    @Test(arguments: fieldCases + clockCases)
    func `the next moments are those of the rules`(example: Case) throws {
        let found = try CalendarPattern(example.fields()).next(
            example.next.count, in: Zones.named(example.zone), after: example.after)
        #expect(found == example.next)
    }

    @Test func `a day that a zone skipped is passed over`() throws {
        let zone = try Zones.skippingDay()
        #expect(
            try CalendarPattern(DateComponents(hour: 9)).next(2, in: zone, after: "2011-12-29T00:00:00Z") == [
                "2011-12-29T19:00:00Z", "2011-12-30T19:00:00Z",
            ])
        #expect(
            try CalendarPattern(DateComponents(day: 30, hour: 9)).next(1, in: zone, after: "2011-12-29T00:00:00Z") == [
                "2012-01-29T19:00:00Z"
            ])
    }

    @Test(arguments: [
        DateComponents(), DateComponents(month: 2, day: 30), DateComponents(hour: 25), DateComponents(month: 13),
        DateComponents(year: 2001, month: 1), DateComponents(era: 0, hour: 9), DateComponents(era: 1),
        DateComponents(year: 1 << 60, month: 1), DateComponents(hour: 9, nanosecond: -1), DateComponents(weekday: 8),
        DateComponents(month: 4, day: 31), DateComponents(month: 2, quarter: 2), DateComponents(minute: 60),
    ])
    func `what cannot be, has passed or says nothing has no next moment`(components: DateComponents) throws {
        #expect(CalendarPattern(components).nextFire(in: .utc, after: try at("2026-06-01T00:00:00Z")) == nil)
    }

    @Test(arguments: [Calendar.Identifier.gregorian, .iso8601, .buddhist, .republicOfChina, .japanese])
    func `no calendar has a year before its first`(identifier: Calendar.Identifier) {
        for year in [0, -1, -2000, .min] {
            let pattern = CalendarPattern(DateComponents(calendar: Calendar(identifier: identifier), year: year))
            #expect(pattern.nextFire(in: .utc, after: .distantPast) == nil)
        }
    }

    @Test func `the rules for clocks hold in another calendar as well`() throws {
        let hebrew = DateComponents(calendar: Calendar(identifier: .hebrew), month: 1, day: 1, hour: 9)
        #expect(
            try CalendarPattern(hebrew).next(2, in: Zones.named("New York"), after: "2026-06-01T00:00:00Z") == [
                "2026-09-12T13:00:00Z", "2027-10-02T13:00:00Z",
            ])
        let daily = DateComponents(calendar: Calendar(identifier: .hebrew), hour: 2, minute: 30)
        #expect(
            try CalendarPattern(daily).next(1, in: Zones.named("New York"), after: "2026-03-08T05:00:00Z") == [
                "2026-03-08T07:00:00Z"
            ])
    }

    @Test(arguments: [Calendar.Identifier.hebrew, .chinese, .islamicUmmAlQura, .persian, .coptic, .indian])
    func `fields that another calendar never has are never`(identifier: Calendar.Identifier) throws {
        let start = try at("2026-06-01T00:00:00Z")
        let calendar = Calendar(identifier: identifier)
        for fields in [
            DateComponents(calendar: calendar), DateComponents(calendar: calendar, hour: 1 << 60),
            DateComponents(calendar: calendar, month: -5), DateComponents(calendar: calendar, year: 61, month: 1),
            DateComponents(calendar: calendar, nanosecond: -5), DateComponents(calendar: calendar, month: 1, day: 32),
        ] {
            #expect(CalendarPattern(fields).nextFire(in: .utc, after: start) == nil, "\(fields)")
        }
    }

    @Test(arguments: [Timestamp.distantPast, .distantFuture, Timestamp(.distantPast), Timestamp(.distantFuture)])
    func `no instant is too far away to be asked for`(after: Timestamp) throws {
        for zone in try Zones.rules.keys.map(Zones.named) {
            let next = CalendarPattern(DateComponents(minute: 30)).nextFire(in: zone, after: after)
            #expect(next.map { $0 > after } ?? (after > Timestamp(.distantFuture)))
            _ = zone.offset(at: after)
        }
    }
}
