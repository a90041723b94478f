import AgentEngine
import AgentProtocol
import AldabaTestSupport
import Foundation
import PushCore
import Scheduling
import Testing

@testable import AgentRuntime

/// Requests that wait for their time or place.
@Suite(.timeLimit(.minutes(5)))
struct ScheduleTests: WaitingRequests {
    @Test func `an interval fires when its time has come, whether its app runs or not, and once`() async throws {
        let harness = try AgentHarness()
        try await harness.start()
        let app = try await harness.readyApp()
        #expect(await add(request("tea", Self.every(90, repeats: false)), app) == .done)
        #expect(await harness.clock.armed.next { $0 != nil } == Self.start.adding(milliseconds: 90_000))
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
        let second = Self.start.adding(milliseconds: 7_200_000)
        #expect(await harness.clock.armed.next { $0 == second } != nil)
        try await harness.stop()
        harness.clock.change { moment in
            moment.wall = moment.wall.adding(milliseconds: 60_000)
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

    @Test func `a place that is entered fires, and who tells of places rests when nobody waits`() async throws {
        let harness = try AgentHarness()
        try await harness.start()
        let app = try await harness.readyApp()
        #expect(await add(request("home", Self.region()), app) == .done)
        #expect(await harness.positions.looks.next() == true)
        try await app.close()
        func move(_ latitude: Double, after seconds: Int64 = 30) async throws {
            harness.clock.change {
                $0.wall = $0.wall.adding(milliseconds: seconds * 1000); $0.sinceBoot += seconds * 1000
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
        let due = Self.start.adding(milliseconds: 60_000)
        #expect(await harness.clock.armed.next { $0 == due } != nil)
        try await harness.stop()
        let manifest = harness.configuration.appsFolder + "/com.example.todo.json"
        #expect(rename(manifest, manifest + ".aside") == 0)
        // The app is not removed at a second look, however slow the machine is.
        var timing = AgentTiming()
        timing.removalTimeout = .seconds(600)
        try await harness.start(timing: timing)
        #expect(await harness.clock.armed.next { $0 == due } != nil)
        harness.clock.pass(60)
        #expect(try await pending(harness).count == 1)
        #expect(rename(manifest + ".aside", manifest) == 0)
        try #require(harness.agent.withLock { $0 }).enter { try? $0.loadApps() }
        #expect(await harness.clock.armed.next { $0 == due } != nil)
        harness.clock.tell(.rang)
        #expect(await harness.desktop.show()?.title == "tea")
        #expect(try await pending(harness).isEmpty)
        try await harness.stop()
    }

    @Test func `a sound without a text is heard`() async throws {
        let harness = try AgentHarness()
        try await harness.start()
        var content = NotificationContent()
        content.sound = NotificationSound()
        let agent = try #require(harness.agent.withLock { $0 })
        agent.enter { [content] agent in
            agent.fireAdded(NotificationRequest(identifier: "ping", content: content), as: nil, app: "com.example.todo")
        }
        #expect(await harness.desktop.played.next() == .standard)
        try await harness.stop()
    }
}
