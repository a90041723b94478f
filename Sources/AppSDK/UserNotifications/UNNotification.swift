import AgentProtocol
import AppHost
import Foundation

/// A notification that was delivered. Immutable.
///
/// Sendable is unchecked because the class is open. It has only constants, of value types or of immutable classes. A
/// subclass with variables of its own must ensure that it is safe.
open class UNNotification: NSObject, NSCopying, NSSecureCoding, @unchecked Sendable {
    let delivered: DeliveredNotification
    private let storedRequest: UNNotificationRequest

    init(_ delivered: DeliveredNotification) {
        self.delivered = delivered
        storedRequest = Self.request(of: delivered)
    }

    private static func request(of delivered: DeliveredNotification) -> UNNotificationRequest {
        var values = UNNotificationContent.Values(
            delivered.content ?? NotificationContent(payload: delivered.payload))
        // A service extension may have changed it.
        if delivered.isRemote, values.userInfo.isEmpty { values.userInfo = payloadMembers(of: delivered) }
        return UNNotificationRequest(
            identifier: delivered.identifier, values: values,
            trigger: delivered.isRemote
                ? UNPushNotificationTrigger() : delivered.trigger.map { UNNotificationTrigger.made(of: $0) })
    }

    /// Reads an archive of this module; `nil` for another one. Of a hand-written coder it reads what Apple's class
    /// does: `request` and `date`.
    public required init?(coder: NSCoder) {
        if let delivered = WireCoding.decode(DeliveredNotification.self, with: coder) {
            self.delivered = delivered
            storedRequest = Self.request(of: delivered)
        } else if WireCoding.isHandWritten(coder) {
            let request = coder.decodeObject(forKey: "request") as? UNNotificationRequest
            var delivered = Self.empty
            if let date = coder.decodeObject(forKey: "date") as? Date {
                // Not every date is one that fits.
                delivered.date = Int64(exactly: (date.timeIntervalSince1970 * 1000).rounded()) ?? 0
            }
            if let request {
                delivered.identifier = request.identifier
                delivered.content = request.content.spokenValues.forArchive()
                delivered.trigger = request.trigger?.wire
            }
            self.delivered = delivered
            storedRequest = request ?? Self.request(of: delivered)
        } else {
            return nil
        }
    }

    /// An empty notification, for archives from which none can be read.
    static var empty: DeliveredNotification {
        DeliveredNotification(
            id: 0, identifier: "", apnsID: nil, topic: "", date: 0, payload: "{}", content: NotificationContent())
    }

    /// Archives it.
    open func encode(with coder: NSCoder) { WireCoding.encode(delivered, with: coder) }

    /// Always true.
    public class var supportsSecureCoding: Bool { true }

    /// When it was accepted for delivery; of a local one, when it fired.
    open var date: Date { Date(timeIntervalSince1970: Double(delivered.date) / 1000) }
    /// The request of the notification; of a remote one, its payload's content.
    open var request: UNNotificationRequest { storedRequest }

    /// Aldaba's internal id: the same in the app, in the agent and in the server's timeline. `nil` for a
    /// notification that did not come from a provider. Not in Apple's API.
    public var aldabaID: Int64? { delivered.isRemote ? delivered.id : nil }

    /// The `apns-id` that the provider got as its answer. Not in Apple's API, where an app never learns it.
    public var aldabaAPNsID: String? { delivered.apnsID }

    /// Itself.
    open func copy(with zone: NSZone? = nil) -> Any { self }
    /// Whether it is the same notification with the same content.
    open override func isEqual(_ object: Any?) -> Bool { (object as? UNNotification)?.delivered == delivered }
    /// The same for equal notifications.
    open override var hash: Int { delivered.id.hashValue }
    /// The object's class, address and values.
    open override var description: String {
        describing(["date": date, "request": request])
    }

    private static func payloadMembers(of delivered: DeliveredNotification) -> [AnyHashable: Any] {
        NotificationContent.UserInfo.json(delivered.payload).dictionary
    }

    /// The user info of a payload, as background handlers and launch options get it. It has the payload's own members,
    /// `aldaba.id` (`Int64`) and, where there is one, `aldaba.apns-id` (`String`).
    package static func userInfo(of delivered: DeliveredNotification) -> [AnyHashable: Any] {
        var userInfo = payloadMembers(of: delivered)
        userInfo["aldaba.id"] = delivered.id
        userInfo["aldaba.apns-id"] = delivered.apnsID
        return userInfo
    }
}
