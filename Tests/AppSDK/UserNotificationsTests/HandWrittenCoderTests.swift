import Foundation
import Testing
import UserNotifications

/// A coder as tests of apps write it, to make what only the system can make; what it does not answer ends the program.
private final class HandWrittenCoder: NSCoder {
    private let values: [String: Any]
    init(_ values: [String: Any]) { self.values = values }

    override var allowsKeyedCoding: Bool { true }

    override func decodeObject(forKey key: String) -> Any? {
        key == "notification" && values[key] == nil ? UNNotification(coder: self) : values[key]
    }
}

struct HandWrittenCoderTests {
    private var request: UNNotificationRequest {
        let content = UNMutableNotificationContent()
        content.title = "Milk"
        content.userInfo = ["list": 7]
        return UNNotificationRequest(
            identifier: "milk", content: content,
            trigger: UNTimeIntervalNotificationTrigger(timeInterval: 5, repeats: false))
    }

    @Test func `a notification is made of a request and a date`() throws {
        let date = Date(timeIntervalSince1970: 1_800_000_000)
        let made = try #require(UNNotification(coder: HandWrittenCoder(["request": request, "date": date])))
        #expect(made.request == request && made.date == date && made.aldabaID == nil)
        #expect(made.request.content.userInfo["list"] as? Int == 7)
    }

    @Test func `a response is made of a notification and an action`() throws {
        let coder = HandWrittenCoder([
            "request": request, "date": Date(), "actionIdentifier": "buy", "originIdentifier": "com.example.todo",
        ])
        let response = try #require(UNNotificationResponse(coder: coder))
        #expect(response.actionIdentifier == "buy" && response.notification.request == request)
        let text = HandWrittenCoder(["request": request, "actionIdentifier": "say", "userText": "two"])
        #expect(try #require(UNTextInputNotificationResponse(coder: text)).userText == "two")
    }

    @Test func `what is not given is empty`() throws {
        let response = try #require(UNNotificationResponse(coder: HandWrittenCoder([:])))
        #expect(response.actionIdentifier == UNNotificationDefaultActionIdentifier)
        #expect(response.notification.request.identifier.isEmpty)
        #expect(response.notification.request.content.title.isEmpty)
    }

    @Test func `coders of Foundation itself hold nothing of that`() {
        #expect(UNNotification(coder: NSKeyedArchiver(requiringSecureCoding: false)) == nil)
        #expect(UNNotificationResponse(coder: NSCoder()) == nil)
    }

    @Test func `a description says what an object holds`() throws {
        let notification = try #require(UNNotification(coder: HandWrittenCoder(["request": request])))
        let text = notification.description
        for part in [
            "<UNNotification: 0x", "<UNNotificationRequest: 0x",
            "; identifier: milk, content: <UNNotificationContent: 0x",
            "title: Milk", "badge: (null)", "<UNTimeIntervalNotificationTrigger: 0x",
            "repeats: false, timeInterval: 5.0",
        ] {
            #expect(text.contains(part), "\(part) in \(text)")
        }
        let action = UNNotificationAction(identifier: "ok", title: "OK")
        let category = UNNotificationCategory(identifier: "c", actions: [action], intentIdentifiers: [])
        #expect(category.description.contains("identifier: c, actions: [<UNNotificationAction: 0x"))
        #expect(action.description.contains("identifier: ok, title: OK"))
    }
}
