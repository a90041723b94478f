import AgentEngine
import AgentProtocol
import AldabaTestSupport
import DeviceTestSupport
import Foundation
import Platform
import PushCore
import Testing

@testable import AgentRuntime

/// Notifications that wait for their app's service extension.
@Suite(.timeLimit(.minutes(5)))
struct ExtensionTests {
    private static let mutable = #"{"aps":{"alert":"Milk","mutable-content":1,"badge":3},"n":1}"#

    private func harness(
        _ folder: TemporaryFolder? = nil, authorization: AppManifest.Authorization = .granted,
        lifecycle: AppManifest.Lifecycle = .declared
    ) throws -> AgentHarness {
        try AgentHarness(folder: folder, authorization: authorization) { manifest in
            manifest.lifecycle = lifecycle
            manifest.serviceExtension = ServiceExtensionManifest(
                id: "\(manifest.id).Service", executable: "/opt/todo-service")
        }
    }

    private func loggedIn(_ harness: AgentHarness) async throws -> FakeSession {
        let session = try #require(await harness.server.sessions.next())
        session.events(.loggedIn)
        return session
    }

    /// The extension that was started connects, and is handed a notification.
    private func extended(_ harness: AgentHarness) async throws -> (TestApp, DeliveredNotification) {
        _ = try #require(await harness.extensions.started.next())
        let service = try await harness.connectApp(role: .serviceExtension)
        return (service, try #require(await handed(service)))
    }

    private func handed(_ service: TestApp) async -> DeliveredNotification? {
        let message = await service.inbox.next { if case .extend = $0 { true } else { false } }
        guard case .extend(let notification)? = message else { return nil }
        return notification
    }

    private func content(_ title: String) -> NotificationContent {
        var content = NotificationContent(payload: Self.mutable)
        content.title = title
        return content
    }

    @Test func `it is acknowledged before its extension hears of it, and shown as that made it`() async throws {
        let harness = try harness()
        try await harness.start()
        let session = try await loggedIn(harness)
        session.events(.arrived([outgoing(1, payload: Self.mutable)]))
        #expect(await session.acknowledged.next() == [NotificationID(rawValue: 1)])
        let (service, notification) = try await extended(harness)
        #expect(notification.id == 1)
        #expect(notification.payload == Self.mutable)
        service.send(.extended(notification: 1, content: content("Fresh milk")))
        let shown = try #require(await harness.desktop.show())
        #expect(shown.title == "Fresh milk")
        #expect(shown.body == "Milk")
        #expect(await harness.desktop.badges.next()?.count == 3)
        #expect(await session.receipts(2) == ["1 extended(changed, 0 ms)", "1 presented"])
        try await harness.stop()
    }

    @Test(arguments: [
        #"{"aps":{"alert":"Milk"}}"#, #"{"aps":{"mutable-content":1,"content-available":1}}"#,
        #"{"aps":{"mutable-content":1,"sound":"default"}}"#, #"{"aps":{"mutable-content":1,"badge":2}}"#,
        #"{"aps":{"mutable-content":1,"alert":{"title":""}}}"#, #"{"aps":{"mutable-content":"1","alert":"Milk"}}"#,
    ])
    func `one that shows no text, or does not ask for it, has no extension started`(payload: String) async throws {
        let harness = try harness()
        try await harness.start()
        let session = try await loggedIn(harness)
        session.events(.arrived([outgoing(1, payload: payload), outgoing(2)]))
        while let shown = await harness.desktop.show(), shown.notification != NotificationID(rawValue: 2) {}
        #expect(harness.extensions.starts.withLock { $0 } == 0)
        try await harness.stop()
    }

    @Test func `an app that may not notify has no extension started`() async throws {
        let harness = try harness(authorization: .denied)
        try await harness.start()
        let session = try await loggedIn(harness)
        session.events(.arrived([outgoing(1, payload: Self.mutable)]))
        #expect(await session.receipts(1) == ["1 suppressed(settings)"])
        #expect(harness.extensions.starts.withLock { $0 } == 0)
        try await harness.stop()
    }

    @Test func `an app in front is asked about what the extension made of it`() async throws {
        let harness = try harness(lifecycle: .always)
        try await harness.start()
        let session = try await loggedIn(harness)
        let app = try await harness.readyApp()
        session.events(.arrived([outgoing(1, payload: Self.mutable)]))
        let (service, _) = try await extended(harness)
        service.send(.extended(notification: 1, content: content("Fresh milk")))
        let message = await app.inbox.next { if case .deliver = $0 { true } else { false } }
        guard case .deliver(let delivered, .foreground)? = message else {
            Issue.record("\(String(describing: message))")
            return
        }
        #expect(delivered.content?.title == "Fresh milk")
        try await harness.stop()
    }

    @Test func `one that came while the agent ended is extended after its restart`() async throws {
        let folder = try TemporaryFolder()
        let first = try harness(folder)
        try await first.start()
        let session = try await loggedIn(first)
        session.events(.arrived([outgoing(1, payload: Self.mutable)]))
        _ = try await extended(first)
        try await first.stop()
        let second = try harness(folder)
        try await second.start()
        let (service, _) = try await extended(second)
        service.send(.extended(notification: 1, content: nil))
        #expect(await second.desktop.show()?.body == "Milk")
        try await second.stop()
    }

    @Test func `when its process ends, takes too much memory or cannot be started it is shown as it came`() async throws
    {
        let harness = try harness()
        try await harness.start()
        let session = try await loggedIn(harness)
        session.events(.arrived([outgoing(1, payload: Self.mutable)]))
        _ = try #require(await harness.extensions.started.next())
        harness.extensions.happens(.ended(.signalled(SIGSEGV)))
        #expect(await harness.desktop.show()?.body == "Milk")
        session.events(.arrived([outgoing(2, payload: Self.mutable)]))
        _ = try #require(await harness.extensions.started.next())
        harness.extensions.happens(.grewTooLarge(bytes: 25 << 20))
        #expect(await harness.desktop.show()?.body == "Milk")
        #expect(await harness.extensions.killed.next() != nil)
        harness.extensions.failure.withLock { $0 = MachineError(what: "/opt/todo-service", reason: "gone") }
        session.events(.arrived([outgoing(3, payload: Self.mutable)]))
        #expect(await harness.desktop.show()?.body == "Milk")
        try await harness.stop()
    }

    @Test func `what shows no text any more, and a file that is none, leave it as it came`() async throws {
        let harness = try harness()
        try await harness.start()
        let session = try await loggedIn(harness)
        session.events(
            .arrived([outgoing(1, payload: Self.mutable)]))
        let (service, _) = try await extended(harness)
        service.send(.extended(notification: 1, content: NotificationContent()))
        #expect(await harness.desktop.show()?.body == "Milk")
        session.events(.arrived([outgoing(2, payload: Self.mutable)]))
        _ = try #require(await handed(service))
        var refused = content("Fresh milk")
        refused.attachments = [NotificationAttachment(identifier: "a", path: "/nowhere.png", type: "public.png")]
        service.send(.extended(notification: 2, content: refused))
        let shown = try #require(await harness.desktop.show())
        #expect((shown.title, shown.body) == ("", "Milk"))
        #expect(
            await session.receipts(4) == [
                "1 extended(emptied, 0 ms)", "1 presented", "2 extended(attachmentRefused, 0 ms)", "2 presented",
            ])
        try await harness.stop()
    }

