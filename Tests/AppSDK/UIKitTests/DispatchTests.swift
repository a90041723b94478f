import AgentDouble
import AgentProtocol
import AppHost
import Foundation
import Testing
import UIKit
import UserNotifications

/// What the agent says reaches the app's delegates, over a real socket.
@MainActor
final class DispatchTests {
    private let agent: FakeAgent
    private let host: AppHost
    private let center: UNUserNotificationCenter
    private let application: UIApplication

    init() throws {
        agent = try FakeAgent()
        host = AppHost(
            configuration: AppHostConfiguration(
                app: "com.example.todo", socketPath: agent.path, launchTimeout: .seconds(60)))
        center = UNUserNotificationCenter(host: host)
        application = UIApplication(host: host, center: center)
    }

    isolated deinit {
        host.stop()
        agent.stop()
    }

    private nonisolated func isReady(_ message: AppMessage) -> Bool { message == .ready }

    @Test func `a launch is told what caused it, then the app is active, then ready`() async throws {
        let app = HandlerStyleApp()
        application.begin(with: app)
        try await agent.welcome(launchNotification: FakeAgent.notification(5))
        _ = try await agent.next(isReady)
        #expect(app.diary.lines == ["will launch inactive", "launched apns-5", "active"])
        #expect(application.applicationState == .active)
    }

    @Test func `a launch by a local notification has no launch options`() async throws {
        let app = HandlerStyleApp()
        application.begin(with: app)
        try await agent.welcome(launchNotification: FakeAgent.notification(-5))
        _ = try await agent.next(isReady)
        #expect(app.diary.lines == ["will launch inactive", "launched plainly", "active"])
    }

    @Test func `each kind reaches its handlers, written with completion handlers`() async throws {
        let app = HandlerStyleApp()
        center.delegate = app
        application.begin(with: app)
        try await agent.welcome()
        _ = try await agent.next(isReady)
        for (id, kind) in [(Int64(1), DeliveryKind.foreground), (2, .background), (3, .foregroundAndBackground)] {
            try agent.say(.deliver(FakeAgent.notification(id), kind: kind))
        }
        let outcomes = try await agent.outcomes(of: 3)
        #expect(outcomes == [1: .presented(options: 18), 2: .background(.newData), 3: .presented(options: 18)])
        #expect(app.diary.lines.suffix(4) == ["present 1", "background 2 1", "background 3 1", "present 3"])
    }

    @Test func `each kind reaches its handlers, written with async methods`() async throws {
        let app = AsyncStyleApp()
        center.delegate = app
        application.begin(with: app)
        try await agent.welcome()
        _ = try await agent.next(isReady)
        for (id, kind) in [(Int64(1), DeliveryKind.foreground), (2, .background), (3, .foregroundAndBackground)] {
            try agent.say(.deliver(FakeAgent.notification(id), kind: kind))
        }
        let outcomes = try await agent.outcomes(of: 3)
        #expect(outcomes == [1: .presented(options: 8), 2: .background(.failed), 3: .presented(options: 8)])
        try agent.say(.respond(response: 9, notification: FakeAgent.notification(1), action: "later", userText: nil))
        _ = try await agent.next { $0 == .responseHandled(response: 9) }
        #expect(app.diary.lines == ["present 1", "background 2 1", "background 3 1", "present 3", "respond later"])
    }

    @Test func `a thousand notifications begin in their order, whichever way the methods are written`() async throws {
        for app in [HandlerStyleApp(), AsyncStyleApp()]
            as [any UIApplicationDelegate & UNUserNotificationCenterDelegate]
        {
            let agent = try FakeAgent()
            let host = AppHost(
                configuration: AppHostConfiguration(
                    app: "com.example.todo", socketPath: agent.path, launchTimeout: .seconds(60)))
            let center = UNUserNotificationCenter(host: host)
            let application = UIApplication(host: host, center: center)
            center.delegate = app
            application.begin(with: app)
            try await agent.welcome()
            _ = try await agent.next(isReady)
            let talk = Task.detached {
                for id in Int64(1)...1_000 { try agent.say(.deliver(FakeAgent.notification(id), kind: .foreground)) }
            }
            #expect(try await agent.outcomes(of: 1_000).count == 1_000)
            try await talk.value
            let lines = (app as? HandlerStyleApp)?.diary.lines ?? (app as? AsyncStyleApp)?.diary.lines ?? []
            #expect(lines.filter { $0.hasPrefix("present") } == (1...1_000).map { "present \($0)" })
            host.stop()
            agent.stop()
        }
    }

    @Test func `a tap that starts an app of the old form is told to its launch alone`() async throws {
        let app = OldStyleApp()
        let delegate = SilentDelegate()
        center.delegate = delegate
        application.begin(with: app)
        let notification = FakeAgent.notification(1)
        try await agent.welcome(launchNotification: notification)
        _ = try await agent.next(isReady)
        try agent.say(
            .respond(
                response: 7, notification: notification, action: UNNotificationDefaultActionIdentifier, userText: nil))
        _ = try await agent.next { $0 == .responseHandled(response: 7) }
        #expect(app.diary.lines == ["launched 1"])
    }

