/// The kinds of push that APNs knows, by their `apns-push-type` text.
public enum PushType: String, Sendable, CaseIterable {
    case alert
    case background
    case location
    case voip
    case complication
    case fileprovider
    case mdm
    case liveactivity
    case pushtotalk
    case widgets
    case controls
}

/// How urgent a notification is: APNs' three priorities.
public enum Priority: UInt8, Sendable, CaseIterable {
    /// Never wakes a device.
    case low = 1
    /// May be grouped to save power.
    case considerate = 5
    case immediate = 10
}

/// Until when delivery makes sense; the three intents that `apns-expiration` can express.
public enum Expiry: Hashable, Sendable {
    /// The header was absent: the policy's default, 30 days.
    case policyDefault
    /// `0`: one attempt, never stored.
    case once
    /// Store and retry until then, 30 days at most.
    case until(Timestamp)
}

/// What a provider asked to be carried to one device token: headers and payload, already checked.
public struct Notification: Hashable, Sendable {
    /// `apns-id` exactly as the provider sent it; `nil` when the server makes one.
    public var apnsID: String?
    public var topic: Topic
    public var pushType: PushType?
    public var priority: Priority
    public var expiry: Expiry
    /// At most 64 bytes; the same id replaces what waits and what is shown.
    public var collapseID: String?
    /// The body, verbatim: a JSON object.
    public var payload: [UInt8]

    public init(
        apnsID: String? = nil, topic: Topic, pushType: PushType? = nil, priority: Priority = .immediate,
        expiry: Expiry = .policyDefault, collapseID: String? = nil, payload: [UInt8]
    ) {
        self.apnsID = apnsID
        self.topic = topic
        self.pushType = pushType
        self.priority = priority
        self.expiry = expiry
        self.collapseID = collapseID
        self.payload = payload
    }
}

/// A notification on its way to a device: what a device wire puts into one packet.
public struct OutgoingNotification: Hashable, Sendable {
    public var id: NotificationID
    /// As the provider sent it, else the one that the server made.
    public var apnsID: String
    public var team: TeamID
    public var topic: Topic
    public var environment: PushEnvironment
    public var lane: Lane
    public var pushType: PushType?
    public var priority: Priority
    public var collapseID: String?
    /// When it was accepted.
    public var acceptedAt: Timestamp
    /// The last instant at which delivery makes sense; `nil` for one attempt (never stored).
    public var expiresAt: Timestamp?
    public var payload: [UInt8]

    public init(
        id: NotificationID, apnsID: String, team: TeamID, topic: Topic, environment: PushEnvironment,
        lane: Lane = .apns, pushType: PushType?, priority: Priority, collapseID: String?, acceptedAt: Timestamp,
        expiresAt: Timestamp?, payload: [UInt8]
    ) {
        self.id = id
        self.apnsID = apnsID
        self.team = team
        self.topic = topic
        self.environment = environment
        self.lane = lane
        self.pushType = pushType
        self.priority = priority
        self.collapseID = collapseID
        self.acceptedAt = acceptedAt
        self.expiresAt = expiresAt
        self.payload = payload
    }
}
