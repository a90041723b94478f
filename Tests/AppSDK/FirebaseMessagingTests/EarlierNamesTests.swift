import AgentDouble
import AgentProtocol
import AldabaTestSupport
import AppHost
import FirebaseCore
import Foundation
import Testing

@testable import FirebaseMessaging

/// A delegate with the methods of Firebase 4.
private final class VersionFourApp: NSObject, MessagingDelegate {
    let told = Inbox<String>()

    func messaging(_ messaging: Messaging, didRefreshRegistrationToken fcmToken: String) {
        told.put("token \(fcmToken.prefix(2))")
    }

    func application(received remoteMessage: MessagingRemoteMessage) { told.put("data \(remoteMessage.messageID)") }
}

/// A delegate with the method of Firebase 3.
private final class VersionThreeApp: NSObject, MessagingDelegate {
    let told = Inbox<String>()

    func applicationReceivedRemoteMessage(_ remoteMessage: MessagingRemoteMessage) {
        told.put("data \(remoteMessage.messageID)")
    }
}

@MainActor @Suite(.timeLimit(.minutes(5)))
final class EarlierNamesTests {
    private let agent: FakeAgent
    private let host: AppHost

    init() throws {
        agent = try FakeAgent()
        host = AppHost(
            configuration: AppHostConfiguration(
                app: "com.example.todo", socketPath: agent.path, launchTimeout: .seconds(60)))
    }

    isolated deinit {
        host.stop()
        agent.stop()
    }

    private func messaging(_ delegate: any MessagingDelegate) -> Messaging {
        let messaging = Messaging(
            host: host, settings: FirebaseSettings(), ownSender: { "42" }, delegates: { (nil, nil) })
        messaging.delegate = delegate
        messaging.shouldEstablishDirectChannel = true
        messaging.begin()
        return messaging
    }

    private var data: AgentMessage {
        .channel(.message(FakeAgent.notification(1, payload: #"{"gcm.message_id":"m1","k":"v"}"#)))
    }

    @Test func `a delegate of version 4 is told the token and data messages`() async throws {
        let app = VersionFourApp()
        let messaging = messaging(app)
        try await agent.welcome()
        let asked = try await agent.next { if case .registerForRemoteNotifications = $0 { true } else { false } }
        guard case .registerForRemoteNotifications(let request) = asked else { return }
        try agent.say(.registered(request: request, token: String(repeating: "ab", count: 32)))
        #expect(await app.told.next() == "token ab")
        try agent.say(data)
        #expect(await app.told.next() == "data m1")
        #expect(messaging.delegate === app)
    }

    @Test func `a delegate of version 3 is told data messages`() async throws {
        let app = VersionThreeApp()
        let messaging = messaging(app)
        try await agent.welcome()
        try agent.say(data)
        #expect(await app.told.next() == "data m1")
        #expect(messaging.delegate === app)
    }

    @Test @available(*, deprecated) func `connect opens the direct channel and says when it is open`() async throws {
        let app = VersionFourApp()
        let messaging: FIRMessaging = Messaging(
            host: host, settings: FirebaseSettings(), ownSender: { "42" }, delegates: { (nil, nil) })
        let told = Inbox<String>()
        messaging.connect { told.put("too early: \($0 != nil)") }
        #expect(await told.next() == "too early: true")
        messaging.remoteMessageDelegate = app
        messaging.begin()
        messaging.connect { told.put("open: \($0 == nil)") }
        try await agent.welcome()
        _ = try await agent.next { $0 == .channel(.open) }
        try agent.say(.channel(.state(isConnected: true)))
        #expect(await told.next() == "open: true")
        messaging.connect { told.put("open already: \($0 == nil)") }
        #expect(await told.next() == "open already: true")
        messaging.disconnect()
        _ = try await agent.next { $0 == .channel(.close) }
    }
}
