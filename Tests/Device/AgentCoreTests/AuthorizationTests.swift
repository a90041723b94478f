import AgentWire
import AldabaTestSupport
import DeviceModel
import Foundation
import PushModel
import Testing

@testable import AgentCore
@testable import DeviceStore
@testable import InstalledApps

/// The question whether an app may send notifications.
@Suite(.timeLimit(.minutes(1))) struct AuthorizationTests {
    private func granted(_ app: TestApp) async -> Bool? {
        let message = await app.inbox.next { if case .authorizationAnswered = $0 { true } else { false } }
        guard case .authorizationAnswered(_, let granted)? = message else { return nil }
        return granted
    }

    private func status(_ app: TestApp) async -> Int? {
        app.send(.getSettings(request: 50))
        let message = await app.inbox.next { if case .settings = $0 { true } else { false } }
        guard case .settings(50, let settings)? = message else { return nil }
        return settings.authorizationStatus
    }

    @Test(arguments: [("allow", true, 2), ("deny", false, 1)])
    func `a person is asked once, and the answer outlives the agent`(
        button: String, answer: Bool, status: Int
    ) async throws {
        let harness = try AgentHarness(authorization: .ask)
        try await harness.start()
        let app = try await harness.readyApp()
        #expect(await self.status(app) == 0)
        app.send(.requestAuthorization(request: 1, options: 7), .requestAuthorization(request: 2, options: 7))
        let prompt = try #require(await harness.desktop.show())
        #expect(prompt.buttons.map(\.label) == ["Allow", "Deliver Quietly", "Don’t Allow"])
        #expect(prompt.title.contains("Todo") && prompt.stays)
        harness.desktop.does(.pressed(prompt.notification, button: button, activationToken: nil))
        #expect(await granted(app) == answer)
        #expect(await granted(app) == answer)
        #expect(await self.status(app) == status)
        try await harness.stop()
        try await harness.start()
        let again = try await harness.readyApp()
        again.send(.requestAuthorization(request: 3, options: 7))
        #expect(await granted(again) == answer)
        try await harness.stop()
    }

    @Test func `what is allowed quietly goes into the list only, until the person changes that`() async throws {
        let harness = try AgentHarness(authorization: .ask)
        try await harness.start()
        let app = try await harness.readyApp()
        app.send(.requestAuthorization(request: 1, options: 7))
        let prompt = try #require(await harness.desktop.show())
        harness.desktop.does(.pressed(prompt.notification, button: "quiet", activationToken: nil))
        #expect(await granted(app) == true)
        #expect(await status(app) == 2)
        let terminal = try await TestApp(socket: harness.configuration.socketPath, id: "")
        terminal.send(.manage(request: 1, .settings(app: "com.example.todo")))
        guard case .managed(_, .settings(let settings))? = await terminal.inbox.next() else {
            Issue.record("no settings")
            return
        }
        let values = Dictionary(uniqueKeysWithValues: settings.map { ($0.name, $0.value) })
        #expect((values["allowed"], values["alerts"], values["sounds"]) == ("yes", "off", "off"))
        #expect((values["badges"], values["list"]) == ("off", "on"))
        try await harness.stop()
    }

    @Test func `no answer is none: the app may ask again`() async throws {
        let harness = try AgentHarness(authorization: .ask)
        try await harness.start()
        let app = try await harness.readyApp()
        app.send(.requestAuthorization(request: 1, options: 7))
        let first = try #require(await harness.desktop.show())
        harness.desktop.does(.dismissed(first.notification))
        #expect(await granted(app) == false)
        #expect(await status(app) == 0)
        app.send(.requestAuthorization(request: 2, options: 7))
        let second = try #require(await harness.desktop.show())
        #expect(second.notification != first.notification)
        try await harness.stop()
    }

    @Test func `a question that outlived the agent leaves the screen`() async throws {
        let harness = try AgentHarness(authorization: .ask)
        try await harness.start()
        let app = try await harness.readyApp()
        app.send(.requestAuthorization(request: 1, options: 7))
        let question = try #require(await harness.desktop.presented.next())
        question.complete(.presented(handle: "the question", note: nil))
        #expect(await self.status(app) == 0)
        // As after a SIGKILL: the end of a run takes its questions away.
        try #require(harness.agent.withLock { $0 }).enter {
            $0.flush()
            $0.questions = AuthorizationQuestions()
        }
        #expect(await self.status(app) == 0)
        try await harness.stop()

        var timing = AgentTiming()
        timing.returnLimit = .milliseconds(1)
        try await harness.start(timing: timing)
        let inherited = harness.desktop.inherited.withLock { $0 }
        #expect(inherited.map(\.handle) == ["the question"])
        #expect(inherited.first?.presentation.identifier == question.presentation.identifier)
        #expect(await harness.desktop.withdrawn.next() == inherited.first?.presentation.notification)
        try await harness.stop()
        try await harness.start()
        #expect(harness.desktop.inherited.withLock { $0 }.isEmpty)
        try await harness.stop()
    }

    @Test func `a desktop that cannot ask is no answer either`() async throws {
        let harness = try AgentHarness(authorization: .ask)
        try await harness.start()
        let app = try await harness.readyApp()
        app.send(.requestAuthorization(request: 1, options: 7))
        try #require(await harness.desktop.presented.next()).complete(.failed(reason: "no server"))
        #expect(await granted(app) == false)
        #expect(await status(app) == 0)
        try await harness.stop()
    }

    @Test func `what is granted provisionally goes to the list without a question`() async throws {
        let harness = try AgentHarness(authorization: .ask)
        try await harness.start()
        let app = try await harness.readyApp()
        app.send(.requestAuthorization(request: 1, options: 64 | 7))
        #expect(await granted(app) == true)
        #expect(await status(app) == 3)
        try await harness.stop()
    }

    @Test func `a manifest that changes counts at once, also for an app that is connected`() async throws {
        let harness = try AgentHarness()
        try await harness.start()
        let app = try await harness.readyApp()
        #expect(await status(app) == 2)
        var manifest = todoManifest
        manifest.authorization = .denied
        let folder = AppFolder(path: harness.configuration.appsFolder)
        try folder.install(manifest)
        try #require(harness.agent.withLock { $0 }).enter { try? $0.loadApps() }
        #expect(await status(app) == 1)
        manifest.executable = "/opt/another"
        try folder.install(manifest)
        try #require(harness.agent.withLock { $0 }).enter { try? $0.loadApps() }
        let refused = await app.inbox.next { if case .refused = $0 { true } else { false } }
        guard case .refused(_, "manifestChanged", _)? = refused else {
            Issue.record("\(String(describing: refused))")
            return
        }
        try await harness.stop()
    }

    @Test(arguments: [(AppManifest.Authorization.granted, true), (.denied, false)])
    func `a policy asks nobody`(policy: AppManifest.Authorization, answer: Bool) async throws {
        let harness = try AgentHarness(authorization: policy)
        try await harness.start()
        let app = try await harness.readyApp()
        app.send(.requestAuthorization(request: 1, options: 7))
        #expect(await granted(app) == answer)
        try await harness.stop()
    }
}