    @Test func `without a delegate, or with one that does not answer the question, nothing is presented`() async throws
    {
        application.begin(with: OldStyleApp())
        try await agent.welcome()
        _ = try await agent.next(isReady)
        try agent.say(.deliver(FakeAgent.notification(1), kind: .foreground))
        #expect(try await agent.outcomes(of: 1) == [1: .notPresented])
        let silent = SilentDelegate()
        center.delegate = silent
        try agent.say(.deliver(FakeAgent.notification(2), kind: .foreground))
        #expect(try await agent.outcomes(of: 1) == [2: .notPresented])
        let unbound = UnboundDelegate()
        center.delegate = unbound
        try agent.say(.deliver(FakeAgent.notification(3), kind: .foreground))
        #expect(try await agent.outcomes(of: 1) == [3: .presented(options: 1)])
    }

    @Test func `a tap brings the app to the front, waits for a delegate where nobody takes it, and is answered`()
        async throws
    {
        let app = StateDiaryApp()
        application.begin(with: app)
        try await agent.welcome(state: .background)
        _ = try await agent.next(isReady)
        let notification = FakeAgent.notification(1)
        try agent.say(
            .respond(
                response: 7, notification: notification, action: UNNotificationDefaultActionIdentifier, userText: nil))
        try agent.say(.respond(response: 8, notification: notification, action: "reply", userText: "yes"))
        // Its answer shows that both responses have come in before the delegate is set.
        try agent.say(.deliver(notification, kind: .background))
        _ = try await agent.outcomes(of: 1)
        #expect(app.diary.lines == ["will enter foreground", "active"])
        let delegate = HandlerStyleApp()
        center.delegate = delegate
        _ = try await agent.next { $0 == .responseHandled(response: 8) }
        #expect(delegate.diary.lines == ["respond \(UNNotificationDefaultActionIdentifier) -", "respond reply yes"])
    }

    @Test func `the token comes as bytes, its failure as an error, and it is asked for again after a cut`() async throws
    {
        let app = HandlerStyleApp()
        application.begin(with: app)
        application.registerForRemoteNotifications()
        try await agent.welcome()
        let wish = AppMessage.registerForRemoteNotifications(request: 1)
        _ = try await agent.next { $0 == wish }
        try agent.say(.registrationFailed(request: 1, code: "unreachable", message: "No server."))
        await app.diary.wait(for: "no token: No server. (unreachable)")
        #expect(!application.isRegisteredForRemoteNotifications)
        agent.cut()
        try await agent.welcome()
        _ = try await agent.next { $0 == wish }
        try agent.say(.registered(request: 1, token: "00FFa1"))
        await app.diary.wait(for: "token [0, 255, 161]")
        #expect(application.isRegisteredForRemoteNotifications)
    }

    @Test func `what was handled is said again to a new agent, and not handed to the app again`() async throws {
        let app = HandlerStyleApp()
        center.delegate = app
        application.begin(with: app)
        try await agent.welcome()
        _ = try await agent.next(isReady)
        try agent.say(.deliver(FakeAgent.notification(1), kind: .foreground))
        _ = try await agent.outcomes(of: 1)
        agent.cut()
        try await agent.welcome()
        #expect(try await agent.outcomes(of: 1) == [1: .presented(options: 18)])
        _ = try await agent.next(isReady)
        try agent.say(.deliver(FakeAgent.notification(1), kind: .foreground))
        _ = try await agent.outcomes(of: 1)
        #expect(app.diary.lines.filter { $0 == "present 1" }.count == 1)
    }

    @Test func `a frame that is not a message ends the connection, and the app makes another`() async throws {
        let app = HandlerStyleApp()
        application.begin(with: app)
        try await agent.welcome()
        _ = try await agent.next(isReady)
        try agent.say(
            .deliver(FakeAgent.notification(1, payload: String(repeating: "x", count: 1 << 10)), kind: .background))
        _ = try await agent.outcomes(of: 1)
        try agent.sayNonsense()
        try await agent.welcome()
        _ = try await agent.next(isReady)
    }

    @Test func `authorization and settings are answered in both forms`() async throws {
        application.begin(with: OldStyleApp())
        try await agent.welcome()
        async let granted = center.requestAuthorization(options: [.alert, .sound])
        guard
            case .requestAuthorization(let first, 6) = try await agent.next({
                if case .requestAuthorization = $0 { true } else { false }
            })
        else { throw POSIXError(.EPROTO) }
        try agent.say(.authorizationAnswered(request: first, granted: true))
        #expect(try await granted)

        async let settings = center.notificationSettings()
        guard
            case .getSettings(let second) = try await agent.next({ if case .getSettings = $0 { true } else { false } })
        else { throw POSIXError(.EPROTO) }
        try agent.say(
            .settings(
                request: second,
                NotificationSettings(
                    authorizationStatus: 2, alertSetting: 2, soundSetting: 1, badgeSetting: 0,
                    notificationCenterSetting: 2, alertStyle: 1)))
        #expect(await settings.authorizationStatus == .authorized)
    }

    @Test func `an app that nobody knows is refused authorization by an error`() async {
        let host = AppHost(configuration: AppHostConfiguration(app: nil, socketPath: agent.path))
        let center = UNUserNotificationCenter(host: host)
        await #expect(throws: UNError.self) { try await center.requestAuthorization() }
        host.stop()
    }

    @Test func `an app without UIKit's life cycle is ready when it has a delegate`() async throws {
        let delegate = UnboundDelegate()
        center.delegate = delegate
        try await agent.welcome()
        _ = try await agent.next(isReady)
        try agent.say(.deliver(FakeAgent.notification(1), kind: .foreground))
        #expect(try await agent.outcomes(of: 1) == [1: .presented(options: 1)])
    }
}
