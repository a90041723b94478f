import AgentProtocol
import AldabaTestSupport
import Foundation
import PushCore
import Scheduling
import Synchronization
import Testing

@testable import AgentEngine
@testable import AgentRuntime

/// What becomes of what waits when clocks are set, and zones are others.
@Suite(.timeLimit(.minutes(5)))
struct ScheduleClockTests: WaitingRequests {
    @Test func `a wall clock that is set does not move an interval, and moves what is of the calendar`() async throws {
        let harness = try AgentHarness()
        try await harness.start()
        let app = try await harness.readyApp()
        #expect(await add(request("tea", Self.every(600, repeats: false)), app, number: 1) == .done)
        let later = Self.start.adding(milliseconds: 7_200_000)
        var components = Calendar(identifier: .gregorian).dateComponents(
            in: .gmt, from: later.date)
        components = DateComponents(timeZone: .gmt, hour: components.hour, minute: components.minute)
        #expect(await add(request("lunch", .calendar(components, repeats: false)), app, number: 2) == .done)
        try await app.close()
        harness.clock.change { $0.wall = $0.wall.adding(milliseconds: 7_140_000) }
        harness.clock.tell(.wallClockChanged)
        #expect(await harness.clock.armed.next { $0 == later.adding(milliseconds: -later.rawValue % 60_000) } != nil)
        harness.clock.pass(60)
        #expect(await harness.desktop.show()?.title == "lunch")
        harness.clock.pass(540)
        #expect(await harness.desktop.show()?.title == "tea")
        try await harness.stop()
    }

    @Test func `a machine that has slept asks the server whether it is still there`() async throws {
        let harness = try AgentHarness()
        try await harness.start()
        let session = try #require(await harness.server.sessions.next())
        session.events(.loggedIn)
        harness.clock.tell(.wallClockChanged)
        #expect(await session.probes.next() != nil)
        try await harness.stop()
    }

    @Test(arguments: [
        ("deliver", 24, 7200, true), ("drop", 24, 7200, false), ("deliver", 1, 7200, false), ("drop", 24, 30, true),
    ])
    func `what was missed comes late, once, where the person lets it`(
        missed: String, hours: Int, late: Int64, comes: Bool
    ) async throws {
        let harness = try AgentHarness()
        try await harness.start()
        let app = try await harness.readyApp()
        try #require(harness.agent.withLock { $0 }).enter { agent in
            agent.change("com.example.todo") {
                $0.settings.missed = missed == "drop" ? .drop : .deliver
                $0.settings.missedHours = hours
            }
        }
        #expect(await add(request("tea", Self.every(60, repeats: false)), app) == .done)
        let due = Self.start.adding(milliseconds: 60_000)
        #expect(await harness.clock.armed.next { $0 == due } != nil)
        try await harness.stop()
        harness.clock.change {
            $0.wall = $0.wall.adding(milliseconds: (60 + late) * 1000); $0.sinceBoot += (60 + late) * 1000
        }
        try await harness.start()
        // It is armed when the agent listens to the clock.
        #expect(await harness.clock.armed.next { $0 == due } != nil)
        harness.clock.tell(.rang)
        if comes { #expect(await harness.desktop.show()?.title == "tea") }
        #expect(try await pending(harness).isEmpty)
        try await harness.stop()
        harness.desktop.presented.finish()
        #expect(await harness.desktop.presented.next() == nil)
    }

    @Test func `a clock that is far ahead for a moment neither fires nor drops anything`() async throws {
        let harness = try AgentHarness()
        try await harness.start()
        let app = try await harness.readyApp()
        let fields = DateComponents(timeZone: .gmt, year: 2027, month: 1, day: 15, hour: 12)
        #expect(await add(request("dentist", .calendar(fields, repeats: false)), app) == .done)
        try await app.close()
        harness.clock.change { $0.wall = $0.wall.adding(milliseconds: 9 * 365 * 86_400_000) }
        harness.clock.tell(.wallClockChanged)
        harness.clock.tell(.rang)
        #expect(try await pending(harness).count == 1)
        harness.clock.change { $0.wall = $0.wall.adding(milliseconds: -9 * 365 * 86_400_000) }
        harness.clock.tell(.wallClockChanged)
        #expect(try await pending(harness).count == 1)
        harness.clock.pass(14_400)
        #expect(await harness.desktop.show()?.title == "dentist")
        try await harness.stop()
    }

