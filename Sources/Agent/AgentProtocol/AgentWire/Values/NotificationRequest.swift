import Foundation

/// A notification that an app asks for: Apple's `UNNotificationRequest` as agent and apps exchange it.
public struct NotificationRequest: Codable, Hashable, Sendable {
    /// A later request of the same app with the same identifier replaces an earlier one.
    public var identifier: String { didSet { text = nil } }
    /// The content of the notification.
    public var content: NotificationContent { didSet { text = nil } }
    /// `nil` for "at once".
    public var trigger: NotificationTrigger? { didSet { text = nil } }
    /// The text that it was read from, as long as nothing of it is changed; no part of its value.
    public internal(set) var text: RequestText?

    private enum CodingKeys: String, CodingKey { case identifier, content, trigger }

    /// Makes a request; without a trigger it fires at once.
    public init(identifier: String, content: NotificationContent, trigger: NotificationTrigger? = nil) {
        self.identifier = identifier
        self.content = content
        self.trigger = trigger
    }

    /// Whether both ask for the same, whatever text they were read from.
    public static func == (one: NotificationRequest, other: NotificationRequest) -> Bool {
        one.identifier == other.identifier && one.content == other.content && one.trigger == other.trigger
    }

    /// Hashes what the request asks for, without its text.
    public func hash(into hasher: inout Hasher) {
        hasher.combine(identifier)
        hasher.combine(content)
        hasher.combine(trigger)
    }
}

/// The trigger of a requested notification.
public enum NotificationTrigger: Hashable, Sendable {
    /// So many seconds after it was asked for.
    case timeInterval(seconds: Double, repeats: Bool)
    /// When these fields of the calendar match.
    case calendar(DateComponents, repeats: Bool)
    /// When a circle on the earth is entered or left; degrees and metres.
    case region(Region, repeats: Bool)

    /// A circle on the earth.
    public struct Region: Codable, Hashable, Sendable {
        /// The app's identifier of the region.
        public var identifier: String
        /// The centre's degrees north of the equator, -90 to 90.
        public var latitude: Double
        /// The centre's degrees east of Greenwich, -180 to 180.
        public var longitude: Double
        /// Metres from the centre to the edge.
        public var radius: Double
        /// Whether entering the circle fires.
        public var onEntry: Bool
        /// Whether leaving the circle fires.
        public var onExit: Bool

        /// Makes a circle; the agent refuses one that cannot be on the earth.
        public init(
            identifier: String, latitude: Double, longitude: Double, radius: Double, onEntry: Bool, onExit: Bool
        ) {
            self.identifier = identifier
            self.latitude = latitude
            self.longitude = longitude
            self.radius = radius
            self.onEntry = onEntry
            self.onExit = onExit
        }
    }
}

extension NotificationTrigger: Codable {
    private enum Key: String, CodingKey { case type, seconds, components, region, repeats }

    /// The calendar members on which Foundation traps where they do not fit into 32 bits.
    private struct Weeks: Decodable {
        struct Calendar: Decodable {
            var firstWeekday: Int32?
            var minimumDaysInFirstWeek: Int32?
        }

        var calendar: Calendar?
    }

    public init(from decoder: any Decoder) throws {
        let members = try decoder.container(keyedBy: Key.self)
        let repeats = try members.decodeIfPresent(Bool.self, forKey: .repeats) ?? false
        switch try members.decode(String.self, forKey: .type) {
        case "timeInterval":
            self = .timeInterval(seconds: try members.decode(Double.self, forKey: .seconds), repeats: repeats)
        case "calendar":
            _ = try members.decode(Weeks.self, forKey: .components)
            self = .calendar(try members.decode(DateComponents.self, forKey: .components), repeats: repeats)
        case "region": self = .region(try members.decode(Region.self, forKey: .region), repeats: repeats)
        default:
            throw DecodingError.dataCorruptedError(
                forKey: .type, in: members, debugDescription: "timeInterval, calendar or region")
        }
    }

    public func encode(to encoder: any Encoder) throws {
        var members = encoder.container(keyedBy: Key.self)
        switch self {
        case .timeInterval(let seconds, let repeats):
            try members.encode("timeInterval", forKey: .type)
            try members.encode(seconds, forKey: .seconds)
            try members.encode(repeats, forKey: .repeats)
        case .calendar(let components, let repeats):
            try members.encode("calendar", forKey: .type)
            try members.encode(components, forKey: .components)
            try members.encode(repeats, forKey: .repeats)
        case .region(let region, let repeats):
            try members.encode("region", forKey: .type)
            try members.encode(region, forKey: .region)
            try members.encode(repeats, forKey: .repeats)
        }
    }
}
