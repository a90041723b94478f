import Foundation
import Scheduling
import Testing

/// What the schedule does when clocks are set, and zones are others.
struct LocalScheduleClockTests: ScheduleCases {
    /// No zone has other rules.
    private func asBefore(_ name: String) -> ZoneRules? { nil }

    private func interval(_ seconds: Double, repeats: Bool = false) throws -> LocalSchedule.Trigger {
        .interval(try #require(IntervalPattern(seconds: seconds, repeats: repeats)))
    }

    /// Rules of always the same offset, under a name.
    private func rules(_ name: String, hours: Int) -> ZoneRules {
        .fixed(secondsFromGMT: hours * 3600).named(name)
    }

    @Test func `a clock that was wrong for a while makes nothing fire that was before the entry`() throws {
        for way in ["set back", "started without a clock"] {
            var clocks = try Clocks("2026-06-01T10:00:00Z")
            var schedule = LocalSchedule(floating: .utc)
            let entry = LocalSchedule.Entry(trigger: daily(hour: 9, repeats: false), added: clocks.now)
            _ = schedule.add(1, entry, now: clocks.now)
            if way == "set back" {
                clocks.step(seconds: -7200)
                schedule.clockChanged(now: clocks.now)
            } else {
                clocks.restart(after: 60)
                clocks.step(seconds: -7200)
                schedule = LocalSchedule(floating: .utc)
                _ = schedule.add(1, entry, now: clocks.now)
            }
            clocks.pass(seconds: 60)
            #expect(schedule.timePassed(now: clocks.now, limit: 9) == [])
            clocks.step(seconds: 7200)
            schedule.clockChanged(now: clocks.now)
            #expect(schedule.timePassed(now: clocks.now, limit: 9) == [], "\(way)")
            #expect(schedule.nextDeadline == (try at("2026-06-02T09:00:00Z")), "\(way)")
        }
    }

    @Test func `a zone that is another for a moment makes nothing fire that was before the entry`() throws {
        let clocks = try Clocks("2026-06-01T08:00:00Z")
        let berlin = try Zones.named("Berlin")
        var schedule = LocalSchedule(floating: berlin)
        // Ten o'clock in Berlin: nine is tomorrow.
        _ = schedule.add(1, .init(trigger: daily(hour: 9, repeats: false), added: clocks.now), now: clocks.now)
        _ = schedule.zonesChanged(floating: .utc, named: asBefore, now: clocks.now)
        _ = schedule.zonesChanged(floating: berlin, named: asBefore, now: clocks.now)
        #expect(schedule.timePassed(now: clocks.now, limit: 9) == [])
        #expect(schedule.nextDeadline == (try at("2026-06-02T07:00:00Z")))
    }

    @Test func `what the clocks jumped over while the machine was off is due`() throws {
        var clocks = try Clocks("2026-06-01T07:30:00Z")
        // Half past eight in London, for nine; a quarter to ten in Berlin.
        let entry = LocalSchedule.Entry(
            trigger: daily(hour: 9, repeats: false), added: clocks.now, addedOffset: 3600)
        clocks.restart(after: 900)
        var schedule = LocalSchedule(floating: try Zones.named("Berlin"))
        _ = schedule.add(1, entry, now: clocks.now)
        #expect(
            schedule.timePassed(now: clocks.now, limit: 9) == [
                try fire(1, "2026-06-01T07:00:00Z", lateBy: 2_700_000, isLast: true)
            ])
    }

    @Test(arguments: [false, true])
    func `what fired when the clock was years ahead holds up nothing in a new schedule`(isRebooted: Bool) throws {
        var clocks = try Clocks("2026-06-01T08:00:00Z")
        let added = clocks.now
        clocks.step(seconds: 9 * 365 * 86_400)
        var schedule = LocalSchedule(floating: .utc)
        _ = schedule.add(1, .init(trigger: daily(hour: 9), added: added), now: clocks.now)
        guard case .fire(1, let last, _, isLast: false)? = schedule.timePassed(now: clocks.now, limit: 9).first else {
            Issue.record("it does not come")
            return
        }
        clocks.step(seconds: -9 * 365 * 86_400)
        if isRebooted { clocks.restart(after: 60) }
        schedule = LocalSchedule(floating: .utc)
        _ = schedule.add(1, .init(trigger: daily(hour: 9), added: added, lastFired: last), now: clocks.now)
        let told = schedule.timePassed(now: clocks.now, limit: 9)
        guard case .anchored(1, let kept, lastFired: clocks.now.wall)? = told.first else {
            Issue.record("\(told)")
            return
        }
        #expect(kept.wall == added.wall)
        #expect(schedule.nextDeadline == (try at("2026-06-01T09:00:00Z")))
    }

