import AgentProtocol
import AldabaTestSupport
import DeviceTestSupport
import Foundation
import GRDB
import PushCore
import Testing

@testable import AgentEngine
@testable import AgentRuntime

/// The agent when something goes wrong at the wrong time.
@Suite(.timeLimit(.minutes(5)))
struct AgentTroubleTests {
    private func loggedIn(_ harness: AgentHarness) async throws -> FakeSession {
        let session = try #require(await harness.server.sessions.next())
        session.events(.loggedIn)
        return session
    }

    private func id(_ raw: Int64) -> NotificationID { NotificationID(rawValue: raw) }

    private func response(_ app: TestApp) async -> Int64? {
        let message = await app.inbox.next { if case .respond = $0 { true } else { false } }
        guard case .respond(let response, _, _, _)? = message else { return nil }
        return response
    }

    /// An app that has been shown and handed notification 1.
    private func appWithPopup(_ harness: AgentHarness) async throws -> TestApp {
        let session = try await loggedIn(harness)
        let app = try await harness.readyApp()
        session.events(.arrived([outgoing(1)]))
        _ = await app.delivery()
        app.send(.handled(notification: 1, outcome: .presented(options: 16)))
        _ = await harness.desktop.show()
        #expect(await session.receipts(2) == ["1 presented", "1 handed"])
        return app
    }

    @Test func `an app that outlives the agent is not started a second time for an open response`() async throws {
        let harness = try AgentHarness()
        try await harness.start()
        let app = try await appWithPopup(harness)
        harness.desktop.does(.opened(id(1), activationToken: nil))
        let open = try #require(await response(app))
        try await harness.stop()
        try await harness.start()
        #expect(await response(try await harness.readyApp()) == open)
        try await harness.stop()
        harness.launcher.launched.finish()
        #expect(await harness.launcher.launched.next() == nil)
    }

    @Test func `a tap while the app is between two connections reaches the process that comes back`() async throws {
        let harness = try AgentHarness()
        try await harness.start()
        let app = try await appWithPopup(harness)
        try await app.close()
        harness.desktop.does(.opened(id(1), activationToken: nil))
        #expect(await harness.desktop.withdrawn.next() == id(1))
        #expect(await response(try await harness.readyApp()) != nil)
        try await harness.stop()
        harness.launcher.launched.finish()
        #expect(await harness.launcher.launched.next() == nil)
    }

    @Test func `an app that does not come back is started for the tap that waits`() async throws {
        let harness = try AgentHarness()
        var timing = AgentTiming()
        timing.returnLimit = .milliseconds(200)
        try await harness.start(timing: timing)
        let app = try await appWithPopup(harness)
        try await app.close()
        harness.desktop.does(.opened(id(1), activationToken: "focus"))
        let launched = try #require(await harness.launcher.launched.next())
        #expect(launched.variables["XDG_ACTIVATION_TOKEN"] == "focus")
        try await harness.stop()
    }

    @Test func `an app that ends with a tap unanswered is started again for it, and not for ever`() async throws {
        let harness = try AgentHarness()
        var timing = AgentTiming()
        timing.returnLimit = .milliseconds(20)
        try await harness.start(timing: timing)
        let app = try await appWithPopup(harness)
        harness.desktop.does(.opened(id(1), activationToken: nil))
        let open = try #require(await response(app))
        try await app.close()
        for _ in 0..<3 {
            #expect(await harness.launcher.launched.next()?.app == "com.example.todo")
            harness.launcher.end()
            let again = try await harness.readyApp()
            #expect(await response(again) == open)
            try await again.close()
        }
        // Now it is left alone; what is open waits until the app runs.
        let agent = try #require(harness.agent.withLock { $0 })
        while await agent.apps["com.example.todo"].map({ $0.supervisor.run.isAwaited }) != false {
            await Task.yield()
        }
        #expect(await response(try await harness.readyApp()) == open)
        harness.launcher.launched.finish()
        #expect(await harness.launcher.launched.next() == nil)
        try await harness.stop()
    }

    @Test func `a second process of an app takes over, and the first is told to stay away`() async throws {
        let harness = try AgentHarness()
        try await harness.start()
        let older = try await harness.readyApp()
        let newer = try await harness.connectApp(process: getpid() + 1)
        let last = await older.inbox.next { if case .refused = $0 { true } else { false } }
        guard case .refused(_, let code, let message)? = last else {
            Issue.record("not told")
            return
        }
        #expect(code == "superseded")
        #expect(message.contains("\(getpid() + 1)"))
        #expect(await older.inbox.next() == nil)
        let welcome = try await newer.waitForOutboundWrite(as: [AgentMessage].self)
        guard case .welcome? = welcome.first else {
            Issue.record("not welcome")
            return
        }
        try await harness.stop()
    }