/// Categories that app and extension set one after the other.
struct CategoryTests {
    private func standing(_ sets: [String]...) -> [String] {
        var standing = AppNotificationRecord()
        for names in sets { standing.merge(names.map { NotificationCategory(identifier: $0, actions: []) }) }
        return standing.categories.map(\.identifier)
    }

    @Test func `they are taken in addition, in place of those of the same name, and none take all away`() {
        #expect(standing(["a", "b"], ["c", "a"]) == ["b", "c", "a"])
        #expect(standing(["a", "b"], []) == [])
    }

    @Test func `beyond 256 those go that were set longest ago`() {
        let kept = standing((0..<256).map { "old \($0)" }, ["new"])
        #expect(kept.count == 256 && kept.first == "old 1" && kept.last == "new")
    }
}

/// How one notification appears.
struct PresentationPlanTests {
    private static func standing(_ change: (inout AppNotificationRecord) -> Void) -> AppNotificationRecord {
        var standing = AppNotificationRecord()
        standing.authorization = .authorized
        change(&standing)
        return standing
    }

    private static func content(_ change: (inout NotificationContent) -> Void = { _ in }) -> NotificationContent {
        var content = NotificationContent()
        content.title = "Milk"
        content.sound = NotificationSound()
        change(&content)
        return content
    }

