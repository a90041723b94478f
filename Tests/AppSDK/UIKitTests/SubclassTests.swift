import AgentDouble
import AgentProtocol
import AppHost
import Foundation
import Synchronization
import Testing
import UserNotifications

/// Content whose user info is made when it is asked for.
private final class ListContent: UNNotificationContent {
    override var userInfo: [AnyHashable: Any] { ["list": 7] }
    override var title: String { "Milk" }
    override var badge: NSNumber? { 3 }
}

/// An action that delegates to Apple's initializer.
private final class KindAction: UNNotificationAction, @unchecked Sendable {
    convenience init(kind: String) { self.init(identifier: kind, title: "of \(kind)", options: [.foreground]) }
    override var title: String { super.title + "!" }
}

private final class ReplyAction: UNTextInputNotificationAction, @unchecked Sendable {
    convenience init(reply: String) {
        self.init(identifier: reply, title: reply, textInputButtonTitle: "Send", textInputPlaceholder: "…")
    }
}

private final class KindCategory: UNNotificationCategory, @unchecked Sendable {
    convenience init(kind: String) {
        self.init(identifier: kind, actions: [KindAction(kind: kind)], intentIdentifiers: [])
    }
}

private final class HourlyTrigger: UNTimeIntervalNotificationTrigger, @unchecked Sendable {
    convenience init(hours: Double) { self.init(timeInterval: hours * 3600, repeats: true) }
}

private final class DailyTrigger: UNCalendarNotificationTrigger, @unchecked Sendable {
    convenience init(hour: Int) { self.init(dateMatching: DateComponents(hour: hour), repeats: true) }
}

private final class BellSound: UNNotificationSound, @unchecked Sendable {
    convenience init(bell: Int) { self.init(named: UNNotificationSoundName("bell\(bell).wav")) }
}

private final class ListRequest: UNNotificationRequest, @unchecked Sendable {
    convenience init(list: Int) { self.init(identifier: "list \(list)", content: ListContent(), trigger: nil) }
    override var identifier: String { "a " + super.identifier }
}

/// A centre that counts what is added.
private final class CountingCenter: UNUserNotificationCenter, @unchecked Sendable {
    let count = Mutex(0)

    override func add(
        _ request: UNNotificationRequest, withCompletionHandler completionHandler: (@Sendable ((any Error)?) -> Void)?
    ) {
        count.withLock { $0 += 1 }
        super.add(request, withCompletionHandler: completionHandler)
    }

    override func getNotificationSettings(completionHandler: @escaping @Sendable (UNNotificationSettings) -> Void) {
        if let settings = UNNotificationSettings(coder: SettingsCoder()) { completionHandler(settings) }
    }
}

/// A coder as apps' tests write it: one number for every setting.
private final class SettingsCoder: NSCoder {
    override func decodeInt64(forKey key: String) -> Int64 {
        key == "authorizationStatus" ? Int64(UNAuthorizationStatus.provisional.rawValue) : 2
    }
    override func decodeBool(forKey key: String) -> Bool { true }
}

/// Subclasses in other modules: what they say counts.
struct SubclassTests {
    @Test func `content is what the members of its subclass say`() throws {
        let content = ListContent()
        let request = UNNotificationRequest(identifier: "l", content: content, trigger: nil)
        let mutable = try #require(content.mutableCopy() as? UNMutableNotificationContent)
        for copy in [request.content, mutable] {
            #expect(copy.userInfo["list"] as? Int == 7 && copy.title == "Milk" && copy.badge == 3)
        }
        #expect(content == mutable)
        mutable.userInfo = [:]
        #expect(content != mutable)
    }

    @Test func `subclasses delegate to Apple's initializers`() {
        let category = KindCategory(kind: "shop")
        #expect(category.actions.map(\.title) == ["of shop!"] && category.actions[0].options == .foreground)
        #expect(category == KindCategory(kind: "shop"))
        #expect(ReplyAction(reply: "say").textInputButtonTitle == "Send")
        #expect(HourlyTrigger(hours: 2).timeInterval == 7200)
        #expect(DailyTrigger(hour: 8).dateComponents.hour == 8)
        #expect(BellSound(bell: 2) == UNNotificationSound(named: UNNotificationSoundName("bell2.wav")))
        #expect(ListRequest(list: 1).identifier == "a list 1")
    }

    @Test func `settings are made of a hand-written coder`() throws {
        let settings = try #require(UNNotificationSettings(coder: SettingsCoder()))
        #expect(settings.authorizationStatus == .provisional && settings.soundSetting == .enabled)
        #expect(settings.alertStyle == .alert && settings.providesAppNotificationSettings)
        #expect(UNNotificationSettings(coder: NSCoder()) == nil)
    }

    @Test func `the centre's methods are overridden, and what is added is what the request's subclass says`()
        async throws
    {
        let agent = try FakeAgent()
        let host = AppHost(configuration: AppHostConfiguration(app: "com.example.todo", socketPath: agent.path))
        defer {
            host.stop()
            agent.stop()
        }
        let center = CountingCenter(host: host)
        #expect(await center.notificationSettings().authorizationStatus == .provisional)
        async let added: Void = center.add(ListRequest(list: 1))
        try await agent.welcome()
        let message = try await agent.next { if case .center = $0 { true } else { false } }
        guard case .center(let request, .add(let wire)) = message else { throw POSIXError(.EPROTO) }
        #expect(wire.identifier == "a list 1" && wire.content.userInfo == .json(#"{"list":7}"#))
        try agent.say(.centerAnswered(request: request, .done))
        try await added
        #expect(center.count.withLock { $0 } == 1)
    }
}
