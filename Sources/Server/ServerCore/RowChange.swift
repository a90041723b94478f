import PushModel

/// One change of what a ``NotificationStore`` keeps.
public enum RowChange: Hashable, Sendable {
    /// Stores a payload that many notifications point to.
    case insertPayload(PayloadRecord)
    /// Stores a notification, and with ``NotificationRecord/waits`` the narrow row that says who waits for it. The
    /// payload to which it points must be there.
    case insertNotification(NotificationRecord)
    /// Stores a request that was refused, so that its timeline can say why.
    case insertRefusal(RefusalRecord)
    /// Deletes the waiting row of a notification.
    case removeWaiting(NotificationID, of: DeviceID)
    /// Adds a line to a timeline; one of the same moment and state is there already and stays as it is.
    case appendLine(TimelineEntry, to: NotificationID)
    /// Makes the ceiling of ids durable; a lower one changes nothing.
    case raiseHighWater(to: Int64)
    /// Notes that timelines of a team were not recorded.
    case noteUnrecorded(UnrecordedSpan)
}

/// A notification as a store keeps it.
public struct NotificationRecord: Hashable, Sendable {
    public var id: NotificationID
    public var subject: TokenSubject
    /// As the provider sent it; `nil` when the server made it.
    public var apnsID: String?
    public var pushType: PushType?
    public var priority: Priority
    public var collapseID: String?
    public var acceptedAt: Timestamp
    /// `nil` for one attempt.
    public var expiresAt: Timestamp?
    /// Whether it waits in the device's mailbox (the timeline's `stored`).
    public var waits: Bool
    public var lane: Lane
    public var payload: NotificationPayload

    public init(
        id: NotificationID, subject: TokenSubject, apnsID: String?, pushType: PushType?, priority: Priority,
        collapseID: String?, acceptedAt: Timestamp, expiresAt: Timestamp?, waits: Bool, lane: Lane,
        payload: NotificationPayload
    ) {
        self.id = id
        self.subject = subject
        self.apnsID = apnsID
        self.pushType = pushType
        self.priority = priority
        self.collapseID = collapseID
        self.acceptedAt = acceptedAt
        self.expiresAt = expiresAt
        self.waits = waits
        self.lane = lane
        self.payload = payload
    }
}

/// A refused request as a store keeps it.
public struct RefusalRecord: Hashable, Sendable {
    public var id: NotificationID
    public var team: TeamID
    /// The topic as the provider wrote it, cut to 255 bytes; may name no app.
    public var topic: String
    public var apnsID: String?
    public var at: Timestamp
    /// The reason's code.
    public var code: String
    public var note: String?

    public init(
        id: NotificationID, team: TeamID, topic: String, apnsID: String?, at: Timestamp, code: String, note: String?
    ) {
        self.id = id
        self.team = team
        self.topic = topic
        self.apnsID = apnsID
        self.at = at
        self.code = code
        self.note = note
    }
}

/// How many timelines of a team were not recorded, and between which ids.
public struct UnrecordedSpan: Hashable, Sendable {
    public var team: TeamID
    public var first: NotificationID
    public var last: NotificationID
    public var count: Int

    public init(team: TeamID, first: NotificationID, last: NotificationID, count: Int) {
        self.team = team
        self.first = first
        self.last = last
        self.count = count
    }
}