    @Test(arguments: [true, false])
    func `a clock that is years behind when the agent begins changes nothing before it is set, or has stood`(
        isSet: Bool
    ) async throws {
        let harness = try AgentHarness()
        try await harness.start()
        let app = try await harness.readyApp()
        // Noon is eight o'clock UTC of 15 January 2027.
        let daily = DateComponents(timeZone: .gmt, hour: 9)
        #expect(await add(request("daily", .calendar(daily, repeats: true)), app, number: 1) == .done)
        #expect(await add(request("tea", Self.every(86_400, repeats: false)), app, number: 2) == .done)
        try await app.close()
        let first = Self.start.adding(milliseconds: 3_600_000)
        #expect(await harness.clock.armed.next { $0 == first } != nil)
        harness.clock.pass(3600)
        #expect(await harness.desktop.show()?.title == "daily")
        #expect(try await pending(harness).map(\.fired) == [1, 0])
        try await harness.stop()
        let behind: Int64 = 27 * 365 * 86_400_000
        harness.clock.change {
            $0 = ClockReading(wall: $0.wall.adding(milliseconds: 600_000 - behind), boot: UUID(), sinceBoot: 5_000)
        }
        let trusted = harness.clock.now().wall.adding(milliseconds: ClockPlausibility.settlingTime)
        try await harness.start()
        #expect(await harness.clock.armed.next { $0 == trusted } != nil)
        harness.clock.tell(.rang)
        #expect(try await pending(harness).map(\.lastFired) == [first, nil])
        if isSet {
            harness.clock.change { $0.wall = $0.wall.adding(milliseconds: behind) }
            harness.clock.tell(.wallClockChanged)
            let tomorrow = Self.start.adding(milliseconds: 86_400_000)
            #expect(await harness.clock.armed.next { $0 == tomorrow } != nil, "tea is due as it was")
            #expect(try await pending(harness).map(\.fired) == [1, 0])
        } else {
            harness.clock.pass(60)
            #expect(await harness.clock.armed.next { $0.map { $0 > trusted } ?? false } != nil)
            harness.clock.tell(.rang)
            let now = harness.clock.now().wall
            #expect(
                try await pending(harness).allSatisfy { $0.added.wall <= now && $0.lastFired ?? .distantPast <= now })
        }
        try await harness.stop()
    }

    @Test func `what fired in a run with a clock years ahead comes at its time in the next one`() async throws {
        let harness = try AgentHarness()
        try await harness.start()
        let app = try await harness.readyApp()
        let daily = DateComponents(timeZone: .gmt, hour: 9)
        #expect(await add(request("daily", .calendar(daily, repeats: true)), app, number: 1) == .done)
        try await app.close()
        let first = Self.start.adding(milliseconds: 3_600_000)
        #expect(await harness.clock.armed.next { $0 == first } != nil)
        try await harness.stop()
        let ahead: Int64 = 9 * 365 * 86_400_000
        harness.clock.change { $0.wall = $0.wall.adding(milliseconds: ahead) }
        try await harness.start()
        try await trust(harness)
        #expect(await harness.clock.armed.next { $0 == first } != nil)
        harness.clock.tell(.rang)
        #expect(await harness.desktop.show()?.title == "daily")
        try await harness.stop()
        harness.clock.change { $0.wall = $0.wall.adding(milliseconds: -ahead) }
        try await harness.start()
        try await trust(harness)
        #expect(await harness.clock.armed.next { $0 == first } != nil)
        harness.clock.pass(3540)
        #expect(await harness.desktop.show()?.title == "daily")
        #expect(try await pending(harness).map(\.fired) == [2])
        try await harness.stop()
    }

    /// The clock stands for as long as it must to be trusted.
    private func trust(_ harness: AgentHarness) async throws {
        let trusted = harness.clock.now().wall.adding(milliseconds: ClockPlausibility.settlingTime)
        #expect(await harness.clock.armed.next { $0 == trusted } != nil)
        harness.clock.pass(ClockPlausibility.settlingTime / 1000)
    }

    @Test func `what does not go by the wall clock does not wait until that is trusted`() async throws {
        let harness = try AgentHarness()
        try await harness.start()
        let app = try await harness.readyApp()
        let fields = DateComponents(timeZone: .gmt, year: 2027, month: 1, day: 15, hour: 12)
        #expect(await add(request("dentist", .calendar(fields, repeats: false)), app, number: 1) == .done)
        #expect(await add(request("tea", Self.every(30, repeats: false)), app, number: 2) == .done)
        try await app.close()
        let due = Self.start.adding(milliseconds: 30_000)
        #expect(await harness.clock.armed.next { $0 == due } != nil)
        let ahead: Int64 = 9 * 365 * 86_400_000
        harness.clock.change { $0.wall = $0.wall.adding(milliseconds: ahead) }
        harness.clock.tell(.wallClockChanged)
        #expect(await harness.clock.armed.next { $0 == due.adding(milliseconds: ahead) } != nil)
        harness.clock.pass(30)
        #expect(await harness.desktop.show()?.title == "tea")
        #expect(try await pending(harness).map(\.request.identifier) == ["dentist"])
        try await harness.stop()
    }

    @Test(arguments: [9, -9])
    func `an interval that repeats goes on in step while the clock is suspect`(years: Int64) async throws {
        let harness = try AgentHarness()
        try await harness.start()
        let app = try await harness.readyApp()
        #expect(await add(request("tea", Self.every(60)), app) == .done)
        try await app.close()
        harness.clock.pass(60)
        #expect(await harness.desktop.show()?.title == "tea")
        let second = Self.start.adding(milliseconds: 120_000)
        #expect(await harness.clock.armed.next { $0 == second } != nil)
        harness.clock.pass(30)
        let jump = years * 365 * 86_400_000
        harness.clock.change { $0.wall = $0.wall.adding(milliseconds: jump) }
        harness.clock.tell(.wallClockChanged)
        #expect(await harness.clock.armed.next { $0 == second.adding(milliseconds: jump) } != nil)
        harness.clock.pass(30)
        #expect(await harness.desktop.show()?.title == "tea")
        let last = try await pending(harness)
        #expect(last.map(\.fired) == [2] && last.map(\.lastFired) == [second.adding(milliseconds: jump)])
        try await harness.stop()
    }

    @Test(arguments: [true, false])
    func `what would be too late when the agent begins is held until the clock is put right, or has stood`(
        isPutRight: Bool
    ) async throws {
        let harness = try AgentHarness()
        try await harness.start()
        let app = try await harness.readyApp()
        let fields = DateComponents(timeZone: .gmt, year: 2027, month: 1, day: 15, hour: 12)
        #expect(await add(request("dentist", .calendar(fields, repeats: false)), app) == .done)
        let due = await harness.clock.armed.next { $0 != nil }
        try await harness.stop()
        let ahead: Int64 = 9 * 365 * 86_400_000
        harness.clock.change { $0.wall = $0.wall.adding(milliseconds: ahead) }
        let trusted = harness.clock.now().wall.adding(milliseconds: ClockPlausibility.settlingTime)
        try await harness.start()
        #expect(await harness.clock.armed.next { $0 == trusted } != nil)
        harness.clock.tell(.rang)
        #expect(try await pending(harness).count == 1)
        if isPutRight {
            harness.clock.change { $0.wall = $0.wall.adding(milliseconds: -ahead) }
            harness.clock.tell(.wallClockChanged)
            #expect(await harness.clock.armed.next { $0 == due } != nil)
            harness.clock.pass(14_400)
            #expect(await harness.desktop.show()?.title == "dentist")
        } else {
            harness.clock.pass(60)
            #expect(await harness.clock.armed.next { $0 == due } != nil)
            harness.clock.tell(.rang)
        }
        #expect(try await pending(harness).isEmpty)
        try await harness.stop()
    }

    @Test func `what waits in a zone goes by its rules as they are`() async throws {
        let hours = Hours()
        let harness = try AgentHarness(zones: { choice in
            guard case .named(let name) = choice else { return .utc }
            return .fixed(secondsFromGMT: hours.number.withLock { $0 } * 3600).named(name)
        })
        try await harness.start()
        let app = try await harness.readyApp()
        let fields = DateComponents(timeZone: TimeZone(identifier: "Africa/Cairo"), hour: 18)
        #expect(await add(request("dinner", .calendar(fields, repeats: true)), app) == .done)
        let before = await harness.clock.armed.next { $0 != nil }
        hours.number.withLock { $0 = 3 }
        harness.clock.tell(.zoneChanged)
        let expected = before??.adding(milliseconds: -3_600_000)
        // Before that zones are looked up once more.
        let again = Self.start.adding(milliseconds: RequestSchedule.zoneSettlingTime)
        #expect(before != nil)
        #expect(await harness.clock.armed.next { $0 != nil } == again)
        harness.clock.pass(RequestSchedule.zoneSettlingTime / 1000)
        #expect(await harness.clock.armed.next { $0 != nil } == expected)
        try await harness.stop()
    }

    @Test func `a clock that stays far ahead is trusted`() async throws {
        let harness = try AgentHarness()
        try await harness.start()
        let app = try await harness.readyApp()
        let daily = DateComponents(timeZone: .gmt, hour: 7)
        #expect(await add(request("daily", .calendar(daily, repeats: true)), app) == .done)
        let first = await harness.clock.armed.next { $0 != nil }
        try await app.close()
        harness.clock.change { $0.wall = $0.wall.adding(milliseconds: 9 * 365 * 86_400_000) }
        harness.clock.tell(.wallClockChanged)
        try await trust(harness)
        #expect(await harness.clock.armed.next { $0 == first } != nil)
        harness.clock.tell(.rang)
        #expect(await harness.desktop.show()?.title == "daily")
        try await harness.stop()
    }
}

/// How many hours east of UTC a test's zone is.
private final class Hours: Sendable {
    let number = Mutex(2)
}
