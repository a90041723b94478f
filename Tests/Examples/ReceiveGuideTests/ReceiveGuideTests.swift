import AgentDouble
import AgentProtocol
import AldabaTestSupport
import AppHost
import FirebaseCore
import Foundation
import Testing
import UIKit

@testable import FirebaseMessaging
@testable import ReceiveGuide
@testable import UserNotifications

/// The app of the guide, before an agent of the test's.
@MainActor @Suite(.timeLimit(.minutes(5)), .serialized)
final class ReceiveGuideTests {
    private let agent: FakeAgent
    private let host: AppHost
    private let center: UNUserNotificationCenter
    private let application: UIApplication
    private let messaging: Messaging
    private let app = AppDelegate()
    private let shown = Inbox<String>()

    init() async throws {
        agent = try FakeAgent()
        host = AppHost(
            configuration: AppHostConfiguration(
                app: "com.example.todo", socketPath: agent.path, launchTimeout: .seconds(60)))
        center = UNUserNotificationCenter(host: host)
        application = UIApplication(host: host, center: center)
        messaging = Messaging(
            host: host, settings: FirebaseSettings(),
            delegates: { [application, center] in (application.delegate, center.delegate) })
        app.show = { [shown] in shown.put($0) }
        center.delegate = app
        messaging.delegate = app
        messaging.shouldEstablishDirectChannel = true
        application.begin(with: app)
        messaging.begin()
        try await agent.welcome()
        _ = try await agent.next { $0 == .channel(.open) }
    }

    isolated deinit {
        host.stop()
        agent.stop()
    }

    private let payload = #"{"gcm.message_id":"m1","aps":{"alert":{"title":"Milk"}},"item":"milk"}"#

    private nonisolated func isSent(_ message: AppMessage) -> Bool {
        if case .channel(.send) = message { true } else { false }
    }

    @Test func `data only`() async throws {
        let silent = #"{"gcm.message_id":"m1","item":"milk"}"#
        try agent.say(.channel(.message(FakeAgent.notification(1, payload: silent))))
        _ = try await agent.next { $0 == .channel(.taken(message: 1)) }
        #expect(await shown.next() == "data: milk")
    }

    @Test func `in front`() async throws {
        try agent.say(.deliver(FakeAgent.notification(1, payload: payload), kind: .foreground))
        #expect(try await agent.outcomes(of: 1) == [1: .presented(options: 18)])
        #expect(await shown.next() == "data: milk")
        #expect(await shown.next() == "in front: Milk")
        #expect(messaging.appDidReceiveMessage(["gcm.message_id": "m1"]).status == .unknown, "it was noted")
    }

    @Test func tapped() async throws {
        try agent.say(
            .respond(
                response: 5, notification: FakeAgent.notification(1, payload: payload),
                action: NotificationAction.open, userText: nil))
        _ = try await agent.next { $0 == .responseHandled(response: 5) }
        #expect(await shown.next() == "tapped: milk of message m1")
    }

    @Test func `in the background`() async throws {
        try agent.say(.enter(.background))
        _ = try await agent.next { $0 == .channel(.close) }
        let waking = #"{"gcm.message_id":"m1","aps":{"content-available":1},"item":"milk"}"#
        try agent.say(.deliver(FakeAgent.notification(1, payload: waking), kind: .background))
        #expect(try await agent.outcomes(of: 1) == [1: .background(.newData)])
        #expect(await shown.next() == "fetch milk")
    }

    @Test func deleted() async throws {
        app.watchDeletions()
        try agent.say(.messagesDeleted(deletion: 3, count: 100, since: 5))
        _ = try await agent.next { $0 == .deletionTaken(deletion: 3) }
        #expect(await shown.next() == "100 messages were deleted: load everything again")
    }

    @Test func upstream() async throws {
        app.watchOrders()
        app.order("milk", by: messaging)
        guard case .channel(.send(let request, let draft)) = try await agent.next({ isSent($0) }) else { return }
        #expect(draft.data == ["order": "milk"])
        try agent.say(.channel(.accepted(request: request)))
        try agent.say(.channel(.ended(upstream: 1, id: draft.id, code: nil)))
        #expect(await shown.next() == "order-milk is with the provider's server")
        try agent.say(.channel(.ended(upstream: 2, id: "order-tea", code: ChannelFault.expired)))
        #expect(await shown.next { $0.hasPrefix("order-tea") } == "order-tea failed: TtlExceeded")
    }

    @Test(arguments: ["AppDelegate", "DataOnly", "Foreground", "Tapped", "Background", "Deleted", "Upstream"])
    func `the page shows the code that is tested here`(file: String) throws {
        let root = Repository.root
        let page = try String(
            contentsOf: root.appendingPathComponent("Docs/receive-with-firebase.md"), encoding: .utf8)
        let code = try String(
            contentsOf: root.appendingPathComponent("Examples/ReceiveGuide/\(file).swift"), encoding: .utf8)
        #expect(page.contains("```swift\n\(code)```\n"))
    }
}
