import AgentWire
import AldabaTestSupport
import Foundation
import LocalSchedule
import NIOEmbedded
import PushModel
import Synchronization
import Testing

@testable import AgentCore

/// Requests that wait for their time or place.
@Suite(.timeLimit(.minutes(1)))
struct ScheduleTests {
    private static let start = Instant(milliseconds: noon.rawValue)

    private func request(_ identifier: String, _ trigger: NotificationTrigger) -> NotificationRequest {
        var content = NotificationContent()
        content.title = identifier
        return NotificationRequest(identifier: identifier, content: content, trigger: trigger)
    }

    /// What the agent answers to a request.
    private func add(_ request: NotificationRequest, _ app: TestApp, number: Int64 = 1) async -> CenterAnswer? {
        app.send(.center(request: number, .add(request)))
        let message = await app.inbox.next { if case .centerAnswered(number, _) = $0 { true } else { false } }
        guard case .centerAnswered(_, let answer)? = message else { return nil }
        return answer
    }

    private func pending(_ harness: AgentHarness) async throws -> [PendingRequest] {
        let agent = try #require(harness.agent.withLock { $0 })
        return try await agent.pendingForTests()
    }

    private static func every(_ seconds: Double, repeats: Bool = true) -> NotificationTrigger {
        .timeInterval(seconds: seconds, repeats: repeats)
    }

    @Test func `an interval fires when its time has come, whether its app runs or not, and once`() async throws {
        let harness = try AgentHarness()
        try await harness.start()
        let app = try await harness.readyApp()
        #expect(await add(request("tea", Self.every(90, repeats: false)), app) == .done)
        #expect(await harness.clock.armed.next { $0 != nil } == Self.start.advanced(by: 90_000))
        try await app.close()
        harness.clock.pass(89)
        harness.clock.pass(1)
        #expect(await harness.desktop.show()?.title == "tea")
        #expect(try await pending(harness).isEmpty)
        try await harness.stop()
    }

    @Test(arguments: [false, true])
    func `one that repeats goes on after a restart of the agent or the system, in step with its beginning`(
        isReboot: Bool
    ) async throws {
        let harness = try AgentHarness()
        try await harness.start()
        let app = try await harness.readyApp()
        #expect(await add(request("stand up", Self.every(3600)), app) == .done)
        harness.clock.pass(3600)
        let first = try #require(await app.delivery())
        #expect(first.kind == .foreground)
        app.send(.handled(notification: first.id, outcome: .notPresented))
        _ = await app.inbox.next { if case .handledConfirmed = $0 { true } else { false } }
        let second = Self.start.advanced(by: 7_200_000)
        #expect(await harness.clock.armed.next { $0 == second } != nil)
        try await harness.stop()
        harness.clock.change { moment in
            moment.wall = moment.wall.advanced(by: 60_000)
            moment.sinceBoot = isReboot ? 5_000 : moment.sinceBoot + 60_000
            if isReboot { moment.boot = UUID() }
        }
        try await harness.start()
        // It is armed when the agent listens to the clock.
        #expect(await harness.clock.armed.next { $0 == second } != nil)
        harness.clock.pass(3540)
        #expect(await harness.desktop.show()?.title == "stand up")
        #expect(try await pending(harness).map(\.fired) == [2])
        try await harness.stop()
    }

    @Test func `an app in front is asked first`() async throws {
        let harness = try AgentHarness()
        try await harness.start()
        let app = try await harness.readyApp()
        #expect(await add(request("tea", Self.every(60)), app) == .done)
        harness.clock.pass(60)
        let (id, kind) = try #require(await app.delivery())
        #expect(kind == .foreground)
        app.send(.handled(notification: id, outcome: .presented(options: 16)))
        #expect(await harness.desktop.show()?.title == "tea")
        try await harness.stop()
    }

