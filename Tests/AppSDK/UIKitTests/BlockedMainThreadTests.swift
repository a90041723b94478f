import AgentDouble
import AgentProtocol
import AppHost
import Foundation
import Synchronization
import Testing
import UIKit
import UserNotifications

/// Calls of the centre whose answers the main thread waits for.
@MainActor
final class BlockedMainThreadTests {
    private let agent: FakeAgent
    private let host: AppHost
    private let center: UNUserNotificationCenter

    init() throws {
        agent = try FakeAgent()
        host = AppHost(
            configuration: AppHostConfiguration(
                app: "com.example.todo", socketPath: agent.path, launchTimeout: .seconds(60)))
        center = UNUserNotificationCenter(host: host)
    }

    isolated deinit {
        host.stop()
        agent.stop()
    }

    enum Question: CaseIterable {
        case settings, authorization, add, pending, delivered, categories, badge

        func ask(_ center: UNUserNotificationCenter, then done: @escaping @Sendable () -> Void) {
            switch self {
            case .settings: center.getNotificationSettings { _ in done() }
            case .authorization: center.requestAuthorization { _, _ in done() }
            case .add:
                let content = UNMutableNotificationContent()
                content.title = "Milk"
                center.add(UNNotificationRequest(identifier: "m", content: content, trigger: nil)) { _ in done() }
            case .pending: center.getPendingNotificationRequests { _ in done() }
            case .delivered: center.getDeliveredNotifications { _ in done() }
            case .categories: center.getNotificationCategories { _ in done() }
            case .badge: center.setBadgeCount(3) { _ in done() }
            }
        }
    }

    /// Welcomes the app and answers its first question.
    private nonisolated static func answerOne(by agent: FakeAgent) async throws {
        try await agent.welcome()
        let question = try await agent.next {
            switch $0 {
            case .getSettings, .requestAuthorization, .center: true
            default: false
            }
        }
        switch question {
        case .getSettings(let request):
            let settings = NotificationSettings(
                authorizationStatus: 2, alertSetting: 2, soundSetting: 2, badgeSetting: 2,
                notificationCenterSetting: 2, alertStyle: 1, showPreviewsSetting: 0)
            try agent.say(.settings(request: request, settings))
        case .requestAuthorization(let request, _):
            try agent.say(.authorizationAnswered(request: request, granted: true, reason: nil))
        case .center(let request, .pending): try agent.say(.centerAnswered(request: request, .pending([])))
        case .center(let request, .delivered): try agent.say(.centerAnswered(request: request, .delivered([])))
        case .center(let request, .categories): try agent.say(.centerAnswered(request: request, .categories([])))
        case .center(let request, _): try agent.say(.centerAnswered(request: request, .done))
        default: break
        }
    }

    @Test(arguments: Question.allCases)
    func `an answer comes while the main thread waits for it`(question: Question) {
        let agent = agent
        Task.detached { try await Self.answerOne(by: agent) }
        let answered = DispatchSemaphore(value: 0)
        question.ask(center) { answered.signal() }
        #expect(answered.wait(timeout: .now() + 60) == .success)
    }

    /// An app that waits for its settings before it has launched.
    private final class WaitingApp: UIResponder, UIApplicationDelegate {
        var center: UNUserNotificationCenter?
        var status: UNAuthorizationStatus?

        func application(
            _ application: UIApplication,
            didFinishLaunchingWithOptions launchOptions: [UIApplication.LaunchOptionsKey: Any]?
        ) -> Bool {
            let answered = DispatchSemaphore(value: 0)
            let read = Mutex<UNAuthorizationStatus?>(nil)
            center?.getNotificationSettings { settings in
                read.withLock { $0 = settings.authorizationStatus }
                answered.signal()
            }
            _ = answered.wait(timeout: .now() + 60)
            status = read.withLock { $0 }
            return true
        }
    }

    @Test func `an app that waits for its settings in its launch gets them, and launches`() async throws {
        let app = WaitingApp()
        app.center = center
        let application = UIApplication(host: host, center: center)
        application.begin(with: app)
        try await Self.answerOne(by: agent)
        _ = try await agent.next { $0 == .ready }
        #expect(app.status == .authorized)
    }
}