    @Test func `what was added while the clock was years ahead is added now in a new schedule`() throws {
        var clocks = try Clocks("2035-06-01T08:00:00Z")
        let added = clocks.now
        clocks.step(seconds: -9 * 365 * 86_400)
        clocks.restart(after: 60)
        var schedule = LocalSchedule(floating: .utc)
        _ = schedule.add(1, .init(trigger: daily(hour: 9), added: added), now: clocks.now)
        _ = schedule.add(2, .init(trigger: try interval(3600), added: added), now: clocks.now)
        #expect(
            schedule.nextTimes(1, count: 1, now: clocks.now).first.map {
                $0.milliseconds(since: clocks.now.wall) < 86_400_000
            }
                == true)
        #expect(schedule.deadline(of: 2)?.instant == clocks.now.wall.adding(milliseconds: 3_600_000))
        let told = schedule.timePassed(now: clocks.now, limit: 9)
        #expect(
            Set(told) == [
                .anchored(key: 1, added: clocks.now, lastFired: nil),
                .anchored(key: 2, added: clocks.now, lastFired: nil),
            ])
    }

    @Test func `only intervals of this boot do not depend on the wall clock`() throws {
        var clocks = try Clocks("2026-06-01T08:00:00Z")
        let entry = LocalSchedule.Entry(trigger: try interval(60), added: clocks.now)
        #expect(!entry.dependsOnWallClock(now: clocks.now))
        #expect(LocalSchedule.Entry(trigger: daily(hour: 9), added: clocks.now).dependsOnWallClock(now: clocks.now))
        clocks.restart(after: 60)
        #expect(entry.dependsOnWallClock(now: clocks.now))
    }

    @Test func `a wall clock that is set does not move intervals, and says where they began`() throws {
        var clocks = try Clocks("2026-06-01T08:00:00Z")
        var schedule = LocalSchedule(floating: .utc)
        let added = clocks.now
        _ = schedule.add(1, .init(trigger: try interval(3600, repeats: true), added: added), now: added)
        clocks.pass(seconds: 3600)
        _ = schedule.timePassed(now: clocks.now, limit: 9)
        clocks.step(seconds: 7200)
        let anchor = ClockReading(wall: try at("2026-06-01T10:00:00Z"), boot: added.boot, sinceBoot: added.sinceBoot)
        schedule.clockChanged(now: clocks.now)
        #expect(
            schedule.timePassed(now: clocks.now, limit: 9)
                == [.anchored(key: 1, added: anchor, lastFired: try at("2026-06-01T11:00:00Z"))])
        #expect(schedule.nextDeadline == (try at("2026-06-01T12:00:00Z")))
        #expect(schedule.timePassed(now: clocks.now, limit: 9) == [])
        clocks.pass(seconds: 3600)
        #expect(schedule.timePassed(now: clocks.now, limit: 9) == [try fire(1, "2026-06-01T12:00:00Z")])
    }

    @Test(arguments: [-86_400, -9 * 365 * 86_400, 9 * 365 * 86_400])
    func `an agent that starts anew in the same boot counts on, also when the clock was set meanwhile`(
        step: Int64
    ) throws {
        var clocks = try Clocks("2026-06-01T08:00:00Z")
        let added = clocks.now
        clocks.pass(seconds: 7300)
        clocks.step(seconds: Double(step))
        var schedule = LocalSchedule(floating: .utc)
        let entry = LocalSchedule.Entry(
            trigger: try interval(3600, repeats: true), added: added, lastFired: try at("2026-06-01T10:00:00Z"))
        let shifted = added.wall.adding(milliseconds: step * 1000)
        let next = shifted.adding(milliseconds: 3 * 3_600_000)
        #expect(schedule.add(1, entry, now: clocks.now) == .waits(until: next))
        let anchor = ClockReading(wall: shifted, boot: added.boot, sinceBoot: added.sinceBoot)
        #expect(
            schedule.timePassed(now: clocks.now, limit: 9)
                == [.anchored(key: 1, added: anchor, lastFired: shifted.adding(milliseconds: 2 * 3_600_000))])
        clocks.pass(seconds: 3500)
        #expect(
            schedule.timePassed(now: clocks.now, limit: 9)
                == [.fire(key: 1, occurrence: next, lateBy: 0, isLast: false)])
    }

    @Test func `after a restart of the system intervals are due by the wall clock`() throws {
        var clocks = try Clocks("2026-06-01T08:00:00Z")
        let entry = LocalSchedule.Entry(trigger: try interval(3600, repeats: true), added: clocks.now)
        clocks.restart(after: 3 * 3600 + 600)
        var schedule = LocalSchedule(floating: .utc)
        #expect(schedule.add(1, entry, now: clocks.now) == .waits(until: try at("2026-06-01T09:00:00Z")))
        #expect(
            schedule.timePassed(now: clocks.now, limit: 9) == [try fire(1, "2026-06-01T11:00:00Z", lateBy: 600_000)])
        clocks.pass(seconds: 3000)
        #expect(schedule.timePassed(now: clocks.now, limit: 9) == [try fire(1, "2026-06-01T12:00:00Z")])
    }

    @Test func `what was told of once is not told of again when the clock is set back`() throws {
        var clocks = try Clocks("2026-06-01T08:00:00Z")
        var schedule = LocalSchedule(floating: .utc)
        _ = schedule.add(1, .init(trigger: daily(hour: 9), added: clocks.now), now: clocks.now)
        clocks.pass(seconds: 3600)
        #expect(schedule.timePassed(now: clocks.now, limit: 9) == [try fire(1, "2026-06-01T09:00:00Z")])
        clocks.step(seconds: -7200)
        schedule.clockChanged(now: clocks.now)
        #expect(schedule.nextDeadline == (try at("2026-06-02T09:00:00Z")))
    }

    @Test func `what the clock is set back before waits for its time, what it is set over is due`() throws {
        var clocks = try Clocks("2026-06-01T10:00:00Z")
        var schedule = LocalSchedule(floating: .utc)
        _ = schedule.add(1, .init(trigger: daily(hour: 9), added: clocks.now), now: clocks.now)
        clocks.step(seconds: -7200)
        schedule.clockChanged(now: clocks.now)
        #expect(schedule.nextDeadline == (try at("2026-06-01T09:00:00Z")))
        clocks.step(seconds: 5400)
        schedule.clockChanged(now: clocks.now)
        #expect(
            schedule.timePassed(now: clocks.now, limit: 9) == [try fire(1, "2026-06-01T09:00:00Z", lateBy: 1_800_000)])
    }

    @Test func `in another zone floating fields are due by its clocks, and others stay`() throws {
        var clocks = try Clocks("2026-06-01T12:00:00Z")
        var schedule = LocalSchedule(floating: try Zones.named("New York"))
        _ = schedule.add(1, .init(trigger: daily(hour: 9), added: clocks.now), now: clocks.now)
        _ = schedule.add(
            2, .init(trigger: daily(hour: 9, zone: try Zones.named("New York")), added: clocks.now), now: clocks.now)
        _ = schedule.add(3, .init(trigger: daily(hour: 18), added: clocks.now), now: clocks.now)
        #expect(schedule.zonesChanged(floating: try Zones.named("Berlin"), named: asBefore, now: clocks.now) == [])
        // 8:00 became 14:00: 9:00 was jumped over.
        #expect(
            schedule.timePassed(now: clocks.now, limit: 9) == [try fire(1, "2026-06-01T07:00:00Z", lateBy: 18_000_000)])
        #expect(schedule.nextTimes(2, count: 1, now: clocks.now) == [try at("2026-06-01T13:00:00Z")])
        #expect(schedule.nextTimes(3, count: 1, now: clocks.now) == [try at("2026-06-01T16:00:00Z")])
        clocks.pass(seconds: 60)
        #expect(schedule.zonesChanged(floating: try Zones.named("New York"), named: asBefore, now: clocks.now) == [])
        #expect(schedule.nextTimes(1, count: 1, now: clocks.now) == [try at("2026-06-01T13:00:00Z")])
    }

    @Test(arguments: [
        // Where the rule was two hours, it is now three, or one.
        (3, "2026-06-01T06:00:00Z", 0.0), (1, "2026-06-01T08:00:00Z", 0), (3, "2026-06-01T06:00:00Z", 1800),
    ])
    func `where a zone's rules are others, what waits in it goes by the new ones`(
        hours: Int, first: String, late: Double
    ) throws {
        var clocks = try Clocks("2026-06-01T04:00:00Z")
        var schedule = LocalSchedule(floating: .utc)
        let other = rules("Asia/Other", hours: 2)
        for (key, zone) in [(1, rules("Africa/Cairo", hours: 2)), (2, other), (3, .utc)] as [(RequestKey, ZoneRules)] {
            _ = schedule.add(key, .init(trigger: daily(hour: 9, zone: zone), added: clocks.now), now: clocks.now)
        }
        if late > 0 { clocks.pass(seconds: 7200 + late) }
        let changed = rules("Africa/Cairo", hours: hours)
        #expect(
            schedule.zonesChanged(
                floating: .utc, named: { $0 == "Africa/Cairo" ? changed : nil }, now: clocks.now) == [])
        let due = late > 0 ? [try fire(1, first, lateBy: Int64(late * 1000))] : []
        #expect(schedule.timePassed(now: clocks.now, limit: 9) == due)
        let next = try at(first).adding(milliseconds: due.isEmpty ? 0 : 86_400_000)
        #expect(schedule.nextTimes(1, count: 1, now: clocks.now) == [next])
        #expect(schedule.nextTimes(2, count: 1, now: clocks.now) == [try at("2026-06-01T07:00:00Z")])
        #expect(schedule.nextTimes(3, count: 1, now: clocks.now) == [try at("2026-06-01T09:00:00Z")])
    }

    @Test func `what the clock is set over comes before what is only stored anew`() throws {
        var clocks = try Clocks("2026-06-01T08:00:00Z")
        var schedule = LocalSchedule(floating: .utc)
        for key in 1...9 as ClosedRange<Int64> {
            _ = schedule.add(
                RequestKey(rawValue: key), .init(trigger: try interval(50_000), added: clocks.now), now: clocks.now)
        }
        _ = schedule.add(10, .init(trigger: daily(hour: 9), added: clocks.now), now: clocks.now)
        clocks.step(seconds: 3600)
        schedule.clockChanged(now: clocks.now)
        #expect(schedule.timePassed(now: clocks.now, limit: 1) == [try fire(10, "2026-06-01T09:00:00Z")])
        var stored: [RequestKey] = []
        while case .anchored(let key, _, _)? = schedule.timePassed(now: clocks.now, limit: 1).first {
            stored.append(key)
        }
        #expect(stored.map(\.rawValue) == Array(1...9))
    }

    @Test func `a day that the new zone does not have is told of as missed`() throws {
        let clocks = try Clocks("2011-12-28T12:00:00Z")
        var schedule = LocalSchedule(floating: .utc)
        let day = CalendarPattern(DateComponents(year: 2011, month: 12, day: 30, hour: 9))
        _ = schedule.add(
            1, .init(trigger: .calendar(day, zone: nil, repeats: false), added: clocks.now), now: clocks.now)
        #expect(
            schedule.zonesChanged(floating: try Zones.skippingDay(), named: asBefore, now: clocks.now)
                == [try missed(1, "2011-12-30T09:00:00Z", isLast: true)])
        #expect(schedule.count == 0)
    }
}
