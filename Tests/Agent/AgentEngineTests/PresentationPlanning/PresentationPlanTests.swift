import AgentEngine
import AgentProtocol
import Testing

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