    static let cases: [(String, NotificationContent, AppNotificationRecord, PresentationPlan.Reach, sounds: Bool)] = [
        ("plain", content(), standing { _ in }, .screen, true),
        ("passive", content { $0.interruptionLevel = .passive }, standing { _ in }, .list, false),
        ("provisional", content(), standing { $0.authorization = .provisional }, .list, false),
        ("alerts off", content(), standing { $0.settings.alerts = false }, .list, true),
        ("style none", content(), standing { $0.settings.alertStyle = .none }, .list, true),
        ("sounds off", content(), standing { $0.settings.sounds = false }, .screen, false),
        (
            "all off", content(),
            standing {
                $0.settings.alerts = false
                $0.settings.list = false
            }, .nowhere(reason: "the person turned its notifications off"), true
        ),
        (
            "critical although off", content { $0.interruptionLevel = .critical },
            standing {
                $0.settings.alerts = false
                $0.settings.sounds = false
                $0.settings.criticalAlerts = true
            }, .screen, true
        ),
        (
            "not allowed", content(), standing { $0.authorization = .denied },
            .nowhere(reason: "the app is not allowed to show notifications"), false
        ),
    ]

    @Test(arguments: cases.indices)
    func `what is settled decides how far a notification comes`(index: Int) {
        let (name, content, standing, reach, sounds) = Self.cases[index]
        let plan = PresentationPlan(content, standing: standing, policy: .ask)
        #expect(plan.reach == reach && plan.sounds == sounds, "\(name)")
    }

    @Test func `what an app did not ask for it does not get, and is told that it is not supported`() {
        let standing = Self.standing { $0.options = AuthorizationOption.badge }
        var content = Self.content()
        content.badge = 3
        let plan = PresentationPlan(content, standing: standing, policy: .ask)
        #expect(plan.reach == .list && !plan.sounds && plan.badge == 3)
        let settings = standing.settings(under: .ask)
        let numbers: [Int] = [
            settings.alertSetting, settings.soundSetting, settings.badgeSetting, settings.alertStyle,
        ]
        #expect(numbers == [0, 0, 2, 0])
    }

    @Test func `what says that it is critical is so only where the person lets it`() {
        let content = Self.content { $0.interruptionLevel = .critical }
        #expect(!PresentationPlan(content, standing: Self.standing { _ in }, policy: .ask).isCritical)
        let standing = Self.standing { $0.settings.criticalAlerts = true }
        let plan = PresentationPlan(content, standing: standing, policy: .ask, isQuietTime: true)
        #expect(plan.isCritical && plan.reach == .screen)
    }

    @Test(arguments: [
        (AppSettings.Previews.always, true, false), (.whenUnlocked, false, false), (.whenUnlocked, true, true),
        (.never, false, true),
    ])
    func `previews are hidden as the person wants`(previews: AppSettings.Previews, isLocked: Bool, hides: Bool) {
        let standing = Self.standing { $0.settings.previews = previews }
        let plan = PresentationPlan(Self.content(), standing: standing, policy: .ask, isLocked: isLocked)
        #expect(plan.hidesText == hides)
    }
}

struct AppStringsTests {
    @Test(arguments: [
        ("%@ and %@", ["a", "b"], "a and b"), ("%2$@ before %1$@", ["a", "b"], "b before a"), ("100 %%", [], "100 %"),
        ("%@ %@", ["a"], "a "), ("%9$@|%0$@|", ["a"], "||"), ("%d left%", ["3"], "3 left"),
        ("%99999999999999999999$@", ["a"], ""),
    ])
    func `arguments go where the text names them`(format: String, arguments: [String], text: String) {
        #expect(AppStrings.fill(format, arguments) == text)
    }

    @Test func `the person's language comes first, then the base`() throws {
        let folder = try TemporaryFolder()
        for (language, text) in [("de", #""HI" = "Hallo %@";"#), ("en", #""HI" = "Hello %@"; "ONLY" = "only";"#)] {
            let place = folder.url.appendingPathComponent("\(language).lproj")
            try FileManager.default.createDirectory(at: place, withIntermediateDirectories: true)
            try text.write(
                to: place.appendingPathComponent("Localizable.strings"), atomically: true, encoding: .utf8)
        }
        let german = AppStrings(folder: folder.url.path, languages: ["de_AT.UTF-8"])
        #expect(german.text(.init(key: "HI", arguments: ["Anna"])) == "Hallo Anna")
        #expect(german.text(.init(key: "ONLY")) == "only")
        #expect(german.text(.init(key: "NEITHER")) == nil)
        #expect(AppStrings.languages(["LANG": "de_DE.UTF-8", "LANGUAGE": "fr:de"]) == ["fr", "de", "de_DE.UTF-8"])
        #expect(AppStrings.languages(["LC_ALL": "C", "LANG": "de_DE"]) == [])
    }
}
