import AgentProtocol
import Foundation
import PushCore
import Scheduling
import Testing

@testable import AgentEngine

/// A schedule with its clocks and zones, without an agent.
private struct Machine {
    var schedule = RequestSchedule()
    var now = ClockReading(wall: RequestScheduleTests.start, boot: UUID(), sinceBoot: 1_000_000)
    var zones: [ZoneChoice: ZoneRules] = [.floating: .utc, .named("GMT"): .utc, .fixed(secondsFromGMT: 0): .utc]

    init(loading rows: [PendingRequest] = []) { tell(.loaded(rows)) }

    var context: RequestSchedule.ScheduleContext {
        RequestSchedule.ScheduleContext(now: now, zones: { [zones] in zones[$0] }, missedPolicy: { _ in .standard })
    }

    @discardableResult mutating func tell(_ event: RequestSchedule.Event) -> [RequestSchedule.Directive] {
        schedule.handle(event, context)
    }

    /// Time passes, and the alarm rings.
    mutating func pass(_ seconds: Int64) -> [RequestSchedule.Directive] {
        now.wall = now.wall.adding(milliseconds: seconds * 1000)
        now.sinceBoot += seconds * 1000
        return tell(.clock(.rang))
    }

    /// The wall clock is set.
    mutating func step(_ seconds: Int64) -> [RequestSchedule.Directive] {
        now.wall = now.wall.adding(milliseconds: seconds * 1000)
        return tell(.clock(.wallClockChanged))
    }

    mutating func moves(to latitude: Double) -> [RequestSchedule.Directive] {
        tell(.position(.position(Position(latitude: latitude, longitude: 13.4, accuracy: 10))))
    }

    func row(_ key: RequestKey, _ trigger: NotificationTrigger, lastFired: Timestamp? = nil) -> PendingRequest {
        PendingRequest(
            key: key, app: "com.example.todo",
            request: NotificationRequest(identifier: "\(key)", content: NotificationContent(), trigger: trigger),
            added: now, addedOffset: 0, lastFired: lastFired)
    }
}

extension [RequestSchedule.Directive] {
    fileprivate var fired: [RequestKey] { compactMap { if case .fire(let key, _, _, _) = $0 { key } else { nil } } }
    fileprivate var armed: Timestamp?? {
        compactMap { if case .arm(let instant) = $0 { .some(instant) } else { nil } }.last
    }
}

struct RequestScheduleTests {
    /// Eight o'clock UTC of 15 January 2027.
    fileprivate static let start = Timestamp(rawValue: 1_800_000_000_000)
    private static let nine = NotificationTrigger.calendar(DateComponents(timeZone: .gmt, hour: 9), repeats: true)
    private static let years: Int64 = 9 * 365 * 86_400

    private static func every(_ seconds: Double, repeats: Bool = true) -> NotificationTrigger {
        .timeInterval(seconds: seconds, repeats: repeats)
    }

    private func home(repeats: Bool = false) -> NotificationTrigger {
        .region(
            .init(identifier: "home", latitude: 52.5, longitude: 13.4, radius: 100, onEntry: true, onExit: false),
            repeats: repeats)
    }

