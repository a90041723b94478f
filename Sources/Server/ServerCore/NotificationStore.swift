import PushModel

/// Where notifications, mailboxes and timelines are durable; the port that a store implements.
///
/// One caller writes (``MailboxService``): it asks for what a batch has to know, decides in memory, and has the changes
/// applied. A store decides nothing. Other reads come from anywhere.
public protocol NotificationStore: Sendable {
    /// Reads what a batch has to know, in one transaction. Sees every change that was applied before.
    func prefetch(_ request: PrefetchRequest) throws -> Prefetched

    /// Makes the changes, in order, in one transaction, and makes that durable: synced to the disk when this returns.
    ///
    /// - Throws: what the store says; then nothing of it has happened.
    func apply(_ changes: [RowChange]) throws

    /// Deletes at most `limit` notifications older than an instant, and looks at as many for payloads to clear, in a
    /// transaction of its own.
    ///
    /// A notification's payload is cleared when the notification was accepted before `payloadsBefore`, no longer waits,
    /// and has no line in its timeline since then. One that is still needed is looked at again after the time between
    /// `payloadsBefore` and `now`. A shared payload that was accepted before `payloadsBefore` goes when no
    /// notification points to it any more.
    /// - Returns: whether more is left to do.
    func prune(timelinesBefore: Timestamp, payloadsBefore: Timestamp, now: Timestamp, limit: Int) throws -> Bool

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

    /// One slice of a sweep over everything that waits: the devices with notifications that have expired by `now`, and
    /// the registrations of revoked devices and removed apps, and the devices that were not seen after `awaySince`. It
    /// begins after a position; `nil` is the beginning.
    ///
    /// Reads at most `limit` rows, so that a sweep never stalls anybody; `next` is `nil` at the end.
    func expired(
        at now: Timestamp, awaySince: Timestamp, from position: SweepPosition?, limit: Int
    ) throws -> ExpiredSlice

    /// The notifications that an internal id or an `apns-id` names, with their timelines.
    ///
    /// - Parameter team: Only this team's are looked at; `nil` for every team's.
    /// - Returns: The notifications in the order of their ids. Of refused requests only the newest 50 of each team are
    ///   among them, so that no team's refusals hide anything.
    func timelines(id: NotificationID?, apnsID: APNsID?, team: TeamID?) async throws -> [NotificationTimeline]

    /// The team of an ``UnrecordedSpan`` in which an id lies; `nil` when there is none.
    ///
    /// - Parameter team: Only this team's spans are looked at; `nil` for every team's.
    func isUnrecorded(_ id: NotificationID, team: TeamID?) async throws -> TeamID?

    /// The durable ceiling of ids; 0 in a new store.
    func highWater() throws -> Int64
}

/// Where a sweep over the waiting rows goes on.
public struct SweepPosition: Hashable, Sendable {
    /// The device of the last row that was read.
    public var device: DeviceID
    /// The notification of the last row that was read.
    public var id: NotificationID

    /// The position after the row of a device's notification.
    public init(device: DeviceID, id: NotificationID) {
        self.device = device
        self.id = id
    }
}

/// What one slice of a sweep found.
public struct ExpiredSlice: Hashable, Sendable {
    /// The devices for which something waits that has expired.
    public var devices: Set<DeviceID>
    /// The registrations for which something waits, and whose device was revoked or app removed.
    public var ended: Set<RegistrationPlace>
    /// The devices for which something waits and that have been away.
    public var away: Set<DeviceID> = []
    /// How many notifications it passed.
    public var count = 0
    /// The oldest of them; `nil` where it passed none.
    public var oldest: NotificationID?
    /// Where the next slice begins; `nil` when this was the last.
    public var next: SweepPosition?

    /// Makes what a slice found.
    public init(devices: Set<DeviceID>, ended: Set<RegistrationPlace> = [], next: SweepPosition?) {
        self.devices = devices
        self.ended = ended
        self.next = next
    }
}

/// An app on a device in one environment.
public struct RegistrationPlace: Hashable, Sendable {
    /// The device.
    public var device: DeviceID
    /// The app on it.
    public var app: AppID
    /// The environment of the registration.
    public var environment: PushEnvironment

    /// Names a registration; whether there is one is not checked.
    public init(device: DeviceID, app: AppID, environment: PushEnvironment) {
        self.device = device
        self.app = app
        self.environment = environment
    }
}
