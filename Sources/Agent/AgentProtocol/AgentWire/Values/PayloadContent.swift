import Foundation

extension NotificationContent {
    /// Reads the content of a remote notification's payload, by Apple's page "Generating a remote notification".
    ///
    /// A member of another type or out of its range counts as absent: a provider's mistake costs that member, never
    /// the notification. `userInfo` is the whole payload.
    public init(payload: String) { self.init(payload: payload, aps: Self.aps(of: payload)) }

    /// The member `aps` of a payload, where that is an object.
    fileprivate static func aps(of payload: String) -> [String: Any]? {
        let object = try? JSONSerialization.jsonObject(with: Data(payload.utf8))
        return (object as? [String: Any])?["aps"] as? [String: Any]
    }

    fileprivate init(payload: String, aps: [String: Any]?) {
        self.init()
        userInfo = .json(payload)
        guard let aps else { return }
        readAlert(aps["alert"])
        badge = Self.number(aps["badge"]).flatMap { Int(exactly: $0) }.flatMap { $0 >= 0 ? $0 : nil }
        sound = Self.sound(aps["sound"])
        if let category = aps["category"] as? String { categoryIdentifier = category }
        threadIdentifier = aps["thread-id"] as? String ?? ""
        targetContentIdentifier = aps["target-content-id"] as? String
        filterCriteria = aps["filter-criteria"] as? String
        interruptionLevel = (aps["interruption-level"] as? String).flatMap(InterruptionLevel.init) ?? .active
        relevanceScore = Self.number(aps["relevance-score"]).flatMap { (0...1).contains($0) ? $0 : nil } ?? 0
    }

    private mutating func readAlert(_ alert: Any?) {
        if let text = alert as? String {
            body = text
            return
        }
        guard let members = alert as? [String: Any] else { return }
        title = members["title"] as? String ?? ""
        subtitle = members["subtitle"] as? String ?? ""
        body = members["body"] as? String ?? ""
        titleLocalization = Self.localization(members, key: "title-loc-key", arguments: "title-loc-args")
        subtitleLocalization = Self.localization(members, key: "subtitle-loc-key", arguments: "subtitle-loc-args")
        bodyLocalization = Self.localization(members, key: "loc-key", arguments: "loc-args")
        openTitle = Self.localization(members, key: "action-loc-key", arguments: "")
        launchImageName = members["launch-image"] as? String ?? ""
        actions = (members["actions"] as? [Any] ?? []).prefix(8).compactMap { action in
            guard let action = action as? [String: Any], let identifier = action["id"] as? String,
                let title = action["title"] as? String
            else { return nil }
            return NotificationActionDescription(
                identifier: identifier, title: title, options: NotificationActionDescription.foreground)
        }
    }

    private static func localization(
        _ members: [String: Any], key: String, arguments: String
    ) -> Localization? {
        guard let key = members[key] as? String, !key.isEmpty else { return nil }
        let values = members[arguments] as? [Any] ?? []
        return Localization(
            key: key,
            arguments: values.map { value in
                value as? String ?? number(value).map { Int(exactly: $0).map(String.init) ?? String($0) } ?? ""
            })
    }

    /// A sound by its name, alone or as the member `name` of a dictionary.
    private static func sound(_ value: Any?) -> NotificationSound? {
        if let name = value as? String {
            guard !name.isEmpty else { return nil }
            return NotificationSound(name: name == "default" ? nil : name)
        }
        guard let members = value as? [String: Any] else { return nil }
        let isCritical = number(members["critical"]) == 1
        let name = members["name"] as? String
        guard isCritical || name?.isEmpty == false else { return nil }
        let volume = number(members["volume"]).map { min(1, max(0, $0)) }
        return NotificationSound(
            name: name == "default" || name?.isEmpty == true ? nil : name, isCritical: isCritical,
            volume: isCritical ? volume : nil)
    }

    /// How an `NSNumber` that holds a boolean calls its type.
    private static let booleanType = CChar(UInt8(ascii: "c"))

    /// A JSON number; a JSON boolean is none, though Foundation makes an `NSNumber` of it too.
    private static func number(_ value: Any?) -> Double? {
        guard let number = value as? NSNumber, number.objCType.pointee != booleanType else { return nil }
        return number.doubleValue
    }
}

/// The delivery of a remote notification to an app, and its content: its payload, read once.
public struct PayloadDelivery: Hashable, Sendable {
    /// The result of ``NotificationContent/init(payload:)``.
    public let content: NotificationContent
    /// `content-available`.
    public let wakesInBackground: Bool
    /// `mutable-content`: the app's service extension may change it.
    public let isMutable: Bool

    /// Reads a payload; nothing in it can make this fail.
    public init(payload: String) {
        let aps = NotificationContent.aps(of: payload)
        content = NotificationContent(payload: payload, aps: aps)
        wakesInBackground = (aps?["content-available"] as? NSNumber) == 1
        isMutable = (aps?["mutable-content"] as? NSNumber) == 1
    }

    /// The handlers of an active app that receive it.
    ///
    /// A payload without text, sound and badge goes to the background handler, as on Apple's systems.
    public var kind: DeliveryKind {
        let interacts = content.showsText || content.sound != nil || content.badge != nil
        if interacts { return wakesInBackground ? .foregroundAndBackground : .foreground }
        return .background
    }
}
