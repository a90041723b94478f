import AgentDouble
import AgentProtocol
import AppHost
import Foundation
import Synchronization
import Testing
import UserNotifications

@testable import UIKit

/// Old members, reached without the warning that they are old.
@MainActor
private protocol OldMembers: AnyObject {
    var applicationIconBadgeNumber: Int { get set }
    func setMinimumBackgroundFetchInterval(_ minimumBackgroundFetchInterval: TimeInterval)
    func cancelAllLocalNotifications()
}

extension UIApplication: OldMembers {}

/// The oldest launch method.
private final class OldLaunchApp: UIResponder, UIApplicationDelegate {
    let diary = Diary()
    var window: UIWindow?

    func applicationDidFinishLaunching(_ application: UIApplication) { diary.note("launched") }
}

@MainActor
final class SurroundingsTests {
    private let agent: FakeAgent
    private let host: AppHost
    private let application: UIApplication

    init() throws {
        agent = try FakeAgent()
        host = AppHost(
            configuration: AppHostConfiguration(
                app: "com.example.todo", socketPath: agent.path, launchTimeout: .seconds(60)))
        application = UIApplication(host: host, center: UNUserNotificationCenter(host: host))
    }

    isolated deinit {
        host.stop()
        agent.stop()
    }

    @Test func `the oldest launch method is called, and a window is kept where the app keeps one`() async throws {
        let app = OldLaunchApp()
        application.begin(with: app)
        try await agent.welcome()
        _ = try await agent.next { $0 == .ready }
        #expect(app.diary.lines == ["launched"])
        app.window = UIWindow(frame: UIScreen.main.bounds)
        app.window?.rootViewController = UIViewController()
        #expect(app.window?.rootViewController != nil)
        #expect((PlainDelegate() as any UIApplicationDelegate).window == nil)
    }

    private final class PlainDelegate: UIResponder, UIApplicationDelegate {}

    @Test func `the icon's badge number is set through the centre, and 0 also clears the list`() async throws {
        let old: any OldMembers = application
        old.applicationIconBadgeNumber = 3
        #expect(old.applicationIconBadgeNumber == 3)
        old.applicationIconBadgeNumber = 0
        old.applicationIconBadgeNumber = -1
        application.begin(with: PlainDelegate())
        try await agent.welcome()
        var commands: [NotificationCenterCommand] = []
        while commands.count < 4 {
            let message = try await agent.next { if case .center = $0 { true } else { false } }
            if case .center(_, let command) = message { commands.append(command) }
        }
        #expect(commands == [.setBadge(3), .setBadge(0), .removeDelivered(nil), .setBadge(0)])
    }

    @Test func `the icon's badge number is the agent's, and the last known one without an agent`() async throws {
        let old: any OldMembers = application
        #expect(old.applicationIconBadgeNumber == 0)
        application.badgeLimit = .seconds(60)
        application.begin(with: PlainDelegate())
        try await agent.welcome()
        _ = try await agent.next { $0 == .ready }
        let agent = agent
        let answer = Task.detached {
            let asked = try await agent.next { if case .center = $0 { true } else { false } }
            guard case .center(let request, .badge) = asked else { throw POSIXError(.EPROTO) }
            try agent.say(.centerAnswered(request: request, .badge(12)))
        }
        #expect(old.applicationIconBadgeNumber == 12)
        try await answer.value
        host.stop()
        #expect(old.applicationIconBadgeNumber == 12)
    }

    @Test func `the icon's badge number is the one that the app has set through the centre`() async throws {
        let old: any OldMembers = application
        application.badgeLimit = .seconds(60)
        application.begin(with: PlainDelegate())
        try await agent.welcome()
        _ = try await agent.next { $0 == .ready }
        let agent = agent
        // Answers as the agent does: in order, each with what it has by then.
        let answers = Task.detached {
            var badge = 0
            for _ in 1...2 {
                let asked = try await agent.next { if case .center = $0 { true } else { false } }
                guard case .center(let request, let command) = asked else { throw POSIXError(.EPROTO) }
                if case .setBadge(let set) = command { badge = set }
                try agent.say(.centerAnswered(request: request, command == .badge ? .badge(badge) : .done))
            }
        }
        application.center.setBadgeCount(5, withCompletionHandler: nil)
        #expect(old.applicationIconBadgeNumber == 5)
        try await answers.value
        host.stop()
        #expect(old.applicationIconBadgeNumber == 5)
    }

    @Test func `all local notifications are cancelled through the centre`() async throws {
        let old: any OldMembers = application
        old.setMinimumBackgroundFetchInterval(UIApplication.backgroundFetchIntervalMinimum)
        old.cancelAllLocalNotifications()
        application.begin(with: PlainDelegate())
        try await agent.welcome()
        let message = try await agent.next { if case .center = $0 { true } else { false } }
        guard case .center(_, let command) = message else { return }
        #expect(command == .removePending(nil))
    }

