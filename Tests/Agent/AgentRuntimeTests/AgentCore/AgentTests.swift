import AgentProtocol
import AldabaTestSupport
import DeviceTestSupport
import Foundation
import PushCore
import Testing

@testable import AgentEngine
@testable import AgentRuntime

/// The whole agent between a server, a desktop and apps of the test's.
@Suite(.timeLimit(.minutes(5)))
struct AgentTests {
    private func loggedIn(_ harness: AgentHarness) async throws -> FakeSession {
        let session = try #require(await harness.server.sessions.next())
        session.events(.loggedIn)
        return session
    }

    /// Apps that are away are gone.
    private var nobodyReturns: AgentTiming {
        var timing = AgentTiming()
        timing.returnLimit = .zero
        return timing
    }

    private func id(_ raw: Int64) -> NotificationID { NotificationID(rawValue: raw) }

    @Test func `a notification is acknowledged, handed, shown and reported`() async throws {
        let harness = try AgentHarness()
        try await harness.start()
        let session = try await loggedIn(harness)
        let app = try await harness.readyApp()
        session.events(.arrived([outgoing(1), outgoing(2)]))
        #expect(await session.acknowledged.next() == [id(1), id(2)])
        #expect(try #require(await app.delivery()) == (1, .foreground))
        #expect(try #require(await app.delivery()) == (2, .foreground))
        app.send(.handled(notification: 1, outcome: .presented(options: 16)))
        let shown = try #require(await harness.desktop.show())
        #expect(shown.title == "Milk")
        #expect(shown.body == "Two litres")
        #expect(shown.appName == "Todo")
        #expect(await session.receipts(2) == ["1 presented", "1 handed"])
        app.send(.handled(notification: 2, outcome: .notPresented))
        #expect(await session.receipts(1) == ["2 handed"])
        try await harness.stop()
    }

    @Test func `the confirmation follows the commit`() async throws {
        let harness = try AgentHarness()
        try await harness.start()
        let session = try await loggedIn(harness)
        let app = try await harness.readyApp()
        session.events(.arrived([outgoing(1)]))
        _ = await app.delivery()
        app.send(.handled(notification: 1, outcome: .notPresented))
        let confirmation = await app.inbox.next { if case .handledConfirmed = $0 { true } else { false } }
        #expect(confirmation == .handledConfirmed(notifications: [1]))
        try await harness.stop()
        let store = try AgentStore.open(path: harness.configuration.databasePath, now: noon).store
        #expect(try store.outbox() == ["1 handed"])
    }

    @Test func `what is sent again is acknowledged again and handed once`() async throws {
        let harness = try AgentHarness()
        try await harness.start()
        let session = try await loggedIn(harness)
        let app = try await harness.readyApp()
        session.events(.arrived([outgoing(1)]))
        #expect(try #require(await app.delivery()).id == 1)
        session.end(.lost("cut"))
        let next = try await loggedIn(harness)
        #expect(next.received == [id(1)])
        next.events(.arrived([outgoing(1), outgoing(2)]))
        #expect(await next.acknowledged.next() == [id(1), id(2)])
        #expect(try #require(await app.delivery()).id == 2)
        next.events(.confirmed([id(1), id(2)]))
        next.end(.lost("cut"))
        #expect(try await loggedIn(harness).received == [])
        try await harness.stop()
    }