    @Test func `a wall clock that is set does not move an interval, and moves what is of the calendar`() async throws {
        let harness = try AgentHarness()
        try await harness.start()
        let app = try await harness.readyApp()
        #expect(await add(request("tea", Self.every(600, repeats: false)), app, number: 1) == .done)
        let later = Self.start.advanced(by: 7_200_000)
        var components = Calendar(identifier: .gregorian).dateComponents(
            in: .gmt, from: later.date)
        components = DateComponents(timeZone: .gmt, hour: components.hour, minute: components.minute)
        #expect(await add(request("lunch", .calendar(components, repeats: false)), app, number: 2) == .done)
        try await app.close()
        harness.clock.change { $0.wall = $0.wall.advanced(by: 7_140_000) }
        harness.clock.tell(.wallClockChanged)
        #expect(await harness.clock.armed.next { $0 == later.advanced(by: -later.milliseconds % 60_000) } != nil)
        harness.clock.pass(60)
        #expect(await harness.desktop.show()?.title == "lunch")
        harness.clock.pass(540)
        #expect(await harness.desktop.show()?.title == "tea")
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
        let due = Self.start.advanced(by: 60_000)
        #expect(await harness.clock.armed.next { $0 == due } != nil)
        try await harness.stop()
        harness.clock.change {
            $0.wall = $0.wall.advanced(by: (60 + late) * 1000); $0.sinceBoot += (60 + late) * 1000
        }
        var timing = AgentTiming()
        timing.clockPatience = .zero
        try await harness.start(timing: timing)
        // It is armed when the agent listens to the clock.
        #expect(await harness.clock.armed.next { $0 == due } != nil)
        harness.clock.tell(.rang)
        if comes { #expect(await harness.desktop.show()?.title == "tea") }
        #expect(try await pending(harness).isEmpty)
        try await harness.stop()
        harness.desktop.presented.finish()
        #expect(await harness.desktop.presented.next() == nil)
    }

    @Test(
        arguments: [
            .timeInterval(seconds: 0, repeats: false), .timeInterval(seconds: 59, repeats: true),
            .timeInterval(seconds: .infinity, repeats: false), .timeInterval(seconds: 1e30, repeats: true),
            .calendar(DateComponents(), repeats: false),
            .calendar(DateComponents(month: 2, day: 30), repeats: true),
            .calendar(DateComponents(hour: 25), repeats: true),
            .calendar(DateComponents(year: 1999), repeats: false), region(radius: 0), region(radius: .nan),
            region(radius: 20_000_001), region(latitude: 91), region(onEntry: false),
            .calendar(DateComponents(nanosecond: 5), repeats: true),
        ] as [NotificationTrigger])
    func `what will never fire is refused at once`(trigger: NotificationTrigger) async throws {
        let harness = try AgentHarness()
        try await harness.start()
        let agent = try #require(harness.agent.withLock { $0 })
        #expect(await agent.faultForTests(of: trigger) != nil)
        try await harness.stop()
    }

    @Test(
        arguments: [
            (DateComponents(year: 2026, month: 2, day: 30, hour: 9), "no date is of these fields: year=2026 month=2"),
            (DateComponents(month: 2, day: 30), "no date in the next forty years is of these fields: month=2 day=30"),
            (DateComponents(), "no date in the next forty years is of these fields: none are given"),
            (
                DateComponents(timeZone: .gmt, year: 2026, month: 11, day: 21, hour: 16),
                "its time has passed: 2026-11-21T16:00:00Z"
            ),
            (
                DateComponents(
                    timeZone: TimeZone(identifier: "Europe/Berlin"), year: 2026, month: 10, day: 25, hour: 2),
                "its time has passed: 2026-10-25T02:00:00+02:00"
            ),
            (
                DateComponents(calendar: Calendar(identifier: .vietnamese), month: 1, day: 1),
                "this machine does not know the months of the calendar vietnamese"
            ),
            (DateComponents(hour: 9, nanosecond: 5), "its fields match many times a minute"),
        ] as [(DateComponents, String)])
    func `what is refused says why`(fields: DateComponents, words: String) async throws {
        let harness = try AgentHarness()
        try await harness.start()
        let agent = try #require(harness.agent.withLock { $0 })
        let fault = await agent.faultForTests(of: .calendar(fields, repeats: fields.nanosecond != nil))
        #expect(fault?.hasPrefix(words) == true, "\(fault ?? "")")
        try await harness.stop()
    }

    @Test func `a terminal's reminder takes no other's away, and is told of with its times`() async throws {
        let harness = try AgentHarness(zones: { _ in .fixed(secondsFromGMT: 7200).named("Test/Zone") })
        try await harness.start()
        let agent = try #require(harness.agent.withLock { $0 })
        let daily = NotificationTrigger.calendar(DateComponents(hour: 9), repeats: true)
        guard case .pending(let told, nil)? = await agent.notifyForTests(request("medicine", daily)) else {
            Issue.record("it is not told of")
            return
        }
        #expect(told.first?.identifier == "medicine" && told.first?.offsets == [7200, 7200, 7200])
        #expect(told.first?.reason == "whenever hour=9 in the machine's time zone (Test/Zone)")
        for number in 2...64 {
            guard case .pending? = await agent.notifyForTests(request("\(number)", Self.every(60))) else {
                Issue.record("\(number) is refused")
                continue
            }
        }
        guard case .failed(let reason)? = await agent.notifyForTests(request("65", Self.every(60))) else {
            Issue.record("it was taken")
            return
        }
        #expect(reason.contains("64 notifications of terminals wait already"))
        var long = request("medicine", daily)
        long.content.body = String(repeating: "a", count: 15 << 10)
        guard case .failed(let message)? = await agent.notifyForTests(long) else {
            Issue.record("it was taken")
            return
        }
        #expect(message == "it says more than 14336 bytes")
        guard case .pending? = await agent.notifyForTests(request("medicine", daily)) else {
            Issue.record("it cannot take its own place")
            return
        }
        try await harness.stop()
    }

    private static func region(
        latitude: Double = 52.5, radius: Double = 100, onEntry: Bool = true
    ) -> NotificationTrigger {
        .region(
            .init(
                identifier: "home", latitude: latitude, longitude: 13.4, radius: radius, onEntry: onEntry,
                onExit: false), repeats: false)
    }

    @Test func `a place that is entered fires, and who tells of places rests when nobody waits`() async throws {
        let harness = try AgentHarness()
        try await harness.start()
        let app = try await harness.readyApp()
        #expect(await add(request("home", Self.region()), app) == .done)
        #expect(await harness.positions.looks.next() == true)
        try await app.close()
        func move(_ latitude: Double, after seconds: Int64 = 30) async throws {
            harness.clock.change {
                $0.wall = $0.wall.advanced(by: seconds * 1000); $0.sinceBoot += seconds * 1000
            }
            harness.positions.tell(.position(Position(latitude: latitude, longitude: 13.4, accuracy: 10)))
            // It has been looked at when this is answered.
            _ = try await pending(harness)
        }
        try await move(52.6)
        try await move(52.6)
        try await move(52.5)
        harness.clock.pass(20)
        #expect(await harness.desktop.show()?.title == "home")
        #expect(await harness.positions.looks.next() == false)
        #expect(try await pending(harness).isEmpty)
        try await harness.stop()
    }

    @Test func `a place that is waited for later knows where the machine is`() async throws {
        let harness = try AgentHarness()
        try await harness.start()
        let app = try await harness.readyApp()
        #expect(await add(request("first", Self.region()), app) == .done)
        #expect(await harness.positions.looks.next() == true)
        harness.positions.tell(.position(Position(latitude: 52.6, longitude: 13.4, accuracy: 10)))
        #expect(await add(request("second", Self.region()), app) == .done)
        _ = try await pending(harness)
        harness.clock.pass(20)
        // Both dwell elsewhere since then, and both are entered.
        harness.positions.tell(.position(Position(latitude: 52.5, longitude: 13.4, accuracy: 10)))
        try await app.close()
        _ = try await pending(harness)
        harness.clock.pass(20)
        let shown = [await harness.desktop.show()?.title, await harness.desktop.show()?.title]
        #expect(Set(shown) == ["first", "second"])
        try await harness.stop()
    }

    @Test func `an app may wait for twenty places`() async throws {
        let harness = try AgentHarness()
        try await harness.start()
        let app = try await harness.readyApp()
        for number in 1...20 {
            #expect(await add(request("place \(number)", Self.region()), app, number: Int64(number)) == .done)
        }
        guard case .failed(1400, let message)? = await add(request("one more", Self.region()), app, number: 21) else {
            Issue.record("it was taken")
            return
        }
        #expect(message.contains("20 regions"))
        #expect(await add(request("place 7", Self.region()), app, number: 22) == .done, "in the place of its own")
        try await harness.stop()
    }

    @Test func `what is due while its manifest is not there comes when it is there again`() async throws {
        let harness = try AgentHarness()
        try await harness.start()
        let app = try await harness.readyApp()
        #expect(await add(request("tea", Self.every(60, repeats: false)), app) == .done)
        let due = Self.start.advanced(by: 60_000)
        #expect(await harness.clock.armed.next { $0 == due } != nil)
        try await harness.stop()
        let manifest = harness.configuration.appsFolder + "/com.example.todo.json"
        #expect(rename(manifest, manifest + ".aside") == 0)
        try await harness.start()
        #expect(await harness.clock.armed.next { $0 == due } != nil)
        harness.clock.pass(60)
        #expect(try await pending(harness).count == 1)
        #expect(rename(manifest + ".aside", manifest) == 0)
        try #require(harness.agent.withLock { $0 }).enter { $0.loadApps() }
        #expect(await harness.clock.armed.next { $0 == due } != nil)
        harness.clock.tell(.rang)
        #expect(await harness.desktop.show()?.title == "tea")
        #expect(try await pending(harness).isEmpty)
        try await harness.stop()
    }

    @Test func `a clock that is far ahead for a moment neither fires nor drops anything`() async throws {
        let harness = try AgentHarness()
        try await harness.start()
        let app = try await harness.readyApp()
        let fields = DateComponents(timeZone: .gmt, year: 2027, month: 1, day: 15, hour: 12)
        #expect(await add(request("dentist", .calendar(fields, repeats: false)), app) == .done)
        try await app.close()
        harness.clock.change { $0.wall = $0.wall.advanced(by: 9 * 365 * 86_400_000) }
        harness.clock.tell(.wallClockChanged)
        harness.clock.tell(.rang)
        #expect(try await pending(harness).count == 1)
        harness.clock.change { $0.wall = $0.wall.advanced(by: -9 * 365 * 86_400_000) }
        harness.clock.tell(.wallClockChanged)
        #expect(try await pending(harness).count == 1)
        harness.clock.pass(14_400)
        #expect(await harness.desktop.show()?.title == "dentist")
        try await harness.stop()
    }

    @Test(arguments: [true, false])
    func `a clock that is years behind when the agent begins takes nothing for a mistake before it is set`(
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
        let first = Self.start.advanced(by: 3_600_000)
        #expect(await harness.clock.armed.next { $0 == first } != nil)
        harness.clock.pass(3600)
        #expect(await harness.desktop.show()?.title == "daily")
        #expect(try await pending(harness).map(\.fired) == [1, 0])
        try await harness.stop()
        let behind: Int64 = 27 * 365 * 86_400_000
        harness.clock.change {
            $0 = Moment(wall: $0.wall.advanced(by: 600_000 - behind), boot: UUID(), sinceBoot: 5_000)
        }
        var timing = AgentTiming()
        timing.behindPatience = isSet ? .seconds(3600) : .milliseconds(5)
        try await harness.start(timing: timing)
        let agent = try #require(harness.agent.withLock { $0 })
        harness.clock.tell(.rang)
        if isSet {
            #expect(try await pending(harness).map(\.lastFired) == [first, nil])
            harness.clock.change { $0.wall = $0.wall.advanced(by: behind) }
            harness.clock.tell(.wallClockChanged)
            let tomorrow = Self.start.advanced(by: 86_400_000)
            #expect(await harness.clock.armed.next { $0 == tomorrow } != nil, "tea is due as it was")
            #expect(try await pending(harness).map(\.fired) == [1, 0])
        } else {
            await withCheckedContinuation { over in agent.enter(after: .milliseconds(10)) { _ in over.resume() } }
            let now = harness.clock.now().wall
            #expect(try await pending(harness).allSatisfy { $0.added.wall <= now && $0.lastFired ?? .min <= now })
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
        let first = Self.start.advanced(by: 3_600_000)
        #expect(await harness.clock.armed.next { $0 == first } != nil)
        try await harness.stop()
        let ahead: Int64 = 9 * 365 * 86_400_000
        harness.clock.change { $0.wall = $0.wall.advanced(by: ahead) }
        try await harness.start()
        #expect(await harness.clock.armed.next { $0 == first } != nil)
        harness.clock.tell(.rang)
        #expect(await harness.desktop.show()?.title == "daily")
        try await harness.stop()
        harness.clock.change { $0.wall = $0.wall.advanced(by: -ahead) }
        try await harness.start()
        #expect(await harness.clock.armed.next { $0 == first } != nil)
        harness.clock.pass(3600)
        #expect(await harness.desktop.show()?.title == "daily")
        #expect(try await pending(harness).map(\.fired) == [2])
        try await harness.stop()
    }

    @Test func `what does not go by the wall clock does not wait until that is believed`() async throws {
        let harness = try AgentHarness()
        try await harness.start()
        let app = try await harness.readyApp()
        let fields = DateComponents(timeZone: .gmt, year: 2027, month: 1, day: 15, hour: 12)
        #expect(await add(request("dentist", .calendar(fields, repeats: false)), app, number: 1) == .done)
        #expect(await add(request("tea", Self.every(60, repeats: false)), app, number: 2) == .done)
        try await app.close()
        let due = Self.start.advanced(by: 60_000)
        #expect(await harness.clock.armed.next { $0 == due } != nil)
        let ahead: Int64 = 9 * 365 * 86_400_000
        harness.clock.change { $0.wall = $0.wall.advanced(by: ahead) }
        harness.clock.tell(.wallClockChanged)
        #expect(await harness.clock.armed.next { $0 == due.advanced(by: ahead) } != nil)
        harness.clock.pass(60)
        #expect(await harness.desktop.show()?.title == "tea")
        #expect(try await pending(harness).map(\.request.identifier) == ["dentist"])
        try await harness.stop()
    }

    @Test(arguments: [true, false])
    func `what would be too late when the agent begins is kept until the clock had time to be put right`(
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
        harness.clock.change { $0.wall = $0.wall.advanced(by: ahead) }
        var timing = AgentTiming()
        timing.clockPatience = .milliseconds(isPutRight ? 60_000 : 5)
        try await harness.start(timing: timing)
        #expect(await harness.clock.armed.next { $0 == due } != nil)
        harness.clock.tell(.rang)
        #expect(try await pending(harness).count == 1)
        if isPutRight {
            harness.clock.change { $0.wall = $0.wall.advanced(by: -ahead) }
            harness.clock.tell(.wallClockChanged)
            #expect(await harness.clock.armed.next { $0 == due } != nil)
            harness.clock.pass(14_400)
            #expect(await harness.desktop.show()?.title == "dentist")
        } else {
            let agent = try #require(harness.agent.withLock { $0 })
            // The loop's timers come in their order.
            await withCheckedContinuation { over in agent.enter(after: .milliseconds(10)) { _ in over.resume() } }
        }
        #expect(try await pending(harness).isEmpty)
        try await harness.stop()
    }

    @Test(arguments: [nil, "com.example.todo"])
    func `a terminal is told of all that waits, a page at a time`(app name: String?) async throws {
        let resources = try TemporaryFolder()
        let place = resources.url.appendingPathComponent("en.lproj")
        try FileManager.default.createDirectory(at: place, withIntermediateDirectories: true)
        let texts = [("LONG", 40 << 10), ("TOO LONG", 2 << 20)].map { key, length in
            "\"\(key)\" = \"\(String(repeating: "a", count: length))\";"
        }
        try Data(texts.joined(separator: "\n").utf8).write(to: place.appendingPathComponent("Localizable.strings"))
        let harness = try AgentHarness { $0.resources = resources.url.path }
        try await harness.start()
        let app = try await harness.readyApp()
        for number in 1...63 {
            var request = request("r\(number)", Self.every(Double(100 * number), repeats: number.isMultiple(of: 2)))
            // Sixty of them are more than a frame, and one alone would be.
            request.content.bodyLocalization = .init(key: number == 40 ? "TOO LONG" : "LONG", arguments: [])
            #expect(await add(request, app, number: Int64(number)) == .done)
        }
        #expect(await add(request("place", Self.region()), app, number: 64) == .done)
        let agent = try #require(harness.agent.withLock { $0 })
        for number in 1...200 {
            agent.enter { agent in
                agent.schedule(
                    NotificationRequest(
                        identifier: "s\(number)", content: NotificationContent(), trigger: Self.every(9_000)),
                    as: nil, app: "com.example.other\(number % 4)")
            }
        }
        var all: [PendingNotification] = []
        var last: PendingTurn?
        var pages = 0
        repeat {
            let answer = try await agent.waitingForTests(name, after: last)
            guard case .pending(let page, let next) = answer else {
                Issue.record("\(answer)")
                return
            }
            #expect(try AgentFrame.encode(AgentMessage.managed(request: 1, answer)).count <= AgentFrame.maximumLength)
            all += page
            last = next
            pages += 1
        } while last != nil
        let times = all.map { $0.times.first ?? .max }
        #expect(times == times.sorted() && pages > 1)
        #expect(all.count == (name == nil ? 264 : 64) && Set(all.map { $0.app + $0.identifier }).count == all.count)
        #expect(all.last?.identifier == "place")
        #expect(all.first { $0.identifier == "r1" }?.content.body.count == 40 << 10)
        #expect(all.first { $0.identifier == "r40" }?.content.bodyLocalization?.key == "TOO LONG")
        #expect(all.filter { $0.reason.contains("installed again") }.count == (name == nil ? 200 : 0))
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
        let after = await harness.clock.armed.next { $0 != nil }
        #expect(before != nil && after == before??.advanced(by: -3_600_000))
        try await harness.stop()
    }

    @Test func `a clock that stays far ahead is believed`() async throws {
        let harness = try AgentHarness()
        var timing = AgentTiming()
        timing.clockPatience = .milliseconds(1)
        try await harness.start(timing: timing)
        let app = try await harness.readyApp()
        #expect(await add(request("tea", Self.every(60, repeats: false)), app) == .done)
        try await app.close()
        harness.clock.change {
            $0.wall = $0.wall.advanced(by: 9 * 365 * 86_400_000)
            $0.sinceBoot += 60_000
        }
        harness.clock.tell(.wallClockChanged)
        #expect(await harness.desktop.show()?.title == "tea")
        try await harness.stop()
    }

    @Test func `a sound without a text is heard`() async throws {
        let harness = try AgentHarness()
        try await harness.start()
        var content = NotificationContent()
        content.sound = NotificationSound()
        let agent = try #require(harness.agent.withLock { $0 })
        agent.enter { [content] agent in
            agent.fire(NotificationRequest(identifier: "ping", content: content), as: nil, app: "com.example.todo")
        }
        #expect(await harness.desktop.played.next() == .standard)
        try await harness.stop()
    }
}

/// How many hours east of UTC a test's zone is.
private final class Hours: Sendable {
    let number = Mutex(2)
}

extension Agent {
    fileprivate func pendingForTests() throws -> [PendingRequest] {
        flush()
        return try store.read { try $0.pending() }
    }

    fileprivate func waitingForTests(_ app: String?, after last: PendingTurn?) throws -> ManagementAnswer {
        flush()
        return try waiting(app, after: last)
    }

    fileprivate func notifyForTests(_ request: NotificationRequest) -> ManagementAnswer? {
        let connection = AppConnection(peer: Peer(process: 1, user: 0, program: nil), channel: NIOAsyncTestingChannel())
        return notify(request, Confirmation(connection: connection, request: 1), waits: false)
    }

    fileprivate func faultForTests(of trigger: NotificationTrigger) -> String? {
        fault(of: trigger, of: "x", app: "com.example.todo")
    }
}