    @Test func `content that no frame could carry to its app leaves it as it came`() async throws {
        let harness = try harness()
        try await harness.start()
        let session = try await loggedIn(harness)
        session.events(.arrived([outgoing(1, payload: Self.mutable)]))
        let (service, _) = try await extended(harness)
        var long = content("Fresh milk")
        long.body = String(repeating: "a", count: 300_000)
        service.send(.extended(notification: 1, content: long))
        #expect(await harness.desktop.show()?.body == "Milk")
        #expect(await session.receipts(2) == ["1 extended(unsendable, 0 ms)", "1 presented"])
        try await harness.stop()
    }

    @Test func `a process that the agent did not start is none of its extensions`() async throws {
        let harness = try harness()
        try await harness.start()
        let session = try await loggedIn(harness)
        session.events(.arrived([outgoing(1, payload: Self.mutable)]))
        let (service, _) = try await extended(harness)
        let second = try await harness.connectApp(role: .serviceExtension)
        second.send(.extended(notification: 1, content: content("Forged")))
        #expect(
            await second.inbox.next { if case .refused(_, "notThisRole", _) = $0 { true } else { false } }
                != nil)
        service.send(.extended(notification: 1, content: content("Fresh milk")))
        #expect(await harness.desktop.show()?.title == "Fresh milk")
        try await harness.stop()
    }

    @Test func `an extension sets its app's categories, and adds notifications in its app's name`() async throws {
        let harness = try harness()
        try await harness.start()
        let session = try await loggedIn(harness)
        session.events(.arrived([outgoing(1, payload: Self.mutable)]))
        let (service, _) = try await extended(harness)
        let category = NotificationCategory(
            identifier: "todo", actions: [NotificationActionDescription(identifier: "done", title: "Done")])
        var changed = content("Fresh milk")
        changed.categoryIdentifier = "todo"
        service.send(
            .center(request: 1, .setCategories([category])),
            .center(request: 2, .add(NotificationRequest(identifier: "own", content: content("Bread too")))))
        let own = await harness.desktop.show()
        #expect(own?.title == "Bread too" && own?.app == todoManifest.id)
        let done = await service.inbox.next { if case .centerAnswered(2, .done) = $0 { true } else { false } }
        #expect(done != nil)
        service.send(.extended(notification: 1, content: changed))
        #expect(await harness.desktop.show()?.buttons.map(\.identifier) == ["done"])
        try await harness.stop()
    }
}
