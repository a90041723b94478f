/// The kinds of push that APNs knows, by their `apns-push-type` text.
public enum PushType: String, Sendable, CaseIterable {
    /// A notification that shows text, sounds or sets a badge.
    case alert
    /// A notification that wakes its app and shows nothing.
    case background
    /// Asks a location push extension where the device is.
    case location
    /// Tells of an incoming call.
    case voip
    /// Updates a complication of a watch face.
    case complication
    /// Tells a file provider extension of changes.
    case fileprovider
    /// Has a managed device contact its management server.
    case mdm
    /// Begins, updates or ends a Live Activity.
    case liveactivity
    /// Updates a Push to Talk session.
    case pushtotalk
    /// Reloads widgets.
    case widgets
    /// Reloads controls.
    case controls
}

/// How urgent a notification is: APNs' three priorities.
public enum Priority: UInt8, Sendable, CaseIterable {
    /// Never wakes a device.
    case low = 1
    /// May be grouped to save power.
    case considerate = 5
    /// Delivered at once; the default.
    case immediate = 10
}

/// Until when delivery makes sense: the three things that `apns-expiration` can say.
public enum Expiry: Hashable, Sendable {
    /// The header was absent: the policy's default, 30 days.
    case policyDefault
    /// `0`: one attempt, never stored.
    case once
    /// Store and retry until then, 30 days at most.
    case until(Timestamp)
}

/// What a notification carries, in the form of the service whose API brought it.
public enum PushContent: Hashable, Sendable {
    /// A payload of APNs, verbatim: a JSON object.
    case apns([UInt8])
    /// A message of FCM, as the bytes that travel to the device.
    case fcm([UInt8])

    /// The lane of the mailbox in which it waits.
    public var lane: Lane {
        switch self {
        case .apns: .apns
        case .fcm: .fcm
        }
    }

    /// The bytes, as stores and device wires carry them beside the lane.
    public var bytes: [UInt8] {
        switch self {
        case .apns(let bytes), .fcm(let bytes): bytes
        }
    }
}

/// What a provider asked to be carried to one device token: headers and content, already checked.
public struct Notification: Hashable, Sendable {
    /// `apns-id` exactly as the provider sent it; `nil` when the server makes one.
    public var apnsID: APNsID?
    /// The app's own topic; a suffix that the push type adds is taken off.
    public var topic: Topic
    /// `apns-push-type`; `nil` when the provider did not say, and no suffix of the topic implied one.
    public var pushType: PushType?
    /// `apns-priority`.
    public var priority: Priority
    /// `apns-expiration`.
    public var expiry: Expiry
    /// At most 64 bytes; the same id replaces what waits and what is shown.
    public var collapseID: String?
    /// The body, in the form of the entry that accepted it.
    public var content: PushContent

    /// Makes a notification of checked parts. The defaults are those of absent header fields.
    public init(
        apnsID: APNsID? = nil, topic: Topic, pushType: PushType? = nil, priority: Priority = .immediate,
        expiry: Expiry = .policyDefault, collapseID: String? = nil, content: PushContent
    ) {
        self.apnsID = apnsID
        self.topic = topic
        self.pushType = pushType
        self.priority = priority
        self.expiry = expiry
        self.collapseID = collapseID
        self.content = content
    }
}

/// A notification on its way to a device: what a device wire puts into one packet.
public struct OutgoingNotification: Hashable, Sendable {
    /// The internal id, which the device acknowledges.
    public var id: NotificationID
    /// As the provider sent it, else the one that the server made.
    public var apnsID: APNsID
    /// The team that owns the app.
    public var team: TeamID
    /// The topic of the app that it is for.
    public var topic: Topic
    /// The environment of the device token that it was sent to.
    public var environment: PushEnvironment
    /// The lane of the mailbox in which it waits.
    public var lane: Lane
    /// The kind of push, where the provider said one or the topic implied it.
    public var pushType: PushType?
    /// How urgent it is.
    public var priority: Priority
    /// At most 64 bytes; on the device it replaces what was shown under the same id.
    public var collapseID: String?
    /// When it was accepted.
    public var acceptedAt: Timestamp
    /// The last instant at which delivery makes sense; `nil` for one attempt (never stored).
    public var expiresAt: Timestamp?
    /// The provider's body, verbatim: a JSON object.
    public var payload: [UInt8]
    /// What the device is told instead of a notification; `nil` for a notification.
    public internal(set) var notice: DeviceNotice?

    /// Makes what a wire writes; it checks nothing.
    public init(
        id: NotificationID, apnsID: APNsID, team: TeamID, topic: Topic, environment: PushEnvironment,
        lane: Lane, pushType: PushType?, priority: Priority, collapseID: String?, acceptedAt: Timestamp,
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
