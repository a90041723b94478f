import AgentDouble
import AgentProtocol
import AppHost
import Flutter
import Foundation
import Testing
import UIKit

@testable import PushDemoServices

/// The tutorial's delegate with its three services unchanged, before an agent of the test's.
@MainActor @Suite(.timeLimit(.minutes(5)))
final class TutorialAppTests {
    private static let channel = "com.example.pushdemo/notificationaction"
    private static let payload = #"{"aps":{"alert":"Hello"},"action":"action_a"}"#

    private let agent: FakeAgent
    private let host: AppHost
    private let application: UIApplication
    private let other = OtherHalf()
    private let app = AppDelegate()

    init() throws {
        agent = try FakeAgent()
        host = AppHost(
            configuration: AppHostConfiguration(
                app: "com.example.pushdemo", socketPath: agent.path, launchTimeout: .seconds(60)))
        application = UIApplication(host: host, center: UNUserNotificationCenter(host: host))
        app.window?.rootViewController = FlutterViewController(
            engine: FlutterEngine(name: "test", binaryMessenger: other))
        application.begin(with: app)
    }

    isolated deinit {
        host.stop()
        agent.stop()
    }

    private func open(_ notification: DeliveredNotification, as response: Int64) async throws {
        try agent.say(
            .respond(
                response: response, notification: notification, action: UNNotificationDefaultActionIdentifier,
                userText: nil))
        // Without a delegate of the notification centre the application's delegate takes it.
        _ = try await agent.next { $0 == .responseHandled(response: response) }
    }

    @Test func `a tap that starts the app tells its action by getLaunchAction alone`() async throws {
        let started = FakeAgent.notification(1, payload: Self.payload)
        try await agent.welcome(launchNotification: started)
        _ = try await agent.next { $0 == .ready }
        try await open(started, as: 7)
        #expect(other.call(Self.channel, "getLaunchAction") as? String == "action_a")
        #expect(other.calls == [])
        // The next one is another notification, though its content is the same.
        try await open(FakeAgent.notification(2, payload: Self.payload), as: 8)
        #expect(other.calls == ["\(Self.channel) triggerAction action_a"])
    }

    @Test func `a tap while the app runs tells its action by triggerAction alone`() async throws {
        try await agent.welcome()
        _ = try await agent.next { $0 == .ready }
        try await open(FakeAgent.notification(1, payload: Self.payload), as: 7)
        #expect(other.calls == ["\(Self.channel) triggerAction action_a"])
        #expect(other.call(Self.channel, "getLaunchAction") == nil)
    }

    @Test func `the services answer for the installation`() async throws {
        try await agent.welcome()
        _ = try await agent.next { $0 == .ready }
        let channel = "com.example.pushdemo/deviceinstallation"
        #expect(other.call(channel, "getDevicePlatform") as? String == "apns")
        #expect((other.call(channel, "getDeviceToken") as? FlutterError)?.code == "UNAVAILABLE")
        app.application(application, didRegisterForRemoteNotificationsWithDeviceToken: Data([0x0A, 0xFF]))
        #expect(other.call(channel, "getDeviceToken") as? String == "0AFF")
        #expect(other.calls == ["com.example.pushdemo/notificationregistration refreshRegistration -"])
    }
}
