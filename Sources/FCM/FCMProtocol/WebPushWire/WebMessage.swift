import Foundation
import PushCore

/// A message as FCM's clients read it: the visible members, and data, whose values are texts.
///
/// It is made of an accepted notification: a payload of APNs, or a message of FCM's lane in the same form. `aps`
/// becomes the visible members; the members beside it become data. A payload that is no JSON object becomes the one
/// value `message`.
///
/// Content for browsers alone, the member `gcm.webpush`, counts in ``bytes``: its notification overrides the visible
/// members, and its data replaces the other.
package struct WebMessage {
    /// The members of the notification, by FCM's names; empty for a message of data alone.
    package private(set) var shown: [String: String] = [:]
    /// The data.
    package private(set) var data: [String: String] = [:]
    /// The sender: a project's number, or a topic's name.
    package private(set) var from: String
    /// The address that a tap opens.
    package private(set) var link: String?
    /// The content for browsers alone.
    private var web: [String: Any] = [:]
    private let notification: OutgoingNotification

    /// Reads what was accepted.
    package init(_ notification: OutgoingNotification) {
        self.notification = notification
        from = notification.team.rawValue
        let read = try? JSONSerialization.jsonObject(with: Data(notification.payload), options: [])
        guard let members = read as? [String: Any] else {
            data = ["message": String(decoding: notification.payload, as: UTF8.self)]
            return
        }
        for (name, value) in members {
            switch name {
            case "aps", "fcm_options", "collapse_key": break
            case "from": if let text = value as? String { from = text }
            default:
                guard !name.hasPrefix("google."), !name.hasPrefix("gcm.") else { break }
                data[name] = Self.text(of: value)
            }
        }
        let options = members["fcm_options"] as? [String: Any]
        link = options?["link"] as? String
        web = members["gcm.webpush"] as? [String: Any] ?? [:]
        if let aps = members["aps"] as? [String: Any] {
            shown = Self.shown(aps, image: options?["image"] as? String)
            if let tag = members["gcm.notification.tag"] as? String { shown["tag"] = tag }
        }
    }

    /// The form of web clients: a JSON object with `notification`, `data` and FCM's own members.
    package var bytes: [UInt8] {
        var message: [String: Any] = [
            "fcmMessageId": notification.id.description,
            "priority": notification.priority == .immediate ? "high" : "normal",
            "from": from,
        ]
        if let collapseID = notification.collapseID { message["collapse_key"] = collapseID }
        let data = web["data"] as? [String: String] ?? data
        if !data.isEmpty { message["data"] = data }
        let shown = (shown as [String: Any]).merging(web["notification"] as? [String: Any] ?? [:]) { $1 }
        if !shown.isEmpty { message["notification"] = shown }
        var options: [String: String] = [:]
        options["link"] = web["link"] as? String ?? link
        options["analytics_label"] = web["analytics_label"] as? String
        if !options.isEmpty { message["fcmOptions"] = options }
        let encoded = try? JSONSerialization.data(
            withJSONObject: message, options: [.sortedKeys, .withoutEscapingSlashes])
        return encoded.map { Array($0) } ?? Array("{}".utf8)
    }

    /// The form of Android's clients: pairs of texts, in the order of their names.
    package var pairs: [(key: String, value: String)] {
        var pairs = data
        for (name, value) in shown { pairs["gcm.notification.\(name)"] = value }
        if !shown.isEmpty { pairs["gcm.n.e"] = "1" }
        pairs["google.message_id"] = notification.id.description
        return pairs.sorted { $0.key < $1.key }.map { ($0.key, $0.value) }
    }

    /// The visible members of a notification; empty for a background push.
    private static func shown(_ aps: [String: Any], image: String?) -> [String: String] {
        var shown: [String: String] = [:]
        if let alert = aps["alert"] as? String { shown["body"] = alert }
        if let alert = aps["alert"] as? [String: Any] {
            shown["title"] = alert["title"] as? String
            shown["body"] = alert["body"] as? String
        }
        shown["click_action"] = aps["category"] as? String
        shown["tag"] = aps["thread-id"] as? String
        shown["image"] = image
        return shown
    }

    /// A text as it is, anything else as JSON.
    private static func text(of value: Any) -> String {
        if let text = value as? String { return text }
        let json = try? JSONSerialization.data(
            withJSONObject: value, options: [.fragmentsAllowed, .sortedKeys, .withoutEscapingSlashes])
        return json.map { String(decoding: $0, as: UTF8.self) } ?? ""
    }
}