    @Test func `an app that comes back gets what it has not handled, in order`() async throws {
        let harness = try AgentHarness()
        try await harness.start()
        let session = try await loggedIn(harness)
        let first = try await harness.readyApp()
        session.events(.arrived([outgoing(1), outgoing(2), outgoing(3)]))
        for number in Int64(1)...3 { #expect(try #require(await first.delivery()).id == number) }
        first.send(.handled(notification: 2, outcome: .notPresented))
        #expect(await session.receipts(1) == ["2 handed"])
        try await first.close()
        let second = try await harness.readyApp()
        #expect(try #require(await second.delivery()).id == 1)
        #expect(try #require(await second.delivery()).id == 3)
        try await harness.stop()
    }

    @Test func `an answer that the agent did not live to read is taken from the next connection`() async throws {
        let harness = try AgentHarness()
        try await harness.start()
        let session = try await loggedIn(harness)
        let app = try await harness.readyApp()
        session.events(.arrived([outgoing(1), outgoing(2)]))
        _ = await app.delivery()
        _ = await app.delivery()
        try await harness.stop()
        try await harness.start()
        let again = try await harness.connectApp()
        again.send(.handled(notification: 1, outcome: .notPresented), .ready)
        #expect(try #require(await again.delivery()).id == 2)
        try await harness.stop()
    }

    @Test func `the newest connection of an app wins`() async throws {
        let harness = try AgentHarness()
        try await harness.start()
        let session = try await loggedIn(harness)
        let older = try await harness.readyApp()
        let newer = try await harness.readyApp()
        #expect(await older.inbox.next { _ in false } == nil)
        session.events(.arrived([outgoing(1)]))
        #expect(try #require(await newer.delivery()).id == 1)
        try await harness.stop()
    }

    @Test func `without its app a notification is shown at once and handed over later`() async throws {
        let harness = try AgentHarness()
        try await harness.start()
        let session = try await loggedIn(harness)
        session.events(.arrived([outgoing(1)]))
        #expect(await harness.desktop.show()?.notification == id(1))
        #expect(await session.receipts(1) == ["1 presented"])
        let app = try await harness.readyApp()
        #expect(try #require(await app.delivery()).id == 1)
        app.send(.handled(notification: 1, outcome: .presented(options: 16)))
        #expect(await session.receipts(1) == ["1 handed"])
        try await harness.stop()
    }

    @Test func `what an app leaves unhandled is shown when it does not come back`() async throws {
        let harness = try AgentHarness()
        var timing = AgentTiming()
        timing.returnLimit = .zero
        try await harness.start(timing: timing)
        let session = try await loggedIn(harness)
        let app = try await harness.readyApp()
        session.events(.arrived([outgoing(1)]))
        _ = await app.delivery()
        try await app.close()
        #expect(await harness.desktop.show()?.notification == id(1))
        try await harness.stop()
    }

    @Test func `a tap starts the app, which gets the response and not the notification again`() async throws {
        let harness = try AgentHarness()
        try await harness.start(timing: nobodyReturns)
        let session = try await loggedIn(harness)
        session.events(.arrived([outgoing(1)]))
        _ = await harness.desktop.show()
        harness.desktop.does(.opened(id(1), activationToken: "focus"))
        let launched = try #require(await harness.launcher.launched.next())
        #expect(launched.variables["XDG_ACTIVATION_TOKEN"] == "focus")
        #expect(launched.variables["ALDABA_AGENT_SOCKET"] == harness.configuration.socketPath)
        #expect(launched.variables["ALDABA_APP_ID"] == "com.example.todo")
        #expect(await harness.desktop.withdrawn.next() == id(1))
        let app = try await harness.connectApp()
        guard case .welcome(let welcome)? = await app.inbox.next() else {
            Issue.record("no welcome")
            return
        }
        #expect(welcome.launchNotification?.id == 1)
        app.send(.ready)
        guard case .respond(let response, let notification, let action, _)? = await app.inbox.next() else {
            Issue.record("no response")
            return
        }
        #expect(notification.id == 1)
        #expect(action == "com.apple.UNNotificationDefaultActionIdentifier")
        app.send(.responseHandled(response: response))
        #expect(await app.inbox.next() == .responsesConfirmed(responses: [response]))
        #expect(await session.receipts(3) == ["1 presented", "1 opened", "1 handed"])
        try await harness.stop()
    }

    @Test func `a tap reaches an app that runs`() async throws {
        let harness = try AgentHarness()
        try await harness.start()
        let session = try await loggedIn(harness)
        let app = try await harness.readyApp()
        session.events(.arrived([outgoing(1)]))
        _ = await app.delivery()
        app.send(.handled(notification: 1, outcome: .presented(options: 16)))
        _ = await harness.desktop.show()
        harness.desktop.does(.opened(id(1), activationToken: nil))
        let message = await app.inbox.next { if case .respond = $0 { true } else { false } }
        #expect(message != nil)
        #expect(await session.receipts(3) == ["1 presented", "1 handed", "1 opened"])
        try await harness.stop()
    }

    @Test func `taps are dropped when their app cannot be started`() async throws {
        let harness = try AgentHarness()
        var timing = AgentTiming()
        timing.returnLimit = .zero
        timing.launchLimit = .zero
        harness.launcher.failure.withLock { $0 = AppLaunchError(description: "no such file") }
        try await harness.start(timing: timing)
        let session = try await loggedIn(harness)
        session.events(.arrived([outgoing(1)]))
        _ = await harness.desktop.show()
        harness.desktop.does(.opened(id(1), activationToken: nil))
        _ = await harness.launcher.launched.next()
        #expect(await session.receipts(2) == ["1 presented", "1 opened"])
        let app = try await harness.readyApp()
        #expect(try #require(await app.delivery()).id == 1)
        try await harness.stop()
    }

    @Test func `a dismissal is reported`() async throws {
        let harness = try AgentHarness()
        try await harness.start()
        let session = try await loggedIn(harness)
        session.events(.arrived([outgoing(1)]))
        _ = await harness.desktop.show()
        harness.desktop.does(.dismissed(id(1)))
        #expect(await session.receipts(2) == ["1 presented", "1 dismissed"])
        try await harness.stop()
    }

    @Test func `an intent that was not answered is shown again after a restart`() async throws {
        let harness = try AgentHarness()
        try await harness.start()
        let session = try await loggedIn(harness)
        session.events(.arrived([outgoing(1)]))
        _ = await harness.desktop.presented.next()
        try await harness.stop()
        try await harness.start()
        let next = try await loggedIn(harness)
        #expect(await harness.desktop.show()?.notification == id(1))
        let report = try #require(await next.reports.next())
        #expect(report.receipts.first?.entry.note?.contains("a second popup is possible") == true)
        try await harness.stop()
    }

    @Test func `a new agent tells the desktop what the old one had shown`() async throws {
        let harness = try AgentHarness()
        try await harness.start()
        let session = try await loggedIn(harness)
        session.events(.arrived([outgoing(1)]))
        _ = await harness.desktop.show()
        #expect(await session.receipts(1) == ["1 presented"])
        try await harness.stop()
        try await harness.start()
        #expect(harness.desktop.inherited.withLock { $0 }.map(\.handle) == ["shown 1"])
        try await harness.stop()
    }

    @Test func `receipts that were not confirmed are sent again`() async throws {
        let harness = try AgentHarness()
        try await harness.start()
        let session = try await loggedIn(harness)
        session.events(.arrived([outgoing(1, topic: "com.example.gone")]))
        let first = try #require(await session.reports.next())
        #expect(first.receipts.map(\.entry.state) == [.dropped(.unregistered)])
        session.end(.lost("cut"))
        let next = try await loggedIn(harness)
        #expect(try #require(await next.reports.next()).receipts == first.receipts)
        try await harness.stop()
    }

    @Test func `an app that may not notify is not shown and the timeline says so`() async throws {
        let harness = try AgentHarness(authorization: .denied)
        try await harness.start()
        let session = try await loggedIn(harness)
        let app = try await harness.readyApp()
        session.events(.arrived([outgoing(1), outgoing(2, payload: #"{"aps":{"content-available":1}}"#)]))
        #expect(try #require(await app.delivery()) == (2, .background))
        #expect(await session.receipts(1) == ["1 suppressed(settings)"])
        try await harness.stop()
    }

    @Test func `an app gets its token, also when it asks before there is one`() async throws {
        let harness = try AgentHarness()
        try await harness.start()
        let app = try await harness.connectApp()
        app.send(.registerForRemoteNotifications(request: 5))
        let token = harness.server.token(of: 101)
        let answer = await app.inbox.next { if case .registered = $0 { true } else { false } }
        #expect(answer == .registered(request: 5, token: token))
        let event = await harness.happenings.next { if case .registered = $0 { true } else { false } }
        #expect(event == .registered(app: "com.example.todo", token: token))
        try await harness.stop()
    }

    @Test func `a token that ends is not told any more, and every question for one has one answer`() async throws {
        let harness = try AgentHarness()
        try await harness.start()
        let app = try await harness.readyApp()
        let server = harness.server
        for round in 0..<3 {
            let (ended, next) = (Int64(round * 10), server.token(of: 101, after: round + 1))
            app.send(.registerForRemoteNotifications(request: ended))
            let before = await app.inbox.next { if case .registered = $0 { true } else { false } }
            #expect(before == .registered(request: ended, token: server.token(of: 101, after: round)))
            let isEnding = server.holdUnregistration()
            app.send(.unregisterForRemoteNotifications(request: ended + 1))
            _ = await server.unregistered.next()
            app.send(.registerForRemoteNotifications(request: ended + 2), .getSettings(request: ended + 3))
            let fence = await app.inbox.next()
            guard case .settings? = fence else {
                Issue.record("a token that ends was told: \(String(describing: fence))")
                return
            }
            app.send(.registerForRemoteNotifications(request: ended + 4), .getSettings(request: ended + 5))
            guard case .settings? = await app.inbox.next() else {
                Issue.record("a token that ends was told")
                return
            }
            isEnding.open()
            #expect(await app.inbox.next() == .channel(.accepted(request: ended + 1)))
            #expect(await app.inbox.next() == .registered(request: ended + 2, token: next))
            #expect(await app.inbox.next() == .registered(request: ended + 4, token: next))
        }
        try await harness.stop()
    }

    @Test func `a question for a token is answered when the app ends its registration meanwhile`() async throws {
        let harness = try AgentHarness()
        harness.server.refusal.withLock { $0 = .unavailable("for now") }
        try await harness.start()
        let app = try await harness.readyApp()
        app.send(.registerForRemoteNotifications(request: 1), .unregisterForRemoteNotifications(request: 2))
        guard case .registrationFailed(1, "unregistered", _)? = await app.inbox.next() else {
            Issue.record("no answer")
            return
        }
        try await harness.stop()
    }

    @Test func `a refused registration is told to the app that asks`() async throws {
        let harness = try AgentHarness()
        harness.server.refusal.withLock { $0 = .refused("INVALID_SENDER") }
        try await harness.start()
        let app = try await harness.connectApp()
        app.send(.registerForRemoteNotifications(request: 5))
        let message = await app.inbox.next { if case .registrationFailed = $0 { true } else { false } }
        guard case .registrationFailed(5, let code, _)? = message else {
            Issue.record("another answer: \(String(describing: message))")
            return
        }
        #expect(code == "INVALID_SENDER")
        try await harness.stop()
    }

    @Test func `an app that the server's register had not is registered once it is added`() async throws {
        let harness = try AgentHarness()
        harness.server.refusal.withLock { $0 = .refused("INVALID_SENDER") }
        try await harness.start()
        let app = try await harness.readyApp()
        app.send(.registerForRemoteNotifications(request: 5))
        let refusal = await app.inbox.next { if case .registrationFailed = $0 { true } else { false } }
        guard case .registrationFailed(5, _, let sentence)? = refusal else {
            Issue.record("another answer: \(String(describing: refusal))")
            return
        }
        #expect(sentence.contains("aldaba app create com.example.todo --team \(todoManifest.team)"))
        harness.server.refusal.withLock { $0 = nil }
        let news = await app.inbox.next { if case .registered = $0 { true } else { false } }
        #expect(news == .registered(request: nil, token: harness.server.token(of: 101)))
        try await harness.stop()
    }

    @Test func `a device that the server does not know enrols anew and tells its apps`() async throws {
        let harness = try AgentHarness()
        try await harness.start()
        let session = try await loggedIn(harness)
        let app = try await harness.connectApp()
        app.send(.registerForRemoteNotifications(request: 1))
        _ = await app.inbox.next { if case .registered = $0 { true } else { false } }
        harness.server.known.withLock { $0 = [] }
        session.end(.loginRefused)
        let next = try await loggedIn(harness)
        #expect(next.identity.device.rawValue == 102)
        let token = harness.server.token(of: 102)
        let news = await app.inbox.next { $0 == .registered(request: nil, token: token) }
        #expect(news != nil)
        try await harness.stop()
    }

    @Test func `a process that is not the app is refused`() async throws {
        let harness = try AgentHarness()
        try await harness.start(executable: "/usr/bin/other")
        let app = try await harness.connectApp()
        guard case .refused(_, let code, let message)? = await app.inbox.next() else {
            Issue.record("not refused")
            return
        }
        #expect(code == "notThisApp")
        #expect(message.contains("/usr/bin/other"))
        #expect(await app.inbox.next() == nil)
        try await harness.stop()
    }

    @Test func `an app whose manifest was installed meanwhile is welcome`() async throws {
        let harness = try AgentHarness()
        try await harness.start()
        let stranger = try await harness.connectApp("com.example.late")
        guard case .refused(_, "unknownApp", _)? = await stranger.inbox.next() else {
            Issue.record("not refused")
            return
        }
        var manifest = todoManifest
        manifest.id = "com.example.late"
        try AppFolder(path: harness.configuration.appsFolder).install(manifest)
        let app = try await harness.connectApp("com.example.late")
        guard case .welcome? = await app.inbox.next() else {
            Issue.record("not welcome")
            return
        }
        try await harness.stop()
    }

    @Test(arguments: [[0, 0, 0, 2, 0x5B, 0x5D], [0xFF, 0xFF, 0xFF, 0xFF], [0, 0, 0, 1, 0x7B]] as [[UInt8]])
    func `what is no message closes its connection and no other`(bytes: [UInt8]) async throws {
        let harness = try AgentHarness()
        try await harness.start()
        let session = try await loggedIn(harness)
        let app = try await harness.readyApp()
        let stranger = try await TestApp(socket: harness.configuration.socketPath, id: "x")
        stranger.send(bytes: bytes)
        guard case .refused(_, "malformed", _)? = await stranger.inbox.next() else {
            Issue.record("not refused")
            return
        }
        #expect(await stranger.inbox.next() == nil)
        session.events(.arrived([outgoing(1)]))
        #expect(try #require(await app.delivery()).id == 1)
        try await harness.stop()
    }

    @Test func `a second agent on the same data is told who has it`() async throws {
        let harness = try AgentHarness()
        try await harness.start()
        let failure = await #expect(throws: AgentStartError.self) { try await harness.start() }
        #expect(failure?.description.contains("process \(getpid())") == true)
        try await harness.stop()
        // Those of the first agent: the second had not made any when it failed.
        #expect(harness.closings.withLock { $0 } == 1)
    }

    @Test func `thousands go through in order`() async throws {
        let harness = try AgentHarness()
        try await harness.start()
        let session = try await loggedIn(harness)
        let app = try await harness.readyApp()
        let count: Int64 = 2000
        for start in stride(from: Int64(1), to: count, by: 100) {
            session.events(.arrived((start..<start + 100).map { outgoing($0, payload: #"{"aps":{"badge":1}}"#) }))
        }
        for number in 1...count {
            #expect(try #require(await app.delivery()).id == number)
            app.send(.handled(notification: number, outcome: .notPresented))
        }
        #expect(await session.receipts(Int(count)) == (1...count).map { "\($0) handed" })
        try await harness.stop()
    }
}
