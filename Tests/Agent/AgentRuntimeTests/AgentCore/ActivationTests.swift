import AgentEngine
import AgentProtocol
import AldabaTestSupport
import DeviceTestSupport
import Foundation
import PushCore
import Testing

@testable import AgentRuntime

/// A session bus of the test's.
final class FakeActivator: AppActivator {
    let activated = Inbox<(activation: AppActivation, complete: @Sendable (AppActivationOutcome) -> Void)>()

    func activate(_ activation: AppActivation, then complete: @escaping @Sendable (AppActivationOutcome) -> Void) {
        activated.put((activation, complete))
    }
}

/// Apps that the session bus starts when somebody taps.
@Suite(.timeLimit(.minutes(5))) struct ActivationTests {
    private func harness(
        isActivatable: Bool = true, returnLimit: Duration = .zero
    ) async throws -> (AgentHarness, FakeSession) {
        let harness = try AgentHarness {
            $0.dbusActivatable = isActivatable
            $0.desktopEntry = "com.example.To-Do"
            $0.backgroundModes = ["remote-notification"]
        }
        var timing = AgentTiming()
        timing.returnLimit = returnLimit
        try await harness.start(timing: timing)
        let session = try #require(await harness.server.sessions.next())
        session.events(.loggedIn)
        return (harness, session)
    }

    /// A notification is shown and opened.
    private func tap(_ id: Int64, _ harness: AgentHarness, _ session: FakeSession, token: String? = "t") async {
        session.events(.arrived([outgoing(id)]))
        _ = await harness.desktop.show()
        harness.desktop.does(.opened(NotificationID(rawValue: id), activationToken: token))
    }

    private func response(_ app: TestApp) async -> Int64? {
        let message = await app.inbox.next { if case .respond = $0 { true } else { false } }
        guard case .respond(_, let notification, _, _)? = message else { return nil }
        return notification.id
    }

    @Test func `a tap activates the app with its token, once, and both taps reach it`() async throws {
        let (harness, session) = try await harness()
        await tap(1, harness, session)
        let asked = try #require(await harness.activator.activated.next())
        #expect(asked.activation == AppActivation(busName: "com.example.To-Do", token: "t"))
        #expect(asked.activation.path == "/com/example/To_Do")
        await tap(2, harness, session)
        let app = try await harness.readyApp()
        asked.complete(.activated)
        #expect(await response(app) == 1)
        #expect(await response(app) == 2)
        // Nothing else was started: the next thing that is has to do with the next tap.
        app.send(.responseHandled(response: 1), .responseHandled(response: 2))
        _ = await app.inbox.next { if case .responsesConfirmed = $0 { true } else { false } }
        try await app.close()
        await tap(3, harness, session, token: "third")
        #expect(await harness.activator.activated.next()?.activation.token == "third")
        try await harness.stop()
    }

    @Test func `what cannot be activated is started by its program`() async throws {
        let (harness, session) = try await harness()
        await tap(1, harness, session)
        try #require(await harness.activator.activated.next()).complete(.notStarted(reason: "no such name"))
        let launched = try #require(await harness.launcher.launched.next())
        #expect(launched.variables["XDG_ACTIVATION_TOKEN"] == "t")
        try await harness.stop()
    }

    @Test func `an app that did not answer and does not connect is started by its program`() async throws {
        let (harness, session) = try await harness()
        await tap(1, harness, session)
        try #require(await harness.activator.activated.next()).complete(.unanswered(reason: "no answer"))
        #expect(await harness.launcher.launched.next()?.variables["XDG_ACTIVATION_TOKEN"] == "t")
        try await harness.stop()
    }

    @Test func `an app that did not answer and connects in time is not started a second time`() async throws {
        let (harness, session) = try await harness(returnLimit: .seconds(30))
        await tap(1, harness, session)
        try #require(await harness.activator.activated.next()).complete(.unanswered(reason: "no answer"))
        let app = try await harness.readyApp()
        #expect(await response(app) == 1)
        harness.launcher.launched.finish()
        #expect(await harness.launcher.launched.next() == nil)
        try await harness.stop()
    }

    @Test func `an app that is activated and does not connect is not activated for ever`() async throws {
        let (harness, session) = try await harness()
        await tap(1, harness, session)
        for _ in 0..<4 { try #require(await harness.activator.activated.next()).complete(.activated) }
        let app = try await harness.readyApp()
        #expect(await response(app) == 1)
        try await harness.stop()
    }

    @Test func `an app whose manifest does not say so is started by its program`() async throws {
        let (harness, session) = try await harness(isActivatable: false)
        await tap(1, harness, session)
        #expect(await harness.launcher.launched.next()?.app == "com.example.todo")
        try await harness.stop()
    }

    @Test func `what nobody sees wakes the program`() async throws {
        let (harness, session) = try await harness()
        session.events(.arrived([outgoing(1, payload: #"{"aps":{"content-available":1}}"#)]))
        #expect(await harness.launcher.launched.next()?.app == "com.example.todo")
        try await harness.stop()
    }

    @Test(arguments: [("front", true), ("quiet", false)])
    func `a button for the front activates the app, another one starts its program`(
        button: String, activates: Bool
    ) async throws {
        let (harness, session) = try await harness()
        let app = try await harness.readyApp()
        let actions = [
            NotificationActionDescription(identifier: "quiet", title: "Quiet"),
            NotificationActionDescription(identifier: "front", title: "Front", options: 4),
        ]
        app.send(.center(request: 5, .setCategories([NotificationCategory(identifier: "c", actions: actions)])))
        _ = await app.inbox.next { if case .centerAnswered = $0 { true } else { false } }
        // What the app leaves behind comes to the screen when the agent has noticed its end.
        session.events(.arrived([outgoing(1, payload: #"{"aps":{"alert":"Milk","category":"c"}}"#)]))
        _ = await app.delivery()
        try await app.close()
        #expect(await harness.desktop.show()?.notification.rawValue == 1)
        harness.desktop.does(.pressed(NotificationID(rawValue: 1), button: button, activationToken: nil))
        if activates {
            #expect(await harness.activator.activated.next()?.activation.token == nil)
        } else {
            #expect(await harness.launcher.launched.next()?.app == "com.example.todo")
        }
        try await harness.stop()
    }

    @Test(arguments: [
        ("com.example.todo", true), ("org.a-b._c9", true), ("todo", false), ("com..todo", false), ("com.9todo", false),
        ("com.example.todo ", false), ("com.exämple", false), (".com.example", false), ("", false),
        ("a." + String(repeating: "b", count: 254), false),
    ])
    func `a bus name is checked`(name: String, isGood: Bool) {
        #expect(BusName.isValid(name) == isGood)
    }

    @Test(
        arguments: [("com.9todo", nil, "id"), ("com.example.todo", "todo", "desktopEntry")]
            as [(BundleID, String?, String)])
    func `a manifest whose name is no bus name cannot say that the bus starts the app`(
        id: BundleID, entry: String?, key: String
    ) throws {
        var manifest = todoManifest
        (manifest.id, manifest.desktopEntry) = (id, entry)
        _ = try AppManifest.read(try JSONEncoder().encode(manifest))
        manifest.dbusActivatable = true
        let text = try JSONEncoder().encode(manifest)
        let fault = #expect(throws: AppManifestError.self) { try AppManifest.read(text) }
        #expect(fault?.key == key)
    }
}
