import Foundation

/// What a remote notification's payload says, by Apple's table "Generating a remote notification".
///
/// A member of another type or out of its range counts as absent: a provider's mistake costs that member, never
/// the notification.
enum PayloadContent {
    /// The payload's members; none for a text that is not a JSON object.
    static func userInfo(payload: String) -> [AnyHashable: Any] {
        let object = try? JSONSerialization.jsonObject(with: Data(payload.utf8))
        return object as? [String: Any] ?? [:]
    }

    static func values(userInfo: [AnyHashable: Any]) -> UNNotificationContent.Values {
        var values = UNNotificationContent.Values()
        values.userInfo = userInfo
        guard let aps = userInfo["aps"] as? [String: Any] else { return values }
        readAlert(aps["alert"], into: &values)
        values.badge = number(aps["badge"]).flatMap { Int(exactly: $0) }.flatMap { $0 >= 0 ? NSNumber(value: $0) : nil }
        values.sound = sound(aps["sound"])
        values.categoryIdentifier = aps["category"] as? String ?? ""
        values.threadIdentifier = aps["thread-id"] as? String ?? ""
        values.targetContentIdentifier = aps["target-content-id"] as? String
        values.filterCriteria = aps["filter-criteria"] as? String
        values.interruptionLevel = (aps["interruption-level"] as? String).flatMap(interruptionLevel) ?? .active
        values.relevanceScore = number(aps["relevance-score"]).flatMap { (0...1).contains($0) ? $0 : nil } ?? 0
        return values
    }

    private static func readAlert(_ alert: Any?, into values: inout UNNotificationContent.Values) {
        if let text = alert as? String {
            values.body = text
        } else if let members = alert as? [String: Any] {
            values.title = members["title"] as? String ?? ""
            values.subtitle = members["subtitle"] as? String ?? ""
            values.body = members["body"] as? String ?? ""
            values.launchImageName = members["launch-image"] as? String ?? ""
        }
    }

    /// A sound by its name, alone or as the member `name` of a dictionary.
    private static func sound(_ value: Any?) -> UNNotificationSound? {
        guard let name = value as? String ?? (value as? [String: Any])?["name"] as? String, !name.isEmpty else {
            return nil
        }
        return name == "default" ? .default : UNNotificationSound(named: UNNotificationSoundName(name))
    }

    private static func interruptionLevel(_ text: String) -> UNNotificationInterruptionLevel? {
        switch text {
        case "passive": .passive
        case "active": .active
        case "time-sensitive": .timeSensitive
        case "critical": .critical
        default: nil
        }
    }

    /// How an `NSNumber` that holds a boolean calls its type.
    private static let booleanType = CChar(UInt8(ascii: "c"))

    /// A JSON number; a JSON boolean is none, though Foundation makes an `NSNumber` of it too.
    private static func number(_ value: Any?) -> Double? {
        guard let number = value as? NSNumber, number.objCType.pointee != booleanType else { return nil }
        return number.doubleValue
    }
}
