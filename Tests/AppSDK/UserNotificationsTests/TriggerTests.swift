import CoreLocation
import CoreValues
import Foundation
import Scheduling
import Testing

@testable import UserNotifications

struct TriggerTests {
    private func date(_ text: String) throws -> Date { try Date(text, strategy: .iso8601) }

    private func components(
        _ zone: String?, year: Int? = nil, month: Int? = nil, day: Int? = nil, hour: Int? = nil, minute: Int? = nil
    ) -> DateComponents {
        DateComponents(
            calendar: Calendar(identifier: .gregorian), timeZone: zone.flatMap(TimeZone.init(identifier:)),
            year: year, month: month, day: day, hour: hour, minute: minute)
    }

    /// When a trigger would fire, on a machine that is in Berlin.
    private func next(_ fields: DateComponents, after text: String) throws -> Date? {
        UNCalendarNotificationTrigger(dateMatching: fields, repeats: true).nextTriggerDate(
            after: Timestamp(try date(text)), zones: LocalZones(environment: ["TZ": "CET-1CEST,M3.5.0,M10.5.0/3"]))
    }

    @Test func `the fields are those of their own zone, and the moment is after now`() throws {
        let nine = components("America/New_York", hour: 9, minute: 0)
        #expect(try next(nine, after: "2026-06-01T13:00:00Z") == date("2026-06-02T13:00:00Z"))
        #expect(try next(nine, after: "2026-06-01T12:59:59Z") == date("2026-06-01T13:00:00Z"))
        let fixed = DateComponents(timeZone: TimeZone(secondsFromGMT: -12_600), hour: 9)
        #expect(try next(fixed, after: "2026-06-01T13:00:00Z") == date("2026-06-02T12:30:00Z"))
    }

    @Test(arguments: [nil, TimeZone.autoupdatingCurrent])
    func `fields without a zone, or with the system's, are those of where the machine is`(zone: TimeZone?) throws {
        let nine = DateComponents(timeZone: zone, hour: 9)
        #expect(try next(nine, after: "2026-06-01T13:00:00Z") == date("2026-06-02T07:00:00Z"))
        #expect(try next(nine, after: "2026-12-01T13:00:00Z") == date("2026-12-02T08:00:00Z"))
        let carried = try JSONDecoder().decode(DateComponents.self, from: JSONEncoder().encode(nine))
        #expect(try next(carried, after: "2026-06-01T13:00:00Z") == date("2026-06-02T07:00:00Z"))
    }

    @Test func `a time that the clock skips counts once, with the next one; a day that is not there is passed over`()
        throws
    {
        let skipped = components("America/New_York", hour: 2, minute: 30)
        #expect(try next(skipped, after: "2026-03-08T05:30:00Z") == date("2026-03-08T07:00:00Z"))
        let halfHour = components("Australia/Lord_Howe", hour: 2, minute: 15)
        #expect(try next(halfHour, after: "2026-10-03T00:00:00Z") == date("2026-10-03T15:30:00Z"))
        let last = components("UTC", day: 31, hour: 9)
        #expect(try next(last, after: "2026-06-01T00:00:00Z") == date("2026-07-31T09:00:00Z"))
        let leap = components("UTC", month: 2, day: 29, hour: 9)
        #expect(try next(leap, after: "2026-06-01T00:00:00Z") == date("2028-02-29T09:00:00Z"))
    }

    @Test func `what has passed, what cannot be and what says nothing has no next date`() {
        for fields in [
            components("UTC", year: 2001, month: 1, day: 1), components("UTC", month: 2, day: 30),
            components("UTC", hour: 25), DateComponents(),
        ] {
            #expect(
                UNCalendarNotificationTrigger(dateMatching: fields, repeats: true).nextTriggerDate() == nil,
                "\(fields)")
        }
    }

    @Test func `an interval counts from now, and a trigger knows whether it repeats`() throws {
        let trigger = UNTimeIntervalNotificationTrigger(timeInterval: 60, repeats: true)
        let next = try #require(trigger.nextTriggerDate())
        #expect((59...61).contains(next.timeIntervalSinceNow))
        #expect(trigger.repeats && trigger.timeInterval == 60)
        #expect(!UNTimeIntervalNotificationTrigger(timeInterval: 0.1, repeats: false).repeats)
    }

    @Test(arguments: [(0.0, false), (-1, false), (59.9, true)])
    func `an interval that Apple refuses ends the program`(seconds: Double, repeats: Bool) async {
        await #expect(processExitsWith: .failure) { [seconds = seconds as Double, repeats = repeats as Bool] in
            _ = UNTimeIntervalNotificationTrigger(timeInterval: seconds, repeats: repeats)
        }
    }

    @Test func `a region's trigger keeps the region as it was`() {
        let region = CLCircularRegion(
            center: CLLocationCoordinate2D(latitude: 52, longitude: 13), radius: 200, identifier: "office")
        region.notifyOnEntry = false
        let trigger = UNLocationNotificationTrigger(region: region, repeats: true)
        region.notifyOnEntry = true
        #expect(trigger.region.identifier == "office" && !trigger.region.notifyOnEntry && trigger.region.notifyOnExit)
        #expect((trigger.region as? CLCircularRegion)?.radius == 200)
    }
}
