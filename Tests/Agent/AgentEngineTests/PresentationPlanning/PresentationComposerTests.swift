import AgentProtocol
import DeviceTestSupport
import Foundation
import PushCore
import Testing

@testable import AgentEngine

@Suite struct PresentationComposerTests {
    private var registry = AppRegistry()
    private var awaited: Set<String> = []
    private var isLocked = false

    init() {
        registry.apps[todoManifest.id] = InstalledApp(manifest: todoManifest, record: AppNotificationRecord())
    }

    private func compose(_ payload: String) -> Presentation {
        PresentationComposer(
            registry: registry,
            conditions: { [isLocked] in
                PresentationConditions(standing: $0.record, policy: $0.manifest.authorization, isLocked: isLocked)
            }, isAwaited: { [awaited] in awaited.contains($0.identifier) },
            hasFile: { FileManager.default.isReadableFile(atPath: $0) }
        ).presentation(of: waiting(1, payload: payload))
    }

    private static let milk = #"{"aps":{"alert":{"title":"Milk","body":"Two litres"},"category":"shop"}}"#

    @Test mutating func `text that the person hides gives way to the category's placeholder`() {
        registry.apps[todoManifest.id]?.record.settings.previews = .whenUnlocked
        #expect(compose(Self.milk).body == "Two litres")
        isLocked = true
        let hidden = compose(Self.milk)
        #expect(hidden.title == "" && hidden.body == "Notification")
    }

    @Test mutating func `what somebody waits for stays on the screen`() {
        #expect(!compose(Self.milk).stays)
        awaited = ["apns-1"]
        #expect(compose(Self.milk).stays)
    }

    @Test func `an incoming call is urgent, and stays until it is answered`() {
        let call = compose(#"{"aps":{"alert":"Ana","category":"call.incoming"}}"#)
        #expect(call.stays && call.urgency == .critical)
        #expect(compose(Self.milk).urgency == .normal)
    }

    @Test mutating func `an app that is not installed any more is named by its bundle id`() {
        registry.apps = [:]
        #expect(compose(Self.milk).appName == "com.example.todo")
    }
}
