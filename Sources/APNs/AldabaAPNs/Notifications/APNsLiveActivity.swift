import Foundation
import PushCore

/// The beginning, an update or the end of a Live Activity.
public struct APNsLiveActivity: Hashable, Sendable {
    /// The means by which a Live Activity that a push began gets its updates.
    public enum Input: Hashable, Sendable {
        /// A push token of its own.
        case pushToken
        /// A broadcast channel.
        case channel(String)
    }

    private let event: String
    private let state: JSONValue?
    private var attributesType: String?
    private var attributes: JSONValue?
    /// The time of the content: a device ignores what is older than what it shows.
    public var timestamp = Date()
    /// The time from which on the content is out of date.
    public var staleDate: Date?
    /// The time at which an ended activity disappears from the lock screen.
    public var dismissalDate: Date?
    /// The place among the app's Live Activities; any number.
    public var relevanceScore: Double?
    /// The title of the alert.
    public var alertTitle: APNsText?
    /// The text of the alert.
    public var alertBody: APNsText?
    /// The sound of the alert.
    public var sound: APNsSound?
    /// The means by which a begun activity gets its updates.
    public var input: Input?

    private init(_ event: String, state: (any Encodable)?) throws(APNsPayloadFault) {
        self.event = event
        self.state = if let state { try PayloadJSON.value(state) } else { nil }
    }

    /// Creates the beginning of an activity; it needs an alert.
    ///
    /// - Parameters:
    ///   - attributesType: The name of the app's type of attributes.
    ///   - attributes: The attributes.
    ///   - state: The content at the beginning.
    /// - Throws: ``APNsPayloadFault`` for a value that cannot be encoded.
    public static func start(
        attributesType: String, attributes: some Encodable, state: some Encodable
    ) throws(APNsPayloadFault) -> APNsLiveActivity {
        var activity = try APNsLiveActivity("start", state: state)
        activity.attributesType = attributesType
        activity.attributes = try PayloadJSON.value(attributes)
        return activity
    }

    /// Creates an update.
    ///
    /// - Throws: ``APNsPayloadFault`` for a state that cannot be encoded.
    public static func update(state: some Encodable) throws(APNsPayloadFault) -> APNsLiveActivity {
        try APNsLiveActivity("update", state: state)
    }

    /// Creates the end of an activity.
    ///
    /// - Parameter state: The content that is shown last; `nil` for what is shown already.
    /// - Throws: ``APNsPayloadFault`` for a state that cannot be encoded.
    public static func end(state: (any Encodable)? = nil) throws(APNsPayloadFault) -> APNsLiveActivity {
        try APNsLiveActivity("end", state: state)
    }

    /// The dictionary `aps`.
    var aps: JSONValue {
        var aps = JSONValue.object([])
        aps.put("timestamp", timestamp)
        aps.put("event", event)
        aps.set("content-state", state)
        aps.put("attributes-type", attributesType)
        aps.set("attributes", attributes)
        aps.put("stale-date", staleDate)
        aps.put("dismissal-date", dismissalDate)
        aps.put("relevance-score", relevanceScore)
        switch input {
        case .pushToken: aps.put("input-push-token", 1)
        case .channel(let id): aps.put("input-push-channel", id)
        case nil: break
        }
        var alert = JSONValue.object([])
        alert.set("title", alertTitle?.liveActivityValue)
        alert.set("body", alertBody?.liveActivityValue)
        if alert != .object([]) { aps.set("alert", alert) }
        aps.set("sound", sound?.value)
        return aps
    }
}

extension APNsNotification {
    /// Creates a notification of a Live Activity, for a device or a broadcast channel.
    public static func liveActivity(_ content: APNsLiveActivity, bundleID: String) -> APNsNotification {
        let payload = JSONValue.object([.init("aps", content.aps)]).bytes
        return APNsNotification(pushType: .liveActivity, bundleID: bundleID, payload: payload)
    }
}
