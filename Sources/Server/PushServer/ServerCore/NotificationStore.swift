import PushCore

/// Durable storage of notifications, mailboxes and timelines; the port that a store implements.
///
/// One caller writes (``MailboxService``): it reads the state that a batch needs, decides in memory, and has the
/// changes applied. A store decides nothing. Other reads come from any component.
package protocol NotificationStore: Sendable {
    /// Reads the state that a batch needs, in one transaction. Sees every change that was applied before.
    ///
    /// A ``NodeStore`` keeps the transaction open where the request has locks.
    func prefetch(_ request: PrefetchRequest) throws -> Prefetched

    /// Makes the changes, in order, in one transaction, and makes that durable: synced to the disk when this returns.
    ///
    /// - Throws: The store's error; then none of the changes has happened.
    func apply(_ changes: [RowChange]) throws

    /// Deletes at most `limit` notifications older than an instant, and checks as many for payloads to clear, in a
    /// transaction of its own.
    ///
    /// A notification's payload is cleared when the notification was accepted before `payloadsBefore`, is no longer
    /// queued, and has no line in its timeline since then. One that is still needed is checked again after the time
    /// between `payloadsBefore` and `now`. A shared payload that was accepted before `payloadsBefore` is deleted when
    /// no notification refers to it any more.
    /// - Returns: Whether more is left to prune.
    func prune(timelinesBefore: Timestamp, payloadsBefore: Timestamp, now: Timestamp, limit: Int) throws -> Bool

    /// Reads the queued notifications of a device after an id, in order, without those that have expired by `now`.
    ///
    /// Calls `complete` once, on a thread of the store's. Sees every transaction that was durable before.
    func page(
        device: DeviceID, after: NotificationID?, limit: Int, now: Timestamp,
        then complete: @escaping @Sendable (Result<[OutgoingNotification], any Error>) -> Void)

    /// Finds the ids that belong to a device's notifications.
    ///
    /// Calls `complete` once, on a thread of the store's. Sees every transaction that was durable before.
    func notifications(
        of device: DeviceID, among ids: [NotificationID],
        then complete: @escaping @Sendable (Result<Set<NotificationID>, any Error>) -> Void)

    /// Reads one slice of a sweep over all queued notifications: the devices with notifications that have expired by
    /// `now`, the registrations of revoked devices and removed apps, and the devices that were not seen after
    /// `awaySince`. It begins after a position; `nil` is the beginning.
    ///
    /// Reads at most `limit` rows, so that a sweep never delays other work; `next` is `nil` at the end.
    func expired(
        at now: Timestamp, awaySince: Timestamp, from position: SweepPosition?, limit: Int
    ) throws -> ExpiredSlice

    /// The notifications with an internal id or an `apns-id`, with their timelines.
    ///
    /// - Parameter team: The team whose notifications are searched; `nil` for every team's.
    /// - Returns: The notifications in the order of their ids. Of refused requests only the newest 50 of each team are
    ///   included, so that no team's refusals hide anything.
    func timelines(id: NotificationID?, apnsID: APNsID?, team: TeamID?) async throws -> [NotificationTimeline]

    /// The team of an ``UnrecordedSpan`` that contains an id; `nil` when there is none.
    ///
    /// - Parameter team: The team whose spans are searched; `nil` for every team's.
    func isUnrecorded(_ id: NotificationID, team: TeamID?) async throws -> TeamID?

    /// The durable ceiling of ids; 0 in a new store.
    func highWater() throws -> Int64
}

/// The position at which a sweep over the waiting rows continues.
package struct SweepPosition: Hashable, Sendable {
    /// The device of the last row that was read.
    package var device: DeviceID
    /// The notification of the last row that was read.
    package var id: NotificationID

    /// Creates the position after the row of a device's notification.
    package init(device: DeviceID, id: NotificationID) {
        self.device = device
        self.id = id
    }
}

/// The findings of one slice of a sweep.
package struct ExpiredSlice: Hashable, Sendable {
    /// The devices with queued notifications that have expired.
    package var devices: Set<DeviceID>
    /// The registrations with queued notifications whose device was revoked or app removed.
    package var ended: Set<RegistrationKey>
    /// The devices with queued notifications that have been away for too long.
    package var away: Set<DeviceID> = []
    /// The number of notifications that the slice passed.
    package var count = 0
    /// The oldest of these; `nil` where there was none.
    package var oldest: NotificationID?
    /// The position at which the next slice begins; `nil` when this was the last.
    package var next: SweepPosition?

    /// Creates the findings of a slice.
    package init(devices: Set<DeviceID>, ended: Set<RegistrationKey> = [], next: SweepPosition?) {
        self.devices = devices
        self.ended = ended
        self.next = next
    }
}

/// The key of a registration: an app on a device, in one environment.
package struct RegistrationKey: Hashable, Sendable {
    /// The device.
    package var device: DeviceID
    /// The app on it.
    package var app: AppID
    /// The environment of the registration.
    package var environment: PushEnvironment

    /// Creates the key of a registration; whether it exists is not checked.
    package init(device: DeviceID, app: AppID, environment: PushEnvironment) {
        self.device = device
        self.app = app
        self.environment = environment
    }
}
