import AgentEngine
import AgentProtocol
import AldabaTestSupport
import AppHost
import DeviceTestSupport
import FirebaseCore
import Foundation
import PushCore
import Synchronization
import Testing

@testable import AgentRuntime
@testable import FirebaseMessaging

/// An app in the shape of Apple's, of which the test reads what it was told.
@MainActor
private final class ReceivingApp: NSObject, MessagingDelegate {
    let told = Inbox<String>()

    func messaging(_ messaging: Messaging, didReceiveRegistrationToken fcmToken: String?) {
        told.put("token \(fcmToken?.count ?? 0)")
    }

    func messaging(_ messaging: Messaging, didReceive remoteMessage: MessagingRemoteMessage) {
        let data = remoteMessage.appData.map { "\($0.key)=\($0.value)" }.sorted().joined(separator: ",")
        told.put("data \(remoteMessage.messageID) \(data)")
    }
}

/// The whole path in one process: server's session, agent, socket, host, messaging, delegate.
@MainActor @Suite(.timeLimit(.minutes(5)))
struct FirebasePathTests {
    @Test func `an app gets its token, and a data message of the fcm lane once`() async throws {
        let harness = try AgentHarness()
        try await harness.start()
        let session = try #require(await harness.server.sessions.next())
        session.events(.loggedIn)
        session.events(.arrived([fcmMessage(1, #""item":"milk""#)]))
        _ = await session.acknowledged.next()
        let host = AppHost(
            configuration: AppHostConfiguration(
                app: "com.example.todo", socketPath: harness.configuration.socketPath, launchTimeout: .seconds(60)))
        defer { host.stop() }
        let app = ReceivingApp()
        let messaging = Messaging(host: host, settings: FirebaseSettings(), delegates: { (nil, app) })
        messaging.delegate = app
        messaging.shouldEstablishDirectChannel = true
        messaging.begin()
        let first = [try #require(await app.told.next()), try #require(await app.told.next())].sorted()
        #expect(first == ["data m1 item=milk", "token 64"])
        #expect(await session.receipts(1) == ["1 handed"])
        #expect(messaging.isDirectChannelEstablished)
        #expect(messaging.fcmToken?.count == 64)
        #expect(messaging.apnsToken?.count == 32)
        session.events(.arrived([fcmMessage(2, #""item":"bread","aps":{"alert":"Bread"}"#)]))
        #expect(await app.told.next() == "data m2 item=bread,notification=[\"body\": \"Bread\"]")
        try await harness.stop()
    }

    @Test func `a deletion is done when the server has done it, else it says so and is made up for`() async throws {
        let harness = try AgentHarness()
        try await harness.start()
        let host = AppHost(
            configuration: AppHostConfiguration(
                app: "com.example.todo", socketPath: harness.configuration.socketPath, launchTimeout: .seconds(60)))
        defer { host.stop() }
        let app = ReceivingApp()
        let messaging = Messaging(host: host, settings: FirebaseSettings(), delegates: { (nil, app) })
        messaging.delegate = app
        messaging.begin()
        let first = try await messaging.token()
        let isEnding = harness.server.holdUnregistration()
        let isTold = Mutex(false)
        let deletion = Task {
            try await messaging.deleteToken()
            isTold.withLock { $0 = true }
        }
        _ = await harness.server.unregistered.next()
        // Who asks for a token meanwhile gets another one, after that.
        let second = Task { try await messaging.token() }
        #expect(!isTold.withLock { $0 })
        isEnding.open()
        try await deletion.value
        _ = await harness.server.ended.next()
        #expect(try await second.value != first)

        harness.server.refusalOfEnd.withLock { $0 = .unavailable("away") }
        let error = await #expect(throws: MessagingError.self) { try await messaging.deleteToken() }
        #expect(error?.code == .network)
        harness.server.refusalOfEnd.withLock { $0 = nil }
        #expect(await harness.server.ended.next()?.rawValue == "com.example.todo")
        try await harness.stop()
    }
}
