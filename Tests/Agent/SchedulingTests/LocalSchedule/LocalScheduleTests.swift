import AgentProtocol
import CoreValues
import Foundation
import Scheduling
import Testing

struct LocalScheduleTests: ScheduleCases {
    @Test func `what is due comes in order and not sooner, and one-shots leave`() throws {
        var clocks = try Clocks("2026-06-01T08:00:00Z")
        var schedule = LocalSchedule(floating: .utc)
        let added = clocks.now
        #expect(
            schedule.add(1, .init(trigger: try interval(90), added: added), now: added)
                == .waits(until: try at("2026-06-01T08:01:30Z")))
        #expect(
            schedule.add(2, .init(trigger: daily(hour: 8, minute: 1, repeats: false), added: added), now: added)
                == .waits(until: try at("2026-06-01T08:01:00Z")))
        #expect(schedule.nextDeadline == (try at("2026-06-01T08:01:00Z")) && schedule.count == 2)
        clocks.pass(seconds: 59.999)
        #expect(schedule.timePassed(now: clocks.now, limit: 10) == [])
        clocks.pass(seconds: 30.002)
        #expect(
            schedule.timePassed(now: clocks.now, limit: 10) == [
                try fire(2, "2026-06-01T08:01:00Z", lateBy: 30_001, isLast: true),
                try fire(1, "2026-06-01T08:01:30Z", lateBy: 1, isLast: true),
            ])
        #expect(schedule.count == 0 && schedule.nextDeadline == nil)
    }

    @Test func `a call tells no more than it may, the rest comes with the next`() throws {
        var clocks = try Clocks("2026-06-01T08:00:00Z")
        var schedule = LocalSchedule(floating: .utc)
        for key in 1...5 as ClosedRange<Int64> {
            _ = schedule.add(
                RequestKey(rawValue: key), .init(trigger: try interval(Double(key)), added: clocks.now), now: clocks.now
            )
        }
        clocks.pass(seconds: 10)
        var keys: [RequestKey] = []
        while case let told = schedule.timePassed(now: clocks.now, limit: 2), !told.isEmpty {
            #expect(told.count <= 2)
            keys += told.compactMap { if case .fire(let key, _, _, _) = $0 { key } else { nil } }
        }
        #expect(keys == [1, 2, 3, 4, 5])
    }

    @Test func `what is never due is not kept; what is replaced or removed does not come`() throws {
        var clocks = try Clocks("2026-06-01T08:00:00Z")
        var schedule = LocalSchedule(floating: .utc)
        let past = CalendarPattern(DateComponents(year: 2020))
        #expect(
            schedule.add(
                1, .init(trigger: .calendar(past, zone: nil, repeats: true), added: clocks.now), now: clocks.now)
                == .never)
        _ = schedule.add(2, .init(trigger: try interval(10), added: clocks.now), now: clocks.now)
        _ = schedule.add(2, .init(trigger: try interval(20), added: clocks.now), now: clocks.now)
        _ = schedule.add(3, .init(trigger: try interval(15), added: clocks.now), now: clocks.now)
        schedule.remove(3)
        schedule.remove(3)
        clocks.pass(seconds: 19)
        #expect(schedule.timePassed(now: clocks.now, limit: 9) == [] && schedule.count == 1)
        clocks.pass(seconds: 1)
        #expect(schedule.timePassed(now: clocks.now, limit: 9) == [try fire(2, "2026-06-01T08:00:20Z", isLast: true)])
        #expect(
            schedule.add(
                2, .init(trigger: try interval(20), added: clocks.now, lastFired: clocks.now.wall), now: clocks.now)
                == .never)
    }

    @Test func `intervals that repeat keep their phase`() throws {
        var clocks = try Clocks("2026-06-01T08:00:00Z")
        var schedule = LocalSchedule(floating: .utc)
        _ = schedule.add(1, .init(trigger: try interval(60, repeats: true), added: clocks.now), now: clocks.now)
        for minute in 1...3 {
            clocks.pass(seconds: 60.25)
            #expect(
                schedule.timePassed(now: clocks.now, limit: 9) == [
                    try fire(1, "2026-06-01T08:0\(minute):00Z", lateBy: Int64(minute) * 250)
                ])
        }
        #expect(
            schedule.nextTimes(1, count: 2, now: clocks.now).map { $0.date.formatted(.iso8601) } == [
                "2026-06-01T08:04:00Z", "2026-06-01T08:05:00Z",
            ])
    }

    @Test(arguments: [
        (30.0, MissedPolicy.drop, true), (90, .drop, false), (90, .standard, true), (86_400, .standard, true),
        (86_401, .standard, false), (3601, .deliver(within: 3_600_000), false),
    ])
    func `a one-shot that was missed fires late or is told of, as its policy says`(
        late: Double, policy: MissedPolicy, fires: Bool
    ) throws {
        var clocks = try Clocks("2026-06-01T08:00:00Z")
        for trigger in [try interval(3600), daily(hour: 9, repeats: false)] {
            var schedule = LocalSchedule(floating: .utc)
            let entry = LocalSchedule.Entry(trigger: trigger, added: clocks.now, missed: policy)
            var later = clocks
            later.pass(seconds: 3600 + late)
            _ = schedule.add(1, entry, now: later.now)
            #expect(
                schedule.timePassed(now: later.now, limit: 9) == [
                    fires
                        ? try fire(1, "2026-06-01T09:00:00Z", lateBy: Int64(late * 1000), isLast: true)
                        : try missed(1, "2026-06-01T09:00:00Z", isLast: true)
                ])
        }
        clocks.pass(seconds: 0)
    }

    @Test func `of a repeating one the newest that was missed counts, then the next in the future`() throws {
        var clocks = try Clocks("2026-06-01T08:00:00Z")
        var schedule = LocalSchedule(floating: .utc)
        _ = schedule.add(1, .init(trigger: daily(hour: 9), added: clocks.now), now: clocks.now)
        _ = schedule.add(2, .init(trigger: try interval(7200, repeats: true), added: clocks.now), now: clocks.now)
        _ = schedule.add(3, .init(trigger: daily(hour: 9), added: clocks.now, missed: .drop), now: clocks.now)
        clocks.pass(seconds: 9 * 86_400 + 7 * 3600)
        let told = schedule.timePassed(now: clocks.now, limit: 9)
        #expect(
            told == [
                try fire(1, "2026-06-10T09:00:00Z", lateBy: 6 * 3_600_000), try missed(3, "2026-06-10T09:00:00Z"),
                try fire(2, "2026-06-10T14:00:00Z", lateBy: 3_600_000),
            ])
        #expect(schedule.nextDeadline == (try at("2026-06-10T16:00:00Z")))
    }

    @Test(arguments: [1, 3, 7, 100])
    func `all that waits is told in pages, in the order of what is due`(limit: Int) throws {
        var clocks = try Clocks("2026-06-01T08:00:00Z")
        var schedule = LocalSchedule(floating: .utc)
        for key in 1...20 as ClosedRange<Int64> {
            // Two of each time, and an hour on a clock that was set since.
            let trigger = key.isMultiple(of: 3) ? daily(hour: 9) : try interval(Double(100 * ((key + 1) / 2)))
            _ = schedule.add(RequestKey(rawValue: key), .init(trigger: trigger, added: clocks.now), now: clocks.now)
        }
        clocks.step(seconds: 1800)
        schedule.clockChanged(now: clocks.now)
        var all: [LocalSchedule.Deadline] = []
        while case let page = schedule.deadlines(after: all.last, limit: limit), !page.isEmpty {
            #expect(page.count <= limit)
            all += page
        }
        #expect(all == all.sorted() && Set(all.map(\.key.rawValue)) == Set(1...20) && all.count == 20)
        #expect(all.allSatisfy { schedule.deadline(of: $0.key) == $0 })
        let first = try at("2026-06-01T08:31:40Z")
        #expect(all.first?.instant == first)
        #expect(schedule.deadline(of: 21) == nil && schedule.deadlines(after: nil, limit: 0) == [])
    }

    @Test(
        arguments: [
            (0.0, false), (-1, false), (.nan, true), (.infinity, false), (59.9, true),
        ] as [(Double, Bool)])
    func `an interval that cannot be is refused`(seconds: Double, repeats: Bool) {
        #expect(IntervalPattern(seconds: seconds, repeats: repeats) == nil)
        #expect(
            LocalSchedule.Trigger(.timeInterval(seconds: seconds, repeats: repeats)) { _ in .utc } == nil)
    }

    @Test func `an interval's occurrences are whole numbers of it after its beginning`() throws {
        let pattern = try #require(IntervalPattern(seconds: 90, repeats: true))
        let start = Timestamp(seconds: 1000)
        #expect(
            [
                Timestamp.distantPast, start, Timestamp(seconds: 1089), Timestamp(seconds: 1090),
                Timestamp(seconds: 1181),
            ].map {
                pattern.nextFire(start: start, after: $0)?.rawValue
            } == [1_090_000, 1_090_000, 1_090_000, 1_180_000, 1_270_000])
        #expect(pattern.nextFire(start: start, after: .distantFuture) == nil)
        #expect(
            try #require(IntervalPattern(seconds: 1e300, repeats: false)).nextFire(start: .distantFuture, after: start)
                == .distantFuture)
    }

    @Test func `an app's trigger is taken with its zone`() throws {
        var components = DateComponents(hour: 9)
        #expect(LocalSchedule.Trigger(.calendar(components, repeats: true)) { _ in nil } == daily(hour: 9))
        components.timeZone = TimeZone(identifier: "Europe/Berlin")
        #expect(LocalSchedule.Trigger(.calendar(components, repeats: true)) { _ in nil } == nil)
        let berlin = try Zones.named("Berlin")
        #expect(
            LocalSchedule.Trigger(.calendar(components, repeats: true)) { $0 == .named("Europe/Berlin") ? berlin : nil }
                == .calendar(CalendarPattern(DateComponents(hour: 9)), zone: berlin, repeats: true))
    }
}
