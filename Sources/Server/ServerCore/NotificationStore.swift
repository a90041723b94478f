import Mailbox
import PushModel

/// Where notifications, mailboxes and timelines are durable; the port that a store implements.
///
/// One caller writes (``MailboxService``); reads come from anywhere.
public protocol NotificationStore: Sendable {
    /// Runs `body` in one transaction and makes it durable: synced to the disk when this returns.
    ///
    /// - Throws: what the store or `body` says; then nothing of it has happened.
    func write<Result>(_ body: (any NotificationTransaction) throws -> Result) throws -> Result

    /// Reads what waits for a device after an id, in order, without what has expired by `now`.
    ///
    /// Calls `complete` once, on a thread of the store's. Sees every transaction that was durable before.
    func page(
        device: DeviceID, after: NotificationID?, limit: Int, now: Timestamp,
        then complete: @escaping @Sendable (Result<[OutgoingNotification], any Error>) -> Void)

    /// Those of the ids that are of a device's notifications.
    ///
    /// Calls `complete` once, on a thread of the store's. Sees every transaction that was durable before.
    func notifications(
        of device: DeviceID, among ids: [NotificationID],
        then complete: @escaping @Sendable (Result<Set<NotificationID>, any Error>) -> Void)

    /// Devices whose mail has expired by `now`, and registrations of revoked devices and removed apps for which mail
    /// still waits, from a position in the store's own order.
    ///
    /// Reads at most `limit` rows, so that a sweep never stalls anybody; `next` is `nil` at the end.
    func expired(at now: Timestamp, from position: SweepPosition?, limit: Int) throws -> ExpiredSlice

    /// The notifications that an internal id or an `apns-id` names, with their timelines.
    ///
    /// - Parameter team: Only this team's are looked at; `nil` for every team's. Accepted ones come before refused
    ///   ones, of which the newest 50 of each team are told, so that nobody's refusals hide anything.
    func timelines(id: NotificationID?, apnsID: String?, team: TeamID?) async throws -> [NotificationTimeline]

    /// Whether an id of this team lies where timelines were not recorded.
    func isUnrecorded(_ id: NotificationID, team: TeamID?) async throws -> TeamID?

    /// The durable ceiling of ids; 0 in a new store.
    func highWater() throws -> Int64
}

/// Where a sweep over the waiting rows goes on.
public struct SweepPosition: Hashable, Sendable {
    public var device: DeviceID
    public var id: NotificationID

    public init(device: DeviceID, id: NotificationID) {
        self.device = device
        self.id = id
    }
}

/// What one slice of a sweep found.
public struct ExpiredSlice: Hashable, Sendable {
    public var devices: Set<DeviceID>
    /// Whose device was revoked, or app removed.
    public var ended: Set<RegistrationPlace>
    public var next: SweepPosition?

    public init(devices: Set<DeviceID>, ended: Set<RegistrationPlace> = [], next: SweepPosition?) {
        self.devices = devices
        self.ended = ended
        self.next = next
    }
}

/// An app on a device in one environment.
public struct RegistrationPlace: Hashable, Sendable {
    public var device: DeviceID
    public var app: AppID
    public var environment: PushEnvironment

    public init(device: DeviceID, app: AppID, environment: PushEnvironment) {
        self.device = device
        self.app = app
        self.environment = environment
    }
}

/// What can be done inside one transaction of a ``NotificationStore``.
public protocol NotificationTransaction {
    /// The id under which a provider's `apns-id` was accepted for this registration since an instant.
    func identity(apnsID: String, subject: TokenSubject, since: Timestamp) throws -> NotificationID?

    /// Stores a notification once; with `waits` also the narrow row that says who waits for it.
    func insert(_ record: NotificationRecord) throws

    /// Stores a request that was refused, so that its timeline can say why.
    func insert(_ refusal: RefusalRecord) throws

    /// Deletes the waiting row of an id.
    func removeWaiting(_ id: NotificationID, of device: DeviceID) throws

    /// Adds a line to a timeline; the same line twice is one.
    func append(_ entry: TimelineEntry, to id: NotificationID) throws

    /// What waits for a device, ordered by id.
    func waiting(for device: DeviceID) throws -> [Mailbox.Entry]

    /// The device that a notification was for; `nil` when it is unknown.
    func device(of id: NotificationID) throws -> DeviceID?

    /// Whether a timeline has a line with this state.
    func has(_ state: NotificationState, in id: NotificationID) throws -> Bool

    /// How many lines were appended to a timeline.
    func lineCount(of id: NotificationID) throws -> Int

    /// The hash of a device's secret; `nil` for a device that is not enrolled.
    func secretHash(of device: DeviceID) throws -> [UInt8]?

    /// Makes the ceiling of ids durable.
    func raiseHighWater(to ceiling: Int64) throws

    /// Notes that timelines of a team were not recorded, from one id to another.
    func noteUnrecorded(team: TeamID, from first: NotificationID, to last: NotificationID, count: Int) throws

    /// Deletes at most `limit` notifications older than an instant, and looks at as many for payloads to clear.
    ///
    /// A payload is cleared when its notification was accepted before `payloadsBefore`, no longer waits, and its
    /// timeline has no line since then. One that is still needed is looked at again once as much time has passed
    /// as lies between `payloadsBefore` and `now`.
    /// - Returns: whether more is left to do.
    func prune(timelinesBefore: Timestamp, payloadsBefore: Timestamp, now: Timestamp, limit: Int) throws -> Bool
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
    public var payload: [UInt8]

    public init(
        id: NotificationID, subject: TokenSubject, apnsID: String?, pushType: PushType?, priority: Priority,
        collapseID: String?, acceptedAt: Timestamp, expiresAt: Timestamp?, waits: Bool, lane: Lane, payload: [UInt8]
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
