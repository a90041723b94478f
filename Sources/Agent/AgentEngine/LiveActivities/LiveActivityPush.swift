import AgentProtocol
import PushCore

/// The payload of a push of type `liveactivity`.
///
/// Source: Apple, "Starting and updating Live Activities with ActivityKit push notifications".
package struct LiveActivityPush: Hashable, Sendable {
    /// The event of a push.
    package enum Event: Hashable, Sendable {
        /// A new activity begins.
        case start(attributesType: String, attributes: String, LiveActivityPushes)
        /// The content is replaced.
        case update
        /// The activity ends; its dismissal is that of the payload.
        case end(LiveActivityDismissal)
    }

    /// The fault of a payload, as a sentence.
    package struct Fault: Error, Hashable, Sendable {
        /// The member, and what would be right.
        package let sentence: String
    }

    /// The event (`event`).
    package var event: Event
    /// The sender's time, in seconds since 1970 (`timestamp`).
    package var timestamp: Int64
    /// The new content (`content-state`, `stale-date`, `relevance-score`); `nil` where an end has none.
    package var content: LiveActivityContent?
    /// The alert; `nil` for a quiet update.
    package var alert: LiveActivityAlert?

    /// Reads a payload.
    ///
    /// - Throws: The first fault.
    package init(payload: [UInt8]) throws(Fault) {
        let root: JSONValue
        do { root = try JSONValue(payload) } catch { throw Fault(sentence: "the payload is not JSON") }
        guard let aps = root["aps"], aps.members != nil else { throw Fault(sentence: "the payload has no aps") }
        guard let timestamp = aps["timestamp"]?.seconds, timestamp > 0 else {
            throw Fault(sentence: "aps.timestamp is to be seconds since 1970")
        }
        self.timestamp = timestamp
        alert = Self.alert(aps)
        if let state = aps["content-state"] {
            content = LiveActivityContent(
                state: state.json, staleDate: aps["stale-date"]?.seconds.map { $0 * 1000 },
                relevanceScore: aps["relevance-score"]?.double ?? 0)
        }
        switch aps["event"]?.text {
        case "start": event = try Self.start(aps)
        case "update": event = .update
        case "end": event = .end(Self.dismissal(aps, at: timestamp))
        default: throw Fault(sentence: "aps.event is to be start, update or end")
        }
        if content == nil, event == .update { throw Fault(sentence: "an update has aps.content-state") }
    }

    private static func start(_ aps: JSONValue) throws(Fault) -> Event {
        guard let type = aps["attributes-type"]?.text, !type.isEmpty else {
            throw Fault(sentence: "a start has aps.attributes-type, the name of the attributes' type")
        }
        guard let attributes = aps["attributes"], attributes.members != nil else {
            throw Fault(sentence: "a start has aps.attributes, an object")
        }
        guard aps["content-state"] != nil else { throw Fault(sentence: "a start has aps.content-state") }
        let pushes: LiveActivityPushes =
            if let channel = aps["input-push-channel"]?.text {
                .channel(channel)
            } else if aps["input-push-token"]?.integer == 1 {
                .token
            } else {
                .none
            }
        return .start(attributesType: type, attributes: attributes.json, pushes)
    }

    /// A date that has passed dismisses the activity at once.
    private static func dismissal(_ aps: JSONValue, at timestamp: Int64) -> LiveActivityDismissal {
        guard let date = aps["dismissal-date"]?.seconds else { return .standard }
        return date <= timestamp ? .immediate : .after(date * 1000)
    }

    private static func alert(_ aps: JSONValue) -> LiveActivityAlert? {
        guard let alert = aps["alert"] else { return nil }
        func text(_ value: JSONValue?) -> String { value?.text ?? value?["loc-key"]?.text ?? "" }
        let sound = (alert["sound"] ?? aps["sound"])?.text
        return LiveActivityAlert(
            title: text(alert["title"]), body: alert.text ?? text(alert["body"]),
            sound: sound.map { NotificationSound(name: $0 == "default" ? nil : $0) })
    }
}

extension JSONValue {
    /// A number of seconds that may have a fraction; `nil` for anything else.
    fileprivate var seconds: Int64? {
        guard let value = double, value >= 0, value < 1e11 else { return nil }
        return Int64(value)
    }

    /// A number; `nil` for anything else.
    fileprivate var double: Double? { if case .number(let text) = self { Double(text) } else { nil } }
}
