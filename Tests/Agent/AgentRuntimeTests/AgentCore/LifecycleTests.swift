import AgentProtocol
import AldabaTestSupport
import DeviceTestSupport
import Foundation
import PushCore
import Testing

@testable import AgentEngine
@testable import AgentRuntime

/// An app that declares where it stands: what reaches it in the background, and what brings it to the front.
@Suite(.timeLimit(.minutes(5))) struct LifecycleTests {
    private func harness() async throws -> AgentHarness {
        let harness = try AgentHarness {
            $0.lifecycle = .declared
            $0.backgroundModes = ["remote-notification"]
        }
        var timing = AgentTiming()
        timing.returnLimit = .zero
        try await harness.start(timing: timing)
        return harness
    }

    private func loggedIn(_ harness: AgentHarness) async throws -> FakeSession {
        let session = try #require(await harness.server.sessions.next())
        session.events(.loggedIn)
        return session
    }

    private func welcome(_ app: TestApp) async -> AppState? {
        let message = await app.inbox.next { if case .welcome = $0 { true } else { false } }
        guard case .welcome(let welcome)? = message else { return nil }
        return welcome.state
    }

    /// An app that a person started and that has gone to the background since.
    private func backgroundApp(_ harness: AgentHarness) async throws -> TestApp {
        let app = try await harness.connectApp()
        #expect(await welcome(app) == .active)
        app.send(.ready, .stateChanged(.background), .getSettings(request: 1))
        _ = await app.inbox.next { if case .settings = $0 { true } else { false } }
        return app
    }

    private static let both = #"{"aps":{"alert":"Milk","content-available":1}}"#
    private static let silent = #"{"aps":{"content-available":1}}"#

    @Test func `in the background an alert is shown without asking, and what wakes is handed to the background`()
        async throws
    {
        let harness = try await harness()
        let session = try await loggedIn(harness)
        let app = try await backgroundApp(harness)
        session.events(.arrived([outgoing(1), outgoing(2, payload: Self.both), outgoing(3, payload: Self.silent)]))
        #expect(await harness.desktop.show()?.notification.rawValue == 1)
        #expect(await harness.desktop.show()?.notification.rawValue == 2)
        #expect(try #require(await app.delivery()) == (2, .background))
        #expect(try #require(await app.delivery()) == (3, .background))
        app.send(.handled(notification: 2, outcome: .background(.newData)))
        var states = Set(await session.receipts(3))
        #expect(states.remove("1 presented") != nil && states.remove("2 presented") != nil)
        #expect(states == ["2 handed"])
        try await harness.stop()
    }

    @Test func `a tap is the app's to make of, and one that came to the front is asked again`() async throws {
        let harness = try await harness()
        let session = try await loggedIn(harness)
        let app = try await backgroundApp(harness)
        session.events(.arrived([outgoing(1)]))
        _ = await harness.desktop.show()
        harness.desktop.does(.opened(NotificationID(rawValue: 1), activationToken: nil))
        guard case .respond(_, let notification, NotificationAction.open, nil)? = await app.inbox.next() else {
            Issue.record("no response")
            return
        }
        #expect(notification.id == 1)
        app.send(.stateChanged(.active), .getSettings(request: 2))
        _ = await app.inbox.next { if case .settings = $0 { true } else { false } }
        session.events(.arrived([outgoing(2)]))
        #expect(try #require(await app.delivery()) == (2, .foreground))
        try await harness.stop()
    }

    @Test func `an app that does not run is woken for what nobody sees, as often as its budget lets it`() async throws {
        let harness = try await harness()
        let session = try await loggedIn(harness)
        session.events(.arrived([outgoing(1, payload: Self.silent)]))
        #expect(await harness.launcher.launched.next()?.app == "com.example.todo")
        let app = try await harness.connectApp()
        #expect(await welcome(app) == .background)
        app.send(.ready)
        #expect(try #require(await app.delivery()) == (1, .background))
        try await harness.stop()
    }

    @Test func `an action for the background leaves the app there, and one for the front brings it`() async throws {
        let harness = try await harness()
        let session = try await loggedIn(harness)
        let app = try await backgroundApp(harness)
        app.send(
            .center(
                request: 5,
                .setCategories([
                    NotificationCategory(
                        identifier: "c",
                        actions: [
                            .init(identifier: "quiet", title: "Quiet"),
                            .init(identifier: "front", title: "Front", options: 4),
                        ])
                ])))
        _ = await app.inbox.next { if case .centerAnswered = $0 { true } else { false } }
        for (id, button, isBrought) in [(1, "quiet", false), (2, "front", true)] as [(Int64, String, Bool)] {
            session.events(.arrived([outgoing(id, payload: #"{"aps":{"alert":"Milk","category":"c"}}"#)]))
            _ = await harness.desktop.show()
            harness.desktop.does(.pressed(NotificationID(rawValue: id), button: button, activationToken: nil))
            if isBrought { #expect(await app.inbox.next() == .enter(.inactive)) }
            guard case .respond(_, _, button, _)? = await app.inbox.next() else {
                Issue.record("no response to \(button)")
                return
            }
            if isBrought { #expect(await app.inbox.next() == .enter(.active)) }
        }
        try await harness.stop()
    }

    @Test(
        arguments: [("quiet", nil, .background), ("front", 1, .active), (NotificationAction.open, 1, .active)]
            as [(String, Int64?, AppState)])
    func `a launch is told the notification that opened the app, and of a button that does not open it none`(
        button: String, told: Int64?, state: AppState
    ) async throws {
        let harness = try await harness()
        let session = try await loggedIn(harness)
        let category = NotificationCategory(
            identifier: "c",
            actions: [
                .init(identifier: "quiet", title: "Quiet"), .init(identifier: "front", title: "Front", options: 4),
            ])
        try #require(harness.agent.withLock { $0 }).enter { agent in
            agent.change("com.example.todo") { $0.merge([category]) }
        }
        session.events(.arrived([outgoing(1, payload: #"{"aps":{"alert":"Milk","category":"c"}}"#)]))
        _ = await harness.desktop.show()
        harness.desktop.does(
            button == NotificationAction.open
                ? .opened(NotificationID(rawValue: 1), activationToken: nil)
                : .pressed(NotificationID(rawValue: 1), button: button, activationToken: nil))
        _ = await harness.launcher.launched.next()
        let app = try await harness.connectApp()
        guard case .welcome(let welcome)? = await app.inbox.next() else {
            Issue.record("not welcome")
            return
        }
        #expect(welcome.launchNotification?.id == told && welcome.state == state)
        try await harness.stop()
    }

    @Test
    func `an app that is taken away leaves the screen and the list, its token ends, and what waited has its reason`()
        async throws
    {
        let harness = try AgentHarness()
        try await harness.start()
        let session = try await loggedIn(harness)
        let app = try await harness.connectApp()
        _ = await app.inbox.next { if case .welcome = $0 { true } else { false } }
        session.events(.arrived([outgoing(1)]))
        let agent = try #require(harness.agent.withLock { $0 })
        let folder = AppFolder(path: harness.configuration.appsFolder)
        _ = await session.acknowledged.next()
        _ = await harness.happenings.next { if case .registered = $0 { true } else { false } }
        #expect(try folder.remove("com.example.todo"))
        #expect(try !folder.remove("com.example.todo"))
        agent.enter { try? $0.loadApps() }
        let refused = await app.inbox.next { if case .refused = $0 { true } else { false } }
        #expect(
            refused
                == .refused(version: 1, code: "unknownApp", message: "com.example.todo was removed from this device"))
        #expect(await session.receipts(1) == ["1 dropped(unregistered)"])
        #expect(await harness.server.unregistered.next()?.rawValue == "com.example.todo")
        try await harness.stop()
        let store = try AgentStore.open(path: harness.configuration.databasePath, now: noon).store
        #expect(try store.read { try $0.knownApps() }.isEmpty)
    }

    @Test func `a push that comes twice sets its badge once`() async throws {
        let harness = try AgentHarness()
        try await harness.start()
        let session = try await loggedIn(harness)
        let push = outgoing(1, payload: #"{"aps":{"alert":"Milk","badge":3}}"#)
        session.events(.arrived([push]))
        _ = try #require(await harness.desktop.show())
        let app = try await harness.readyApp()
        app.send(.center(request: 1, .setBadge(5)))
        _ = await app.inbox.next { $0 == .centerAnswered(request: 1, .done) }
        session.events(.arrived([push]))
        session.events(.arrived([outgoing(2)]))
        #expect(try #require(await app.delivery()).id == 2)
        try await harness.stop()
        let record = try AgentStore.open(path: harness.configuration.databasePath, now: noon).store
            .read { try $0.standing(app: "com.example.todo") }
        #expect(record.badge == 5)
    }

    @Test func `an action that asks for it waits until the screen is unlocked, others do not`() async throws {
        let harness = try await harness()
        let session = try await loggedIn(harness)
        let app = try await harness.readyApp()
        let actions = [
            NotificationActionDescription(identifier: "pay", title: "Pay", options: 1),
            NotificationActionDescription(identifier: "later", title: "Later"),
        ]
        app.send(
            .center(request: 1, .setCategories([NotificationCategory(identifier: "c", actions: actions)])),
            .stateChanged(.background), .getSettings(request: 2))
        _ = await app.inbox.next { if case .settings = $0 { true } else { false } }
        harness.desktop.does(.locked(true))
        session.events(
            .arrived((1...2).map { outgoing($0, payload: #"{"aps":{"alert":"Bill","category":"c"}}"#) }))
        let shown = [try #require(await harness.desktop.show()), try #require(await harness.desktop.show())]
        harness.desktop.does(.pressed(shown[0].notification, button: "pay", activationToken: nil))
        harness.desktop.does(.pressed(shown[1].notification, button: "later", activationToken: nil))
        func nextAnswer() async -> String? {
            let message = await app.inbox.next { if case .respond = $0 { true } else { false } }
            guard case .respond(_, _, let action, _)? = message else { return nil }
            return action
        }
        #expect(await nextAnswer() == "later")
        harness.desktop.does(.locked(false))
        #expect(await nextAnswer() == "pay")
        try await harness.stop()
    }

    @Test func `an answer that was held goes to the app that lives on over a restart, and starts it no second time`()
        async throws
    {
        let harness = try AgentHarness()
        try await harness.start()
        // Nothing here holds the agent, whose timers would outlive its run and start the app from the store of the next one.
        try #require(harness.agent.withLock { $0 }).enter { $0.enqueue(arrival(1, .isShown([.screen, .list]))) }
        _ = await harness.desktop.show()
        try #require(harness.agent.withLock { $0 }).enter { agent in
            let id = NotificationID(rawValue: 1)
            agent.enqueue(.tapped(id, action: "pay", text: nil, activationToken: nil, isHeld: true, at: noon))
            agent.flush()
        }
        let app = try await harness.readyApp()
        app.send(.getSettings(request: 1))
        _ = await app.inbox.next { if case .settings = $0 { true } else { false } }
        try await harness.stop()

        // However late it comes back, it counts as on its way.
        var timing = AgentTiming()
        timing.returnLimit = .seconds(3600)
        try await harness.start(timing: timing)
        let again = try await harness.readyApp()
        let message = await again.inbox.next { if case .respond = $0 { true } else { false } }
        guard case .respond(_, _, "pay", _)? = message else {
            Issue.record("\(String(describing: message))")
            return
        }
        try await harness.stop()
        harness.launcher.launched.finish()
        #expect(await harness.launcher.launched.next() == nil)
    }

    @Test func `what waits from before is shown when the desktop has said whether the screen is locked`() async throws {
        let harness = try AgentHarness()
        try await harness.start()
        let app = try await harness.readyApp()
        try #require(harness.agent.withLock { $0 }).enter {
            $0.change("com.example.todo") { $0.settings.previews = .whenUnlocked }
        }
        app.send(.center(request: 1, .add(NotificationRequest(identifier: "a", content: Self.secret))))
        let (id, _) = try #require(await app.delivery())
        app.send(.handled(notification: id, outcome: .presented(options: 16)))
        #expect(try #require(await harness.desktop.presented.next()).presentation.body == "secret")
        try await harness.stop()

        harness.desktop.firstWord.withLock { $0 = nil }
        var timing = AgentTiming()
        timing.lockTimeout = .seconds(3600)
        try await harness.begin(timing: timing)
        // The first time was that of the agent before.
        for _ in 1...2 { _ = await harness.desktop.started.next() }
        harness.desktop.does(.locked(true))
        #expect(try #require(await harness.desktop.show()).body == "Notification")
        try await harness.stop()
    }

    private static let secret: NotificationContent = {
        var content = NotificationContent()
        content.body = "secret"
        return content
    }()

    @Test func `a manifest that cannot be read may be that of an app whose own is not there`() throws {
        let folder = try TemporaryFolder()
        let apps = AppFolder(path: folder.path("apps"))
        #expect(!apps.load().isReadable)
        try apps.install(todoManifest)
        let before = apps.mark()
        #expect(apps.load().files == [todoManifest.id: "com.example.todo.json"])
        try Data("{".utf8).write(to: URL(fileURLWithPath: folder.path("apps/other.json")))
        #expect(apps.mark() != before)
        let loaded = apps.load()
        #expect(loaded.apps.keys.sorted() == [todoManifest.id])
        #expect(loaded.mayHave("com.example.gone", in: nil) && loaded.mayHave("com.example.gone", in: "other.json"))
        #expect(!loaded.mayHave("com.example.gone", in: "com.example.gone.json"))
    }
}
