import PushCore

/// The content of a notification that shows text, sounds or sets a badge.
public struct APNsAlert: Hashable, Sendable {
    /// The title.
    public var title: APNsText?
    /// The subtitle.
    public var subtitle: APNsText?
    /// The text below.
    public var body: APNsText?
    /// The app's launch image.
    public var launchImage: String?
    /// The number on the app's icon; 0 removes it.
    public var badge: Int?
    /// The sound.
    public var sound: APNsSound?
    /// The id by which notifications are grouped.
    public var threadID: String?
    /// The identifier of the category, which has the actions.
    public var category: String?
    /// Whether the app's service extension may change the notification before it is shown.
    public var isMutable = false
    /// Whether the app is woken too.
    public var wakesApp = false
    /// The interruption level.
    public var interruptionLevel: APNsInterruptionLevel?
    /// The place in the notification summary, from 0 to 1.
    public var relevanceScore: Double?
    /// The id of the window that is brought forward.
    public var targetContentID: String?
    /// The criteria by which a focus filters the notification.
    public var filterCriteria: String?

    /// Creates a content.
    public init(title: APNsText? = nil, subtitle: APNsText? = nil, body: APNsText? = nil) {
        self.title = title
        self.subtitle = subtitle
        self.body = body
    }

    /// The dictionary `aps`.
    var aps: JSONValue {
        var alert = JSONValue.object([])
        title?.write("title", prefix: "title-", into: &alert)
        subtitle?.write("subtitle", prefix: "subtitle-", into: &alert)
        body?.write("body", prefix: "", into: &alert)
        alert.put("launch-image", launchImage)
        var aps = JSONValue.object([])
        if alert != .object([]) { aps.set("alert", alert) }
        aps.put("badge", badge)
        aps.set("sound", sound?.value)
        aps.put("thread-id", threadID)
        aps.put("category", category)
        aps.put("mutable-content", isMutable ? 1 : nil)
        aps.put("content-available", wakesApp ? 1 : nil)
        aps.put("interruption-level", interruptionLevel?.rawValue)
        aps.put("relevance-score", relevanceScore)
        aps.put("target-content-id", targetContentID)
        aps.put("filter-criteria", filterCriteria)
        return aps
    }
}

extension APNsNotification {
    /// Creates a notification that shows text, sounds or sets a badge.
    ///
    /// - Parameters:
    ///   - bundleID: The app's bundle id.
    ///   - custom: The app's own keys, which stand beside `aps`: a value that is encoded as an object.
    /// - Throws: ``APNsPayloadFault`` for keys that cannot be encoded.
    public static func alert(
        _ content: APNsAlert, bundleID: String, custom: (any Encodable & Sendable)? = nil
    ) throws(APNsPayloadFault) -> APNsNotification {
        APNsNotification(
            pushType: .alert, bundleID: bundleID, payload: try PayloadJSON.bytes(aps: content.aps, custom: custom))
    }

    /// Creates a notification that wakes its app and shows nothing. Its priority is ``APNsPriority/considerate``.
    ///
    /// - Parameters:
    ///   - bundleID: The app's bundle id.
    ///   - custom: The app's own keys, which stand beside `aps`: a value that is encoded as an object.
    /// - Throws: ``APNsPayloadFault`` for keys that cannot be encoded.
    public static func background(
        bundleID: String, custom: (any Encodable & Sendable)? = nil
    ) throws(APNsPayloadFault) -> APNsNotification {
        let aps = JSONValue.object([.init("content-available", .number("1"))])
        return APNsNotification(
            pushType: .background, bundleID: bundleID, payload: try PayloadJSON.bytes(aps: aps, custom: custom))
    }

    /// Creates a notification of an incoming call, which is not stored for a device that is not reached.
    ///
    /// - Parameters:
    ///   - bundleID: The app's bundle id.
    ///   - content: The payload: a value that is encoded as an object.
    /// - Throws: ``APNsPayloadFault`` for a content that cannot be encoded.
    public static func voip(
        _ content: any Encodable & Sendable, bundleID: String
    ) throws(APNsPayloadFault) -> APNsNotification {
        var notification = APNsNotification(
            pushType: .voip, bundleID: bundleID, payload: try PayloadJSON.bytes(aps: nil, custom: content))
        notification.expiration = .once
        return notification
    }
}
