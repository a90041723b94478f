import AgentWire
import Foundation
import LocalSchedule
import Testing

struct LocalScheduleTests {
    /// Clocks that go on, are set, and start anew.
    struct Clocks {
        var wall: Int64
        var boot = UUID()
        var sinceBoot: Int64 = 1_000_000

        init(_ text: String) throws { wall = try at(text).milliseconds }

        var now: Moment { Moment(wall: Instant(milliseconds: wall), boot: boot, sinceBoot: sinceBoot) }

        mutating func pass(seconds: Double) {
            wall += Int64(seconds * 1000)
            sinceBoot += Int64(seconds * 1000)
        }

        mutating func step(seconds: Double) { wall += Int64(seconds * 1000) }

        mutating func restart(after seconds: Double) {
            pass(seconds: seconds)
            boot = UUID()
            sinceBoot = 5000
        }
    }

    /// No zone has other rules.
    private func asBefore(_ name: String) -> ZoneRules? { nil }

    private func interval(_ seconds: Double, repeats: Bool = false) throws -> LocalSchedule.Trigger {
        .interval(try #require(IntervalPattern(seconds: seconds, repeats: repeats)))
    }

    private func daily(hour: Int, minute: Int? = nil, repeats: Bool = true, zone: ZoneRules? = nil)
        -> LocalSchedule.Trigger
    {
        .calendar(CalendarPattern(DateComponents(hour: hour, minute: minute)), zone: zone, repeats: repeats)
    }

    private func fire(_ key: Int64, _ text: String, lateBy: Int64 = 0, isLast: Bool = false) throws
        -> LocalSchedule.Directive
    {
        .fire(key: key, occurrence: try at(text), lateBy: lateBy, isLast: isLast)
    }

    private func missed(_ key: Int64, _ text: String, isLast: Bool = false) throws -> LocalSchedule.Directive {
        .missed(key: key, occurrence: try at(text), isLast: isLast)
    }

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
        #expect(schedule.nextDeadline() == (try at("2026-06-01T08:01:00Z")) && schedule.count == 2)
        clocks.pass(seconds: 59.999)
        #expect(schedule.timePassed(now: clocks.now, limit: 10) == [])
        clocks.pass(seconds: 30.002)
        #expect(
            schedule.timePassed(now: clocks.now, limit: 10) == [
                try fire(2, "2026-06-01T08:01:00Z", lateBy: 30_001, isLast: true),
                try fire(1, "2026-06-01T08:01:30Z", lateBy: 1, isLast: true),
            ])
        #expect(schedule.count == 0 && schedule.nextDeadline() == nil)
    }

    @Test func `a call tells no more than it may, the rest comes with the next`() throws {
        var clocks = try Clocks("2026-06-01T08:00:00Z")
        var schedule = LocalSchedule(floating: .utc)
        for key: Int64 in 1...5 {
            _ = schedule.add(key, .init(trigger: try interval(Double(key)), added: clocks.now), now: clocks.now)
        }
        clocks.pass(seconds: 10)
        var keys: [Int64] = []
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
            #expect(schedule.nextDeadline() == (try at("2026-06-02T09:00:00Z")), "\(way)")
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
        #expect(schedule.nextDeadline() == (try at("2026-06-02T07:00:00Z")))
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
    func `what fired when the clock was years ahead holds up nothing afterwards`(isRestarted: Bool) throws {
        var clocks = try Clocks("2026-06-01T08:00:00Z")
        var schedule = LocalSchedule(floating: .utc)
        let added = clocks.now
        _ = schedule.add(1, .init(trigger: daily(hour: 9), added: added), now: added)
        clocks.step(seconds: 9 * 365 * 86_400)
        schedule.clockChanged(now: clocks.now)
        let future = schedule.timePassed(now: clocks.now, limit: 9)
        guard case .missed(1, let last, isLast: false)? = future.first ?? nil, future.count == 1 else {
            guard case .fire(1, let last, _, isLast: false)? = future.first else {
                Issue.record("\(future)")
                return
            }
            return try expectCorrection(of: &schedule, &clocks, added, last, isRestarted)
        }
        try expectCorrection(of: &schedule, &clocks, added, last, isRestarted)
    }

    private func expectCorrection(
        of schedule: inout LocalSchedule, _ clocks: inout Clocks, _ added: Moment, _ last: Instant, _ isRestarted: Bool
    ) throws {
        clocks.step(seconds: -9 * 365 * 86_400)
        if isRestarted {
            clocks.restart(after: 60)
            schedule = LocalSchedule(floating: .utc)
            _ = schedule.add(1, .init(trigger: daily(hour: 9), added: added, lastFired: last), now: clocks.now)
        } else {
            schedule.clockChanged(now: clocks.now)
        }
        let told = schedule.timePassed(now: clocks.now, limit: 9)
        guard case .anchored(1, let kept, lastFired: clocks.now.wall)? = told.first else {
            Issue.record("\(told)")
            return
        }
        #expect(kept.wall == added.wall)
        #expect(schedule.nextDeadline() == (try at("2026-06-01T09:00:00Z")))
    }

    @Test func `a clock that may be behind brings nothing sooner and takes nothing for a mistake`() throws {
        var clocks = try Clocks("2026-06-01T10:00:00Z")
        let added = clocks.now
        clocks.restart(after: 60)
        clocks.step(seconds: -9 * 365 * 86_400)
        var schedule = LocalSchedule(floating: .utc)
        schedule.doubtClock(now: clocks.now)
        _ = schedule.add(1, .init(trigger: daily(hour: 9, repeats: false), added: added), now: clocks.now)
        _ = schedule.add(2, .init(trigger: try interval(3600), added: added), now: clocks.now)
        _ = schedule.add(
            3, .init(trigger: daily(hour: 9), added: added, lastFired: try at("2026-06-01T09:00:00Z")), now: clocks.now)
        clocks.pass(seconds: 2 * 86_400)
        #expect(schedule.timePassed(now: clocks.now, limit: 9) == [])
        schedule.clockChanged(now: clocks.now)
        #expect(schedule.timePassed(now: clocks.now, limit: 9) == [])
        clocks.step(seconds: 9 * 365 * 86_400 - 2 * 86_400)
        schedule.trustClock(hasStood: false)
        schedule.clockChanged(now: clocks.now)
        #expect(schedule.timePassed(now: clocks.now, limit: 9) == [])
        for (key, time) in [(1, "2026-06-02T09:00:00Z"), (2, "2026-06-01T11:00:00Z"), (3, "2026-06-02T09:00:00Z")] {
            #expect(schedule.turn(of: Int64(key))?.deadline == (try at(time)))
        }
    }

    @Test func `what comes while it is not sure that the clock is right comes when it is`() throws {
        var clocks = try Clocks("2026-06-01T08:59:50Z")
        let added = try Clocks("2026-05-01T08:00:00Z").now
        var schedule = LocalSchedule(floating: .utc)
        schedule.doubtClock(now: clocks.now)
        let ahead = try at("2036-01-01T09:00:00Z")
        _ = schedule.add(1, .init(trigger: daily(hour: 9), added: added, lastFired: ahead), now: clocks.now)
        clocks.pass(seconds: 60)
        #expect(schedule.timePassed(now: clocks.now, limit: 9) == [])
        schedule.trustClock(hasStood: true)
        schedule.clockChanged(now: clocks.now)
        let told = schedule.timePassed(now: clocks.now, limit: 9)
        #expect(told.last == (try fire(1, "2026-06-01T09:00:00Z", lateBy: 50_000)))
        guard case .anchored(1, _, lastFired: try at("2026-06-01T08:59:50Z"))? = told.first else {
            Issue.record("\(told)")
            return
        }
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
        #expect(schedule.nextDeadline() == (try at("2026-06-10T16:00:00Z")))
    }

    @Test func `a wall clock that is set does not move intervals, and says where they began`() throws {
        var clocks = try Clocks("2026-06-01T08:00:00Z")
        var schedule = LocalSchedule(floating: .utc)
        let added = clocks.now
        _ = schedule.add(1, .init(trigger: try interval(3600, repeats: true), added: added), now: added)
        clocks.pass(seconds: 3600)
        _ = schedule.timePassed(now: clocks.now, limit: 9)
        clocks.step(seconds: 7200)
        let anchor = Moment(wall: try at("2026-06-01T10:00:00Z"), boot: added.boot, sinceBoot: added.sinceBoot)
        schedule.clockChanged(now: clocks.now)
        #expect(
            schedule.timePassed(now: clocks.now, limit: 9)
                == [.anchored(key: 1, added: anchor, lastFired: try at("2026-06-01T11:00:00Z"))])
        #expect(schedule.nextDeadline() == (try at("2026-06-01T12:00:00Z")))
        #expect(schedule.timePassed(now: clocks.now, limit: 9) == [])
        clocks.pass(seconds: 3600)
        #expect(schedule.timePassed(now: clocks.now, limit: 9) == [try fire(1, "2026-06-01T12:00:00Z")])
    }

    @Test func `an agent that starts anew in the same boot counts on, also when the clock was set meanwhile`() throws {
        var clocks = try Clocks("2026-06-01T08:00:00Z")
        let added = clocks.now
        clocks.pass(seconds: 7300)
        clocks.step(seconds: -86_400)
        var schedule = LocalSchedule(floating: .utc)
        let entry = LocalSchedule.Entry(
            trigger: try interval(3600, repeats: true), added: added, lastFired: try at("2026-06-01T10:00:00Z"))
        #expect(schedule.add(1, entry, now: clocks.now) == .waits(until: try at("2026-05-31T11:00:00Z")))
        let anchor = Moment(wall: try at("2026-05-31T08:00:00Z"), boot: added.boot, sinceBoot: added.sinceBoot)
        #expect(
            schedule.timePassed(now: clocks.now, limit: 9)
                == [.anchored(key: 1, added: anchor, lastFired: try at("2026-05-31T10:00:00Z"))])
        clocks.pass(seconds: 3500)
        #expect(schedule.timePassed(now: clocks.now, limit: 9) == [try fire(1, "2026-05-31T11:00:00Z")])
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
        #expect(schedule.nextDeadline() == (try at("2026-06-02T09:00:00Z")))
    }

    @Test func `what the clock is set back before waits for its time, what it is set over is due`() throws {
        var clocks = try Clocks("2026-06-01T10:00:00Z")
        var schedule = LocalSchedule(floating: .utc)
        _ = schedule.add(1, .init(trigger: daily(hour: 9), added: clocks.now), now: clocks.now)
        clocks.step(seconds: -7200)
        schedule.clockChanged(now: clocks.now)
        #expect(schedule.nextDeadline() == (try at("2026-06-01T09:00:00Z")))
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

    /// Rules of always the same offset, under a name.
    private func rules(_ name: String, hours: Int) -> ZoneRules {
        .fixed(secondsFromGMT: hours * 3600).named(name)
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
        for (key, zone) in [(1, rules("Africa/Cairo", hours: 2)), (2, other), (3, .utc)] as [(Int64, ZoneRules)] {
            _ = schedule.add(key, .init(trigger: daily(hour: 9, zone: zone), added: clocks.now), now: clocks.now)
        }
        if late > 0 { clocks.pass(seconds: 7200 + late) }
        let changed = rules("Africa/Cairo", hours: hours)
        #expect(
            schedule.zonesChanged(
                floating: .utc, named: { $0 == "Africa/Cairo" ? changed : nil }, now: clocks.now) == [])
        let due = late > 0 ? [try fire(1, first, lateBy: Int64(late * 1000))] : []
        #expect(schedule.timePassed(now: clocks.now, limit: 9) == due)
        let next = try at(first).advanced(by: due.isEmpty ? 0 : 86_400_000)
        #expect(schedule.nextTimes(1, count: 1, now: clocks.now) == [next])
        #expect(schedule.nextTimes(2, count: 1, now: clocks.now) == [try at("2026-06-01T07:00:00Z")])
        #expect(schedule.nextTimes(3, count: 1, now: clocks.now) == [try at("2026-06-01T09:00:00Z")])
    }

    @Test func `without the wall clock only intervals of this boot are due`() throws {
        var clocks = try Clocks("2026-06-01T08:00:00Z")
        var schedule = LocalSchedule(floating: .utc)
        _ = schedule.add(1, .init(trigger: try interval(60), added: clocks.now), now: clocks.now)
        _ = schedule.add(2, .init(trigger: daily(hour: 9), added: clocks.now), now: clocks.now)
        clocks.step(seconds: 10 * 86_400)
        #expect(schedule.timePassed(now: clocks.now, limit: 9, isWallBelieved: false) == [])
        #expect(schedule.nextDeadline(isWallBelieved: false) == (try at("2026-06-11T08:01:00Z")))
        clocks.pass(seconds: 60)
        let told = schedule.timePassed(now: clocks.now, limit: 9, isWallBelieved: false)
        #expect(told.last == (try fire(1, "2026-06-11T08:01:00Z", isLast: true)) && told.count == 2)
        #expect(schedule.nextDeadline(isWallBelieved: false) == nil)
        schedule.clockChanged(now: clocks.now)
        #expect(
            schedule.timePassed(now: clocks.now, limit: 9) == [
                try fire(2, "2026-06-10T09:00:00Z", lateBy: 82_860_000)
            ])
    }

    @Test func `what the clock is set over comes before what is only stored anew`() throws {
        var clocks = try Clocks("2026-06-01T08:00:00Z")
        var schedule = LocalSchedule(floating: .utc)
        for key: Int64 in 1...9 {
            _ = schedule.add(key, .init(trigger: try interval(50_000), added: clocks.now), now: clocks.now)
        }
        _ = schedule.add(10, .init(trigger: daily(hour: 9), added: clocks.now), now: clocks.now)
        clocks.step(seconds: 3600)
        schedule.clockChanged(now: clocks.now)
        #expect(schedule.timePassed(now: clocks.now, limit: 1) == [try fire(10, "2026-06-01T09:00:00Z")])
        var stored: [Int64] = []
        while case .anchored(let key, _, _)? = schedule.timePassed(now: clocks.now, limit: 1).first {
            stored.append(key)
        }
        #expect(stored == Array(1...9))
    }

    @Test(arguments: [1, 3, 7, 100])
    func `all that waits is told in pages, in the order of what is due`(limit: Int) throws {
        var clocks = try Clocks("2026-06-01T08:00:00Z")
        var schedule = LocalSchedule(floating: .utc)
        for key: Int64 in 1...20 {
            // Two of each time, and an hour on a clock that was set since.
            let trigger = key.isMultiple(of: 3) ? daily(hour: 9) : try interval(Double(100 * ((key + 1) / 2)))
            _ = schedule.add(key, .init(trigger: trigger, added: clocks.now), now: clocks.now)
        }
        clocks.step(seconds: 1800)
        schedule.clockChanged(now: clocks.now)
        var all: [LocalSchedule.Turn] = []
        while case let page = schedule.turns(after: all.last, limit: limit), !page.isEmpty {
            #expect(page.count <= limit)
            all += page
        }
        #expect(all == all.sorted() && Set(all.map(\.key)) == Set(1...20) && all.count == 20)
        #expect(all.allSatisfy { schedule.turn(of: $0.key) == $0 })
        let first = try at("2026-06-01T08:31:40Z")
        #expect(all.first?.deadline == first)
        #expect(schedule.turn(of: 21) == nil && schedule.turns(after: nil, limit: 0) == [])
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
        let start = Instant(seconds: 1000)
        #expect(
            [Instant.min, start, Instant(seconds: 1089), Instant(seconds: 1090), Instant(seconds: 1181)].map {
                pattern.nextFire(start: start, after: $0)?.milliseconds
            } == [1_090_000, 1_090_000, 1_090_000, 1_180_000, 1_270_000])
        #expect(pattern.nextFire(start: start, after: .max) == nil)
        #expect(
            try #require(IntervalPattern(seconds: 1e300, repeats: false)).nextFire(start: .max, after: start) == .max)
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