    @Test func `an app declares its state, and both the delegate and the agent hear of it`() async throws {
        let app = StateDiaryApp()
        application.begin(with: app)
        try await agent.welcome()
        _ = try await agent.next { $0 == .ready }
        application.declare(.background)
        _ = try await agent.next { $0 == .stateChanged(.background) }
        application.declare(.active)
        _ = try await agent.next { $0 == .stateChanged(.active) }
        #expect(
            app.diary.lines == [
                "active", "will resign active", "background", "will enter foreground", "active",
            ])
    }

    @Test func `every change of the state is posted to who observes it`() async throws {
        let posted = Mutex<[String]>([])
        let names = [
            UIApplication.didFinishLaunchingNotification, UIApplication.didBecomeActiveNotification,
            UIApplication.willResignActiveNotification, UIApplication.didEnterBackgroundNotification,
            UIApplication.willEnterForegroundNotification,
        ]
        let observers = names.map { name in
            NotificationCenter.default.addObserver(forName: name, object: application, queue: nil) { notification in
                posted.withLock { $0.append(notification.name.rawValue) }
            }
        }
        defer { observers.forEach(NotificationCenter.default.removeObserver) }
        application.begin(with: PlainDelegate())
        try await agent.welcome()
        _ = try await agent.next { $0 == .ready }
        application.declare(.background)
        application.declare(.inactive)
        _ = try await agent.next { $0 == .stateChanged(.inactive) }
        #expect(posted.withLock { $0 } == names.map(\.rawValue))
    }

    /// An app with addresses of its own.
    private final class LinkedApp: UIResponder, UIApplicationDelegate {
        let diary = Diary()

        func application(
            _ application: UIApplication, open url: URL, options: [UIApplication.OpenURLOptionsKey: Any]
        ) -> Bool {
            diary.note(url.absoluteString)
            return true
        }
    }

    /// Answers the app's next request to open an address.
    private func answerOpening(_ answer: OpeningAnswer) -> Task<AppMessage, any Error> {
        Task.detached { [agent] in
            let asked = try await agent.next { if case .open = $0 { true } else { false } }
            guard case .open(let request, _, _) = asked else { throw POSIXError(.EPROTO) }
            try agent.say(.opened(request: request, answer))
            return asked
        }
    }

    @Test(arguments: [
        (OpeningAnswer.opened, true, []), (.refused("no"), false, []), (.own, true, ["todo://list/4"]),
    ])
    func `the agent opens an address, or the app its own`(answer: OpeningAnswer, isOpened: Bool, told: [String])
        async throws
    {
        let (app, url) = (LinkedApp(), try #require(URL(string: "todo://list/4")))
        application.badgeLimit = .seconds(60)
        application.begin(with: app)
        try await agent.welcome()
        _ = try await agent.next { $0 == .ready }
        var answered = answerOpening(answer)
        #expect(application.canOpenURL(url) == isOpened)
        #expect(try await answered.value == .open(request: 1, url: "todo://list/4", isTrial: true))
        answered = answerOpening(answer)
        #expect(await application.open(url) == isOpened)
        #expect(try await answered.value == .open(request: 2, url: "todo://list/4"))
        #expect(app.diary.lines.filter { $0.contains(":") } == told)
        #expect(await application.open(url, options: [.universalLinksOnly: true]) == false)
    }

    @Test func `an address that the agent has not answered for is not opened by the next one`() async throws {
        let url = try #require(URL(string: "https://example.com"))
        application.begin(with: LinkedApp())
        try await agent.welcome()
        _ = try await agent.next { $0 == .ready }
        async let isOpened = application.open(url)
        _ = try await agent.next { if case .open = $0 { true } else { false } }
        agent.cut()
        #expect(await isOpened == false)
    }

    @Test func `what Linux has not is answered, not ignored`() async throws {
        let url = try #require(URL(string: UIApplication.openNotificationSettingsURLString))
        #expect(!application.canOpenURL(url))
        #expect(await application.open(url) == false)
        let opened = await withCheckedContinuation { continuation in
            application.open(url) { continuation.resume(returning: $0) }
        }
        #expect(!opened)
        let task = application.beginBackgroundTask(withName: "upload")
        #expect(task != .invalid && application.beginBackgroundTask() != task)
        application.endBackgroundTask(task)
        #expect(application.backgroundTasks.open.count == 1)
        #expect(application.backgroundTimeRemaining == .greatestFiniteMagnitude)
        #expect(application.backgroundRefreshStatus == .available && application.connectedScenes.isEmpty)
    }

    @Test func `an app's vendor identifier stays, and differs by app, machine and person`() throws {
        let one = try #require(VendorIdentifier.make(app: "a", machine: "m\n", user: 1))
        #expect(VendorIdentifier.make(app: "a", machine: "m", user: 1) == one)
        #expect(one.uuid.6 >> 4 == 8 && one.uuid.8 >> 6 == 2)
        let others = [("b", "m", UInt32(1)), ("a", "n", 1), ("a", "m", 2)].compactMap {
            VendorIdentifier.make(app: $0.0, machine: $0.1, user: $0.2)
        }
        #expect(Set(others + [one]).count == 4)
        #expect(VendorIdentifier.make(app: nil, machine: "m", user: 1) == nil)
        #expect(VendorIdentifier.make(app: "a", machine: nil, user: 1) == nil)
    }

    @Test func `the device names the system`() {
        #expect(UIDevice.current.systemName == "Linux" && !UIDevice.current.systemVersion.isEmpty)
        #expect(!UIDevice.current.name.isEmpty)
    }
}
