import AgentEngine
import AgentProtocol
import PushCore
import Testing

/// What is planned for what came from a server, and for what an app scheduled here.
struct NotificationPipelineTests {
    private static let everything: PresentationOptions = [.screen, .list]

    private func conditions(allowed: Bool = true, isLocked: Bool = false) -> PresentationConditions {
        var record = AppNotificationRecord()
        record.authorization = allowed ? .authorized : .denied
        return PresentationConditions(standing: record, policy: .ask, isLocked: isLocked)
    }

    private func arrived(
        _ aps: String, allowed: Bool = true, isInFront: Bool = false, takesEverything: Bool = false
    ) -> PlannedNotification {
        ReceivedNotification(PayloadDelivery(payload: #"{"aps":{\#(aps)}}"#)).planned(
            under: conditions(allowed: allowed), isInFront: isInFront, takesEverything: takesEverything)
    }

    @Test func `an alert appears, and its app gets it only when somebody taps`() {
        #expect(arrived(#""alert":"Milk""#).disposition == .isShown(Self.everything))
    }

    @Test func `an app in front is asked, and nothing is told before it has answered`() {
        let plan = arrived(#""alert":"Milk","badge":3"#, isInFront: true)
        #expect(plan.disposition == .waits && plan.isAsked && !plan.hasBadgeOrSound)
    }

    @Test func `an app in front that is not allowed to show anything is not asked`() {
        let plan = arrived(#""alert":"Milk","badge":3"#, allowed: false, isInFront: true)
        #expect(
            plan.disposition
                == .ends(.suppressed(.settings), note: "the app is not allowed to show notifications"))
        #expect(!plan.isAsked && !plan.hasBadgeOrSound)
    }

    @Test func `what wakes an app appears at once and is handed over later`() {
        #expect(arrived(#""alert":"Milk","content-available":1"#).disposition == .waitsShown(Self.everything))
    }

    @Test func `a background notification waits for its app, allowed or not`() {
        #expect(arrived(#""content-available":1"#).disposition == .waits)
        #expect(arrived(#""content-available":1"#, allowed: false).disposition == .waits)
    }

    @Test func `a kiosk gets what appears and what does not`() {
        #expect(arrived(#""alert":"Milk""#, takesEverything: true).disposition == .waitsShown(Self.everything))
        #expect(arrived(#""badge":3"#, takesEverything: true).disposition == .waits)
    }

    @Test func `a badge and a sound without a text are told, and that is the end`() {
        let plan = arrived(#""badge":3,"sound":"default""#)
        #expect(plan.badge == 3 && plan.sound != nil)
        #expect(
            plan.disposition == .ends(.presented, note: "it shows no text: its badge and its sound alone"))
    }

    @Test(arguments: [true, false])
    func `an app's own notification asks the app in front, and appears else`(isInFront: Bool) {
        var content = NotificationContent()
        content.title = "Tea"
        content.badge = 1
        let plan = ReceivedNotification(content: content, source: .app).planned(
            under: conditions(), isInFront: isInFront, takesEverything: false)
        #expect(plan.isAsked == isInFront)
        #expect(plan.disposition == (isInFront ? .waits : .isShown(Self.everything)))
        #expect(plan.badge == (isInFront ? nil : 1))
        #expect(plan.showing == Self.everything)
    }
}
