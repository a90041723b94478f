import AgentProtocol
import DeviceTestSupport
import PushCore
import Testing

@testable import AgentEngine

/// The presentation of a Live Activity's notification.
@Suite struct LiveActivityPresentationTests {
    private func compose(_ content: NotificationContent) -> Presentation {
        var registry = AppRegistry()
        registry.apps[todoManifest.id] = InstalledApp(manifest: todoManifest, record: AppNotificationRecord())
        let notification = WaitingNotification(
            sequence: 1, id: NotificationID(rawValue: -4), app: todoManifest.id, apnsID: "", identifier: "a",
            payload: "", acceptedAt: noon, content: content)
        return PresentationComposer(
            registry: registry,
            conditions: {
                PresentationConditions(standing: $0.record, policy: $0.manifest.authorization, isLocked: false)
            },
            isAwaited: { _ in false }, hasFile: { _ in false }
        ).presentation(of: notification)
    }

    @Test func `a Live Activity stays on the screen, and shows its progress`() {
        var content = NotificationContent()
        content.title = "Milk"
        content.progress = 0.5
        let plain = compose(content)
        #expect(!plain.stays && plain.progress == 0.5)
        content.categoryIdentifier = NotificationContent.liveActivityCategory
        content.progress = nil
        let activity = compose(content)
        #expect(activity.stays && activity.progress == nil && activity.title == "Milk")
    }
}
