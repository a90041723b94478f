import AgentProtocol
import AldabaTestSupport
import DeviceTestSupport
import Foundation
import PushCore
import Testing

@testable import AgentRuntime

/// What a person at a terminal asks.
@Suite(.timeLimit(.minutes(5))) struct ManagementTests {
    private func ask(_ command: ManagementCommand, _ terminal: TestApp) async -> ManagementAnswer? {
        terminal.send(.manage(request: 1, command))
        let message = await terminal.inbox.next { if case .managed = $0 { true } else { false } }
        guard case .managed(1, let answer)? = message else { return nil }
        return answer
    }

    private func notification(_ change: (inout NotificationContent) -> Void = { _ in }) -> NotificationRequest {
        var content = NotificationContent()
        content.title = "Question"
        content.actions = [.init(identifier: "yes", title: "Yes")]
        change(&content)
        return NotificationRequest(identifier: "q", content: content)
    }

    @Test func `the terminal's own notification is shown, and what a person did is told to who waits`() async throws {
        let harness = try AgentHarness()
        try await harness.start()
        let terminal = try await TestApp(socket: harness.configuration.socketPath, id: "")
        terminal.send(.manage(request: 1, .notify(notification(), waits: true)))
        let shown = try #require(await harness.desktop.show())
        #expect(shown.buttons.map(\.identifier) == ["yes"] && shown.appName == "aldaba")
        harness.desktop.does(.pressed(shown.notification, button: "yes", activationToken: nil))
        #expect(await terminal.inbox.next() == .managed(request: 1, .answered(action: "yes", text: nil)))
        #expect(await ask(.list(app: nil), terminal) == .list([]))
        try await harness.stop()
    }

    @Test func `nobody waits for ever: what cannot be shown, or has its place taken, is said`() async throws {
        let harness = try AgentHarness()
        try await harness.start()
        let first = try await TestApp(socket: harness.configuration.socketPath, id: "")
        first.send(.manage(request: 1, .notify(notification(), waits: true)))
        _ = try #require(await harness.desktop.show())
        let second = try await TestApp(socket: harness.configuration.socketPath, id: "")
        second.send(.manage(request: 2, .notify(notification(), waits: true)))
        guard case .managed(1, .failed)? = await first.inbox.next() else {
            Issue.record("the first waits on")
            return
        }
        try #require(await harness.desktop.presented.next()).complete(.failed(reason: "no server"))
        guard case .managed(2, .failed(let reason))? = await second.inbox.next() else {
            Issue.record("the second waits on")
            return
        }
        #expect(reason.contains("no server"))
        try await harness.stop()
    }

    @Test func `a terminal that does not wait is told at once, and the notification can be answered from another`()
        async throws
    {
        let harness = try AgentHarness()
        try await harness.start()
        let terminal = try await TestApp(socket: harness.configuration.socketPath, id: "")
        #expect(await ask(.notify(notification(), waits: false), terminal) == .done)
        let shown = try #require(await harness.desktop.show())
        let other = try await TestApp(socket: harness.configuration.socketPath, id: "")
        guard case .list(let list)? = await ask(.list(app: nil), other), let listed = list.first else {
            Issue.record("not listed")
            return
        }
        let id = listed.notification.id
        #expect(listed.content.title == "Question" && listed.actions.map(\.identifier) == ["yes"])
        guard case .failed(let reason)? = await ask(.act(notification: id, action: "no", text: nil), other) else {
            Issue.record("an unknown action was taken")
            return
        }
        #expect(reason.contains("yes"))
        #expect(await ask(.act(notification: id, action: "yes", text: nil), other) == .done)
        #expect(await harness.desktop.withdrawn.next() == shown.notification)
        #expect(await ask(.list(app: nil), other) == .list([]))
        try await harness.stop()
    }

    @Test func `after a notification with files that is not taken the terminal goes on`() async throws {
        let harness = try AgentHarness()
        try await harness.start()
        let terminal = try await TestApp(socket: harness.configuration.socketPath, id: "")
        let empty = notification {
            $0.title = ""
            $0.attachments = [NotificationAttachment(identifier: "a", path: "/none.png", type: "public.png")]
        }
        guard case .failed? = await ask(.notify(empty, waits: false), terminal) else {
            Issue.record("it says nothing")
            return
        }
        #expect(await ask(.list(app: nil), terminal) == .list([]))
        try await harness.stop()
    }

    @Test func `settings are changed by their names, durably, and a wrong one says what would be right`() async throws {
        let harness = try AgentHarness(authorization: .ask)
        try await harness.start()
        let terminal = try await TestApp(socket: harness.configuration.socketPath, id: "")
        let app: BundleID = "com.example.todo"
        for (name, value, word) in [
            ("sound", "off", "sounds"), ("sounds", "loud", "on, off"), ("style", "x", "banner"),
        ] {
            guard case .failed(let reason)? = await ask(.set(app: app, values: [name: value]), terminal) else {
                Issue.record("\(name)=\(value) was taken")
                return
            }
            #expect(reason.contains(word))
        }
        #expect(await ask(.set(app: app, values: ["allowed": "yes", "style": "alert"]), terminal) == .done)
        try await harness.stop()
        try await harness.start()
        let again = try await TestApp(socket: harness.configuration.socketPath, id: "")
        guard case .settings(let settings)? = await ask(.settings(app: app), again) else {
            Issue.record("no settings")
            return
        }
        let values = Dictionary(uniqueKeysWithValues: settings.map { ($0.name, $0.value) })
        #expect(values["allowed"] == "yes" && values["style"] == "alert" && values["sounds"] == "on")
        #expect(settings.allSatisfy { $0.name == "missed-hours" || $0.allowed.contains($0.value) })
        guard case .status(let status)? = await ask(.status, again) else { return }
        #expect(status.apps.map(\.id) == ["aldaba.notify", app] && status.apps.last?.authorization == 2)
        try await harness.stop()
    }

    @Test func `quiet hours are set for all apps, outlive the agent, and keep what is not urgent off the screen`()
        async throws
    {
        let harness = try AgentHarness()
        try await harness.start()
        let terminal = try await TestApp(socket: harness.configuration.socketPath, id: "")
        guard case .failed(let reason)? = await ask(.set(app: "all", values: ["quiet-hours": "9-17"]), terminal) else {
            Issue.record("it was taken")
            return
        }
        #expect(reason.contains("22:00-07:00"))
        // All of the day but its last minute, in which the test's noon cannot lie anywhere on earth.
        #expect(await ask(.set(app: "all", values: ["quiet-hours": "00:00-23:59"]), terminal) == .done)
        try await harness.stop()
        try await harness.start()
        let again = try await TestApp(socket: harness.configuration.socketPath, id: "")
        guard case .settings(let settings)? = await ask(.settings(app: "all"), again) else { return }
        #expect(settings.map(\.value) == ["00:00-23:59"])
        #expect(await ask(.notify(notification(), waits: false), again) == .done)
        #expect(
            await ask(.notify(notification { $0.interruptionLevel = .timeSensitive }, waits: false), again) == .done)
        #expect(try #require(await harness.desktop.show()).notification.rawValue == -2)
        try await harness.stop()
    }
}
