import AgentProtocol
import AppHost
import Testing

@testable import UserNotifications

struct NotificationValuesTests {
    @Test func `a mutable copy equals its original until it is changed, and changing it leaves the original`() throws {
        let original = UNNotificationContent(
            values: .init(NotificationContent(payload: #"{"aps":{"alert":"Hi"},"k":[1]}"#)))
        let copy = try #require(original.mutableCopy() as? UNMutableNotificationContent)
        #expect(copy == original)
        #expect(original.hash == copy.hash)
        copy.userInfo["k"] = [2]
        #expect(copy != original)
        copy.title = "Changed"
        #expect(original.title == "")
        let frozen = try #require(copy.copy() as? UNNotificationContent)
        #expect(!(frozen is UNMutableNotificationContent) && frozen.title == "Changed")
    }

    @Test func `a request keeps its content as it was`() {
        let content = UNMutableNotificationContent()
        content.body = "before"
        let request = UNNotificationRequest(identifier: "r", content: content, trigger: nil)
        content.body = "after"
        #expect(request.content.body == "before")
    }

    @Test func `a notification is named by its identifier, and tells Aldaba's ids and the time of its acceptance`() {
        let notification = UNNotification(
            DeliveredNotification(
                id: 42, identifier: "chat-7", apnsID: "4d1c", topic: "t", date: 1_500,
                payload: #"{"aps":{"alert":"Hi"}}"#))
        #expect(notification.request.identifier == "chat-7")
        #expect(notification.request.content.body == "Hi")
        #expect(notification.request.trigger is UNPushNotificationTrigger)
        #expect(notification.aldabaID == 42)
        #expect(notification.aldabaAPNsID == "4d1c")
        #expect(notification.date == Date(timeIntervalSince1970: 1.5))
    }

    @Test func `a response has text where the person typed some`() throws {
        let notification = DeliveredNotification(
            id: 1, identifier: "n", apnsID: nil, topic: "t", date: 0, payload: "{}")
        let plain = UNNotificationResponse.made(
            of: DeliveredResponse(id: 1, notification: notification, action: "open", userText: nil))
        #expect(plain.actionIdentifier == "open" && !(plain is UNTextInputNotificationResponse))
        let typed = UNNotificationResponse.made(
            of: DeliveredResponse(id: 1, notification: notification, action: "reply", userText: "yes"))
        #expect((typed as? UNTextInputNotificationResponse)?.userText == "yes")
    }

    @Test(arguments: [
        (NotificationAction.open, #"{"link":"https://h/a","ab_uri":"https://h/b"}"#, "https://h/a"),
        (NotificationAction.open, #"{"ab_uri":"todo://b"}"#, "todo://b"),
        (NotificationAction.open, #"{"link":7}"#, nil),
        ("buy", #"{"link":"https://h/a","action-links":{"buy":"https://h/buy"}}"#, "https://h/buy"),
        (NotificationAction.dismiss, #"{"link":"https://h/a"}"#, nil), ("buy", #"{"action-links":[]}"#, nil),
    ])
    func `a response has the address that the payload gives to what was chosen`(
        action: String, payload: String, address: String?
    ) {
        let notification = DeliveredNotification(
            id: 1, identifier: "n", apnsID: nil, topic: "t", date: 0, payload: payload)
        let response = UNNotificationResponse.made(
            of: DeliveredResponse(id: 1, notification: notification, action: action, userText: nil))
        #expect(response.aldabaLink?.absoluteString == address)
    }

    @Test func `settings that this version does not know count as the least`() {
        let settings = UNNotificationSettings(
            NotificationSettings(
                authorizationStatus: 2, alertSetting: 2, soundSetting: 1, badgeSetting: 9,
                notificationCenterSetting: -1,
                alertStyle: 7, showPreviewsSetting: 7))
        #expect(settings.authorizationStatus == .authorized)
        #expect(settings.alertSetting == .enabled && settings.soundSetting == .disabled)
        #expect(settings.badgeSetting == .notSupported && settings.notificationCenterSetting == .notSupported)
        #expect(settings.alertStyle == .none && settings.showPreviewsSetting == .never)
    }

    @Test func `the error is caught by its code, cast, and read as an NSError`() {
        do {
            throw UNError(.notificationsNotAllowed)
        } catch UNError.notificationsNotAllowed {
            let error: any Error = UNError(.notificationsNotAllowed)
            #expect((error as? UNError)?.code == .notificationsNotAllowed)
            #expect((error as NSError).domain == UNErrorDomain && (error as NSError).code == 1)
        } catch {
            Issue.record("not caught by its code: \(error)")
        }
    }
}
