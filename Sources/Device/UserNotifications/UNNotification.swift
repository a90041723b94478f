import AgentWire
import AppHost
import Foundation

/// A notification that was delivered. Immutable.
///
/// Sendable is unchecked because the class is open; it has constants only, of value types or of classes that are
/// immutable themselves, and a subclass with variables of its own must say that it is safe.
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

    /// Reads an archive of this module; `nil` for another one. Of a coder that somebody wrote it reads what Apple's class
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
                delivered.content = request.content.values.forArchive()
                delivered.trigger = request.trigger?.wire
            }
            self.delivered = delivered
            storedRequest = request ?? Self.request(of: delivered)
        } else {
            return nil
        }
    }

    /// A notification that nobody sent.
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
    /// What was asked for; of a remote one, what its payload says.
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
    /// Its class, its address and what it holds.
    open override var description: String {
        describing(["date": date, "request": request])
    }

    private static func payloadMembers(of delivered: DeliveredNotification) -> [AnyHashable: Any] {
        NotificationContent.UserInfo.json(delivered.payload).dictionary
    }

    /// What a payload says, as background handlers and launch options get it: the payload's own members, and
    /// `aldaba.id` (`Int64`) and `aldaba.apns-id` (`String`, where there is one).
    package static func userInfo(of delivered: DeliveredNotification) -> [AnyHashable: Any] {
        var userInfo = payloadMembers(of: delivered)
        userInfo["aldaba.id"] = delivered.id
        userInfo["aldaba.apns-id"] = delivered.apnsID
        return userInfo
    }
}