    @Test func `a tap outlives a failed commit`() async throws {
        let harness = try AgentHarness()
        var timing = AgentTiming()
        timing.returnLimit = .zero
        timing.storePause = .milliseconds(10)
        try await harness.start(timing: timing)
        let session = try await loggedIn(harness)
        session.events(.arrived([outgoing(1)]))
        _ = await harness.desktop.show()
        #expect(await session.receipts(1) == ["1 presented"])
        var waits = Configuration()
        waits.busyMode = .timeout(10)
        let other = try DatabaseQueue(path: harness.configuration.databasePath, configuration: waits)
        try await other.write {
            try $0.execute(sql: "CREATE TRIGGER fail BEFORE INSERT ON response BEGIN SELECT RAISE(ABORT, 'no'); END")
        }
        harness.desktop.does(.opened(id(1), activationToken: nil))
        // The failure closes the session; the agent opens another.
        _ = try await loggedIn(harness)
        try await other.write { try $0.execute(sql: "DROP TRIGGER fail") }
        #expect(await harness.launcher.launched.next() != nil)
        try await harness.stop()
        let store = try AgentStore.open(path: harness.configuration.databasePath, now: noon).store
        #expect(try store.outbox().filter { $0 == "1 opened" }.count == 1)
    }

    @Test func `a store that is damaged while the agent runs ends it, and is put aside for the next run`() async throws
    {
        let harness = try AgentHarness()
        try await harness.start()
        let session = try await loggedIn(harness)
        let path = harness.configuration.databasePath
        // A table's pages are said to be where there are none.
        var waits = Configuration()
        waits.busyMode = .timeout(10)
        try await DatabaseQueue(path: path, configuration: waits).write { database in
            let version = try Int.fetchOne(database, sql: "PRAGMA schema_version") ?? 0
            try database.execute(
                sql: """
                    PRAGMA writable_schema = ON;
                    UPDATE sqlite_schema SET rootpage = 99999 WHERE name = 'outbox';
                    PRAGMA schema_version = \(version + 1)
                    """)
        }
        session.events(.arrived([outgoing(1)]))
        let run = try #require(harness.running.withLock { $0 })
        let damage = await #expect(throws: AgentStore.Damaged.self) { try await run.value }
        #expect(damage?.aside.hasPrefix(path + ".corrupt-") == true)
        #expect(FileManager.default.fileExists(atPath: damage?.aside ?? ""))
        #expect(!FileManager.default.fileExists(atPath: path))
        try await harness.start()
        _ = try await loggedIn(harness)
        try await harness.stop()
    }

    @Test func `an agent that gets no socket leaves nothing open`() async throws {
        let harness = try AgentHarness(socket: "/tmp/" + String(repeating: "x", count: 120))
        try await harness.begin()
        await #expect(throws: AgentStartError.self) { try await harness.stop() }
        #expect(harness.closings.withLock { $0 } == 1)
        #expect(harness.desktop.stops.withLock { $0 } == 1)
    }

    @Test func `a network that comes back ends the pause, and the pauses begin anew`() async throws {
        let harness = try AgentHarness(backOffCap: .milliseconds(60), random: .max, rests: true)
        try await harness.start()
        for expected in [1, 1] {
            try #require(await harness.server.sessions.next()).end(.lost("cut"))
            #expect(await harness.pauses.next() == .milliseconds(expected))
            harness.clock.change { $0.sinceBoot += 1_000 }
            harness.network.comesBack()
        }
        _ = try #require(await harness.server.sessions.next())
        try await harness.stop()
    }

    @Test func `no pause is longer than a minute, unless the first is`() {
        func longest(_ base: Duration, _ cap: Duration) -> Int64 {
            AgentConfiguration(
                dataFolder: "", socketPath: "", server: nil, environment: .sandbox, backOffBase: base, backOffCap: cap
            ).backOff.cap
        }
        #expect(longest(.seconds(1), .seconds(600)) == 60_000)
        #expect(longest(.seconds(1), .seconds(30)) == 30_000)
        #expect(longest(.seconds(90), .seconds(600)) == 90_000)
    }

    @Test func `the pauses between sessions double up to the cap`() async throws {
        let harness = try AgentHarness(backOffCap: .milliseconds(6), random: .max)
        try await harness.start()
        for expected in [1, 2, 4, 6, 6] {
            try #require(await harness.server.sessions.next()).end(.lost("cut"))
            #expect(await harness.pauses.next() == .milliseconds(expected))
        }
        try await harness.stop()
    }
}

extension AppRun {
    /// Whether it is connected, or given time to connect.
    fileprivate var isAwaited: Bool {
        switch self {
        case .connected, .reconnecting: true
        case .stopped, .started, .activating, .launching: false
        }
    }
}
