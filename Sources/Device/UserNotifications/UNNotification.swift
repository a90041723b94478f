import AgentWire
import AppHost
import Foundation

/// A notification that was delivered. Immutable.
public final class UNNotification: NSObject, NSCopying, Sendable {
    /// When it was accepted for delivery.
    public let date: Date
    public let request: UNNotificationRequest

    /// Aldaba's internal id: the same in the app, in the agent and in the server's timeline. `nil` for a
    /// notification that did not come from a provider. Not in Apple's API.
    public let aldabaID: Int64?

    /// The `apns-id` that the provider got as its answer. Not in Apple's API, where an app never learns it.
    public let aldabaAPNsID: String?

    init(_ delivered: DeliveredNotification) {
        date = Date(timeIntervalSince1970: Double(delivered.date) / 1000)
        let values = PayloadContent.values(userInfo: PayloadContent.userInfo(payload: delivered.payload))
        request = UNNotificationRequest(
            identifier: delivered.identifier, content: UNNotificationContent(values: values),
            trigger: UNPushNotificationTrigger())
        aldabaID = delivered.id
        aldabaAPNsID = delivered.apnsID
    }

    public func copy(with zone: NSZone? = nil) -> Any { self }
}

/// A person's answer to a notification. Immutable.
public class UNNotificationResponse: NSObject, NSCopying, @unchecked Sendable {
    // Sendable is unchecked because the class has a subclass; both have constants only.

    public let notification: UNNotification
    /// ``UNNotificationDefaultActionIdentifier``, ``UNNotificationDismissActionIdentifier``, or an action's own.
    public let actionIdentifier: String

    init(notification: UNNotification, actionIdentifier: String) {
        self.notification = notification
        self.actionIdentifier = actionIdentifier
    }

    public func copy(with zone: NSZone? = nil) -> Any { self }

    /// The response that the agent handed over; with text where the person typed some.
    static func made(of response: DeliveredResponse) -> UNNotificationResponse {
        let notification = UNNotification(response.notification)
        guard let text = response.userText else {
            return UNNotificationResponse(notification: notification, actionIdentifier: response.action)
        }
        return UNTextInputNotificationResponse(
            notification: notification, actionIdentifier: response.action, userText: text)
    }
}

/// An answer in the person's own words.
public final class UNTextInputNotificationResponse: UNNotificationResponse, @unchecked Sendable {
    // Immutable, as its base class.

    public let userText: String

    init(notification: UNNotification, actionIdentifier: String, userText: String) {
        self.userText = userText
        super.init(notification: notification, actionIdentifier: actionIdentifier)
    }
}
