import Foundation
import Testing

@testable import UserNotifications

/// An extension that puts its mark into the title.
final class MarkingExtension: UNNotificationServiceExtension {
    override func didReceive(
        _ request: UNNotificationRequest, withContentHandler contentHandler: @escaping (UNNotificationContent) -> Void
    ) {
        guard let content = request.content.mutableCopy() as? UNMutableNotificationContent else {
            return contentHandler(request.content)
        }
        content.title = "[marked] \(content.title)"
        contentHandler(content)
    }
}

struct ServiceExtensionTests {
    private let request: UNNotificationRequest = {
        let content = UNMutableNotificationContent()
        content.title = "Milk"
        return UNNotificationRequest(identifier: "r", content: content, trigger: nil)
    }()

    @Test func `an extension is made by the name of its class, and changes what it is given`() throws {
        let type = try #require(
            NSClassFromString("UserNotificationsTests.MarkingExtension") as? UNNotificationServiceExtension.Type)
        var title: String?
        type.init().didReceive(request) { title = $0.title }
        #expect(title == "[marked] Milk")
    }

    @Test func `an extension that overrides nothing changes nothing`() {
        var content: UNNotificationContent?
        let base = UNNotificationServiceExtension()
        base.didReceive(request) { content = $0 }
        base.serviceExtensionTimeWillExpire()
        #expect(content == request.content)
    }
}
