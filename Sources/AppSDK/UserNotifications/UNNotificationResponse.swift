import AgentProtocol
import AppHost
import Foundation

/// A person's answer to a notification. Immutable.
///
/// Sendable is unchecked because the class is open. It and its subclass have only constants, of value types or of
/// immutable classes. A subclass with variables of its own must ensure that it is safe.
open class UNNotificationResponse: NSObject, NSCopying, NSSecureCoding, @unchecked Sendable {
    /// The archived form of a response.
    struct Archive: Codable, Hashable {
        let notification: DeliveredNotification
        let action: String
        let userText: String?
    }

    let archive: Archive
    private let storedNotification: UNNotification

    init(_ archive: Archive) {
        self.archive = archive
        storedNotification = UNNotification(archive.notification)
    }

    /// Reads an archive of this module; `nil` for another one. Of a hand-written coder it reads what Apple's class
    /// does: `notification`, `actionIdentifier`, and `userText` where there is one.
    public required init?(coder: NSCoder) {
        if let archive = WireCoding.decode(Archive.self, with: coder) {
            self.archive = archive
            storedNotification = UNNotification(archive.notification)
        } else if WireCoding.isHandWritten(coder) {
            let notification = coder.decodeObject(forKey: "notification") as? UNNotification
            storedNotification = notification ?? UNNotification(UNNotification.empty)
            archive = Archive(
                notification: storedNotification.delivered,
                action: coder.decodeObject(forKey: "actionIdentifier") as? String ?? NotificationAction.open,
                userText: coder.decodeObject(forKey: "userText") as? String)
        } else {
            return nil
        }
    }

    /// Archives it.
    open func encode(with coder: NSCoder) { WireCoding.encode(archive, with: coder) }

    /// Always true.
    public class var supportsSecureCoding: Bool { true }

    /// The notification that was answered.
    open var notification: UNNotification { storedNotification }
    /// ``UNNotificationDefaultActionIdentifier``, ``UNNotificationDismissActionIdentifier``, or an action's own.
    open var actionIdentifier: String { archive.action }

    /// The address that the sender gave to what was chosen; `nil` where there is none. Not in Apple's API.
    ///
    /// | chosen | member of the payload |
    /// |---|---|
    /// | the notification itself | `link` (campaigns of a hub), `ab_uri` (Braze) |
    /// | a button | the one of its identifier in `action-links` |
    public var aldabaLink: URL? {
        let userInfo = notification.request.content.userInfo
        let links = userInfo["action-links"] as? [AnyHashable: Any] ?? [:]
        let isOpened = actionIdentifier == UNNotificationDefaultActionIdentifier
        let text = isOpened ? userInfo["link"] ?? userInfo["ab_uri"] : links[actionIdentifier]
        return (text as? String).flatMap { URL(string: $0) }
    }

    /// Itself.
    open func copy(with zone: NSZone? = nil) -> Any { self }
    /// Whether the other is the same answer to the same notification.
    open override func isEqual(_ object: Any?) -> Bool { (object as? UNNotificationResponse)?.archive == archive }
    /// The same for equal responses.
    open override var hash: Int { archive.hashValue }
    /// The object's class, address and values.
    open override var description: String {
        describing(["actionIdentifier": actionIdentifier, "notification": notification])
    }

    /// The response that the agent delivered; with text where the person typed some.
    static func made(of response: DeliveredResponse) -> UNNotificationResponse {
        let archive = Archive(
            notification: response.notification, action: response.action, userText: response.userText)
        return response.userText == nil
            ? UNNotificationResponse(archive) : UNTextInputNotificationResponse(archive)
    }
}

/// A response with text that the person typed.
///
/// Sendable is unchecked because the base class' is; nothing is stored here, and the base has constants only.
open class UNTextInputNotificationResponse: UNNotificationResponse, @unchecked Sendable {
    /// The text that the person typed.
    open var userText: String { archive.userText ?? "" }
}
