import APNsProtocol
import Foundation
import PushCore

/// A type of push, the value of `apns-push-type`. A type that this library does not know can be created from its text.
public struct APNsPushType: RawRepresentable, Hashable, Sendable {
    /// The type as APNs writes it.
    public let rawValue: String

    /// Creates a type from APNs' text.
    public init(rawValue: String) { self.rawValue = rawValue }

    /// A notification that shows text, sounds or sets a badge.
    public static let alert = APNsPushType(rawValue: "alert")
    /// A notification that wakes its app and shows nothing.
    public static let background = APNsPushType(rawValue: "background")
    /// A request to a location push extension.
    public static let location = APNsPushType(rawValue: "location")
    /// An incoming call.
    public static let voip = APNsPushType(rawValue: "voip")
    /// An update of a complication of a watch face.
    public static let complication = APNsPushType(rawValue: "complication")
    /// Changes for a file provider extension.
    public static let fileProvider = APNsPushType(rawValue: "fileprovider")
    /// A request to a managed device; its topic is that of the MDM certificate.
    public static let mdm = APNsPushType(rawValue: "mdm")
    /// The beginning, update or end of a Live Activity.
    public static let liveActivity = APNsPushType(rawValue: "liveactivity")
    /// An update of a Push to Talk session.
    public static let pushToTalk = APNsPushType(rawValue: "pushtotalk")
    /// A request to reload widgets.
    public static let widgets = APNsPushType(rawValue: "widgets")
    /// A request to reload controls.
    public static let controls = APNsPushType(rawValue: "controls")

    /// The text that follows the bundle id in the topic.
    var topicSuffix: String { PushType(rawValue: rawValue)?.topicSuffix.map { "\($0)" } ?? "" }
}

/// The priority of a notification.
public enum APNsPriority: Int, Hashable, Sendable {
    /// Sent at once.
    case immediate = 10
    /// May be delayed and grouped to save power.
    case considerate = 5
    /// Never wakes the device.
    case low = 1
}

/// The time until which APNs stores a notification for a device that it does not reach.
public enum APNsExpiration: Hashable, Sendable {
    /// The longest time for which APNs stores anything: 30 days.
    case `default`
    /// Not at all: one attempt.
    case once
    /// Until then, at most 30 days.
    case until(Date)

    /// The value of `apns-expiration`; `nil` where the field is absent. No time of the past is written as 0, which has
    /// another meaning.
    var seconds: Int64? {
        switch self {
        case .default: nil
        case .once: 0
        case .until(let date): Int64(min(max(1, date.timeIntervalSince1970), 253_402_300_799))
        }
    }
}

/// A notification: its payload and how it is delivered. One value can be sent to many devices.
public struct APNsNotification: Hashable, Sendable {
    /// The type of push.
    public let pushType: APNsPushType
    /// The bundle id of the app, without the suffix that some types have in their topic.
    public let bundleID: String
    /// The payload: a JSON object.
    public let payload: [UInt8]
    /// The `apns-id`; `nil` for one that is new for each device.
    public var id: UUID?
    /// The time until which APNs stores the notification.
    public var expiration = APNsExpiration.default
    /// The priority. A background notification has no higher one than ``APNsPriority/considerate``.
    public var priority: APNsPriority
    /// The id by which a notification replaces an earlier one that is shown; at most 64 bytes.
    public var collapseID: String?

    /// Creates a notification of any type from its JSON.
    public init(pushType: APNsPushType, bundleID: String, payload: [UInt8]) {
        self.pushType = pushType
        self.bundleID = bundleID
        self.payload = payload
        priority = pushType == .background ? .considerate : .immediate
        // Speech that arrives late is of no use.
        if pushType == .pushToTalk { expiration = .once }
    }

    /// The value of `apns-topic`.
    public var topic: String { bundleID + pushType.topicSuffix }
}