    @Test func `the alarm is armed for the earliest deadline, and what is due fires once`() {
        var machine = Machine()
        let start = machine.now.wall
        let tea = machine.row(1, Self.every(90, repeats: false))
        #expect(machine.tell(.stored(tea, replaced: [])) == [.arm(start.adding(milliseconds: 90_000))])
        #expect(machine.tell(.stored(machine.row(2, Self.every(600)), replaced: [])) == [])
        #expect(machine.pass(89) == [.arm(start.adding(milliseconds: 90_000))])
        #expect(
            machine.pass(1) == [
                .fire(key: 1, occurrence: start.adding(milliseconds: 90_000), lateBy: 0, isLast: true),
                .arm(start.adding(milliseconds: 600_000)),
            ])
        #expect(machine.tell(.removed([2])) == [.arm(nil)])
        #expect(machine.pass(86_400) == [])
    }

    @Test func `what is stored takes the place of what it replaces`() {
        var machine = Machine()
        machine.tell(.stored(machine.row(1, Self.every(60, repeats: false)), replaced: []))
        machine.tell(.stored(machine.row(2, Self.every(90, repeats: false)), replaced: [1]))
        #expect(machine.pass(90).fired == [2])
    }

    @Test(arguments: [years, -years])
    func `while the clock is suspect what depends on it is held, and the rest goes on`(jump: Int64) throws {
        var machine = Machine()
        let rows = [
            machine.row(1, Self.nine), machine.row(2, Self.every(30, repeats: false)), machine.row(3, home()),
        ]
        machine.tell(.loaded(rows))
        let jumped = machine.step(jump)
        #expect(jumped.contains(.load) && jumped.contains(.log(.clockSuspect(machine.schedule.plausibility.state))))
        machine.tell(.loaded(rows))
        #expect(machine.schedule.held == [1] && machine.schedule.isHeldByClock(1))
        // What is added meanwhile is held too; its times are by the clock as it is.
        let late = machine.row(4, Self.nine)
        machine.tell(.stored(late, replaced: []))
        let times = machine.schedule.nextTimes(of: late, count: 2, machine.context)
        #expect(times.count == 2 && times.allSatisfy { $0 > machine.now.wall })
        _ = machine.moves(to: 52.6)
        let dwelt = machine.pass(29)
        #expect(dwelt.fired == [] && dwelt.contains(.crossed(key: 3, side: .outside)))
        #expect(machine.pass(1).fired == [2])
        _ = machine.moves(to: 52.5)
        #expect(machine.pass(20).fired == [3])
        #expect(machine.schedule.held == [1, 4])
    }

    @Test(arguments: [years, -years])
    func `a clock that is set back to where it was has everything loaded, and nothing is missed`(jump: Int64) {
        var machine = Machine()
        let rows = [machine.row(1, Self.nine)]
        machine.tell(.loaded(rows))
        let first = machine.now.wall.adding(milliseconds: 3_600_000)
        _ = machine.step(jump)
        machine.tell(.loaded(rows))
        _ = machine.pass(30)
        let back = machine.step(-jump)
        #expect(back.contains(.load) && back.contains(.log(.clockTrusted)))
        #expect(machine.tell(.loaded(rows)).armed == first)
        #expect(machine.pass(3570).fired == [1])
    }

    @Test func `a clock that has stood for a minute has everything loaded, and counts`() {
        var machine = Machine()
        let once = DateComponents(timeZone: .gmt, year: 2027, month: 1, day: 15, hour: 12)
        let rows = [machine.row(1, Self.nine), machine.row(2, .calendar(once, repeats: false))]
        machine.tell(.loaded(rows))
        #expect(machine.step(Self.years).armed == machine.now.wall.adding(milliseconds: ClockPlausibility.settlingTime))
        machine.tell(.loaded(rows))
        #expect(machine.pass(59).filter { $0 == .load } == [])
        #expect(machine.pass(1).contains(.load))
        machine.tell(.loaded(rows))
        let due = machine.tell(.clock(.rang))
        #expect(due.fired == [1], "the newest of nine years")
        #expect(due.contains(.missed(key: 2, occurrence: Self.start.adding(milliseconds: 14_400_000), isLast: true)))
    }

    @Test func `between a jump and the loading nothing fires`() {
        var machine = Machine()
        let rows = [machine.row(1, Self.nine)]
        machine.tell(.loaded(rows))
        machine.now.wall = machine.now.wall.adding(milliseconds: Self.years * 1000)
        // The alarm may ring before the clock says that it was set.
        #expect(machine.tell(.clock(.rang)).fired == [])
        #expect(machine.pass(60).fired == [], "it is trusted, and not yet loaded")
        machine.tell(.loaded(rows))
        #expect(machine.tell(.clock(.rang)).fired == [1])
    }

    @Test(arguments: [(0, true), (5_184_000, true), (5_184_001, false), (-90_000, true), (-90_001, false)])
    func `a clock is suspect that begins 25 hours behind the newest time in the store, or 60 days ahead`(
        seconds: Int64, isTrusted: Bool
    ) {
        var machine = Machine()
        let fired = machine.now.wall
        machine.now.wall = fired.adding(milliseconds: -86_400_000)
        let row = machine.row(1, Self.nine, lastFired: fired)
        machine.now.wall = fired.adding(milliseconds: seconds * 1000)
        machine.schedule = RequestSchedule()
        let begun = machine.tell(.loaded([row]))
        #expect(machine.schedule.plausibility.isTrusted == isTrusted)
        #expect(machine.schedule.held.isEmpty == isTrusted)
        #expect(begun.contains(.log(.clockSuspect(machine.schedule.plausibility.state))) == !isTrusted)
    }

    @Test func `a small step fires what it passes, and moves no interval`() {
        var machine = Machine()
        let start = machine.now.wall
        machine.tell(.stored(machine.row(1, Self.nine), replaced: []))
        machine.tell(.stored(machine.row(2, Self.every(7200)), replaced: []))
        let stepped = machine.step(3600)
        #expect(stepped.fired == [1] && !stepped.contains(.load))
        #expect(stepped.contains { if case .anchored(2, _, nil) = $0 { true } else { false } })
        #expect(stepped.armed == start.adding(milliseconds: 10_800_000))
    }

    @Test func `what is due comes in batches between which others have their turn`() {
        var machine = Machine()
        for key in (1...300).map(RequestKey.init(rawValue:)) {
            machine.tell(.stored(machine.row(key, Self.every(60, repeats: false)), replaced: []))
        }
        let first = machine.pass(60)
        #expect(first.fired.count == RequestSchedule.batchSize && first.last == .continue && first.armed == nil)
        let rest = machine.tell(.timePassed)
        #expect(rest.fired.count == 300 - RequestSchedule.batchSize && !rest.contains(.continue))
    }

    @Test func `a request whose app is missing is held until its row is read again`() {
        var machine = Machine()
        let tea = machine.row(1, Self.every(60, repeats: false))
        machine.tell(.stored(tea, replaced: []))
        #expect(machine.pass(60).fired == [1])
        machine.tell(.appMissing(key: 1))
        #expect(machine.schedule.held == [1])
        #expect(machine.tell(.reread([tea])).armed == Self.start.adding(milliseconds: 60_000))
        #expect(machine.tell(.clock(.rang)).fired == [1] && machine.schedule.held.isEmpty)
    }

    @Test func `a zone that becomes known is looked up, and once more when it has settled`() {
        var machine = Machine()
        let cairo = TimeZone(identifier: "Africa/Cairo")
        let dinner = machine.row(1, .calendar(DateComponents(timeZone: cairo, hour: 18), repeats: true))
        #expect(machine.tell(.stored(dinner, replaced: [])) == [.log(.zoneUnknown(app: dinner.app))])
        machine.zones[.named("Africa/Cairo")] = .fixed(secondsFromGMT: 7200).named("Africa/Cairo")
        #expect(machine.tell(.clock(.zoneChanged)).contains(.read(keys: [1])))
        machine.tell(.reread([dinner]))
        #expect(machine.schedule.times.nextDeadline == Self.start.adding(milliseconds: 8 * 3_600_000))
        machine.zones[.named("Africa/Cairo")] = .fixed(secondsFromGMT: 10_800).named("Africa/Cairo")
        #expect(machine.pass(11).armed == Self.start.adding(milliseconds: 7 * 3_600_000))
        #expect(machine.schedule.zoneDeadline == nil)
    }

    @Test(arguments: [false, true])
    func `positions are reported while a region waits, and a crossing fires`(repeats: Bool) {
        var machine = Machine()
        #expect(machine.tell(.stored(machine.row(1, home(repeats: repeats)), replaced: [])) == [.watchPosition(true)])
        #expect(machine.moves(to: 52.6).armed == machine.now.wall.adding(milliseconds: RegionWatch.dwell))
        #expect(machine.pass(20) == [.crossed(key: 1, side: .outside)])
        _ = machine.moves(to: 52.5)
        let crossing: [RequestSchedule.Directive] = [
            .crossed(key: 1, side: .inside), .fire(key: 1, occurrence: nil, lateBy: 0, isLast: !repeats),
        ]
        #expect(machine.pass(20) == crossing + (repeats ? [] : [.watchPosition(false)]))
        #expect(machine.schedule.regions.hasPosition == repeats)
    }

    @Test func `why there is no position is known until there is one`() {
        var machine = Machine()
        machine.tell(.stored(machine.row(1, home()), replaced: []))
        #expect(
            machine.tell(.position(.unavailable(reason: "no sky"))) == [.log(.positionUnknown(reason: "no sky"))])
        #expect(machine.schedule.positionFault == "no sky")
        #expect(machine.moves(to: 95) == [.log(.positionRefused)])
        #expect(machine.schedule.positionFault == nil && !machine.schedule.regions.hasPosition)
    }

    @Test func `after a failure of the store everything is loaded once, and is crossed again from the stored side`() {
        var machine = Machine()
        var rows = [machine.row(1, home()), machine.row(2, Self.every(60, repeats: false))]
        rows[0].side = .outside
        machine.tell(.loaded(rows))
        _ = machine.moves(to: 52.5)
        #expect(machine.pass(20).fired == [1])
        #expect(machine.tell(.storeFailed).filter { $0 == .pause } == [.pause])
        #expect(!machine.tell(.storeFailed).contains(.pause), "the pause goes on")
        #expect(machine.pass(40).fired == [], "it could not be stored")
        #expect(machine.tell(.pauseEnded).contains(.load))
        #expect(machine.tell(.storeFailed).contains(.pause), "it cannot be read either")
        #expect(machine.tell(.pauseEnded).contains(.load))
        machine.tell(.loaded(rows))
        _ = machine.moves(to: 52.5)
        #expect(Set(machine.pass(20).fired) == [1, 2])
    }

    @Test func `what the store no longer has waits no longer`() {
        var machine = Machine()
        for key in (1...3).map(RequestKey.init(rawValue:)) {
            machine.tell(.stored(machine.row(key, Self.every(60, repeats: false)), replaced: []))
        }
        machine.tell(.stored(machine.row(4, home()), replaced: []))
        #expect(machine.tell(.retained([2])) == [.watchPosition(false)])
        #expect(machine.pass(60).fired == [2])
    }

    @Test func `a request whose time has passed meanwhile leaves the store`() {
        var machine = Machine()
        let past = DateComponents(timeZone: .gmt, year: 2027, month: 1, day: 15, hour: 7)
        let row = machine.row(1, .calendar(past, repeats: false))
        #expect(machine.tell(.stored(row, replaced: [])) == [.never(key: 1, app: row.app)])
    }
}
