import AgentProtocol
import AppHost
import Foundation

/// The fields of an FCM message, read from its payload.
struct FCMPayload {
    /// The key of the message's id.
    static let messageID = "gcm.message_id"

    private let members: [String: Any]
    private let delivered: DeliveredNotification

    init(_ delivered: DeliveredNotification) {
        self.delivered = delivered
        members = JSONSerialization.exactObject(delivered.payload) ?? [:]
    }

    /// Whether it came as an FCM message.
    var isFromFCM: Bool { members[Self.messageID] is String }

    /// The message's id; the device's number for it where the payload has no id.
    var messageID: String { members[Self.messageID] as? String ?? String(delivered.id) }

    /// Whether it has keys of the provider's own.
    var hasData: Bool { members.keys.contains(where: Self.isData) }

    /// The data for the delegate: the provider's own keys, `collapse_key`, and the shown texts under `notification`.
    var appData: [AnyHashable: Any] {
        var data: [AnyHashable: Any] = [:]
        for (key, value) in members where Self.isData(key) || key == "collapse_key" { data[key] = value }
        if let aps = members["aps"] as? [String: Any] { data["notification"] = Self.notification(aps) }
        return data
    }

    private static func notification(_ aps: [String: Any]) -> [String: Any] {
        var notification: [String: Any] = [:]
        if let text = aps["alert"] as? String { notification["body"] = text }
        for (key, value) in aps["alert"] as? [String: Any] ?? [:] { notification[key] = value }
        for key in ["badge", "sound"] { notification[key] = aps[key] }
        notification["click_action"] = aps["category"]
        return notification
    }

    /// Whether a key is the provider's, and not the protocol's.
    private static func isData(_ key: String) -> Bool {
        !["aps", "from", "fcm_options", "collapse_key", "message_type"].contains(key) && !key.hasPrefix("gcm.")
            && !key.hasPrefix("google.") && key != "aldaba"
    }
}
