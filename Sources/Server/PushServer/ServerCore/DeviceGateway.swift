import PushCore

/// The server's services for device connections; the port that a second device protocol is written against.
///
/// Every method may be called on any thread and returns at once. Completions are called exactly once, on a thread of
/// the server's: hop to the connection's event loop before touching its state. Calls of one connection take effect in
/// the order in which they were made.
package protocol DeviceGateway: Sendable {
    /// Opens a session for a device that logged in; the newest session of a device replaces the others.
    ///
    /// `login.received` contains the ids that the device already has: their notifications are deleted (as acked) before
    /// the verdict is given. After a `.welcome` the connection's `deliver` is called for notifications committed from
    /// then on. Those queued before, which the verdict announces, are read with ``page(_:after:limit:then:)``.
    func open(
        _ login: DeviceLogin, connection: any DeviceConnection,
        then complete: @escaping @Sendable (DeviceLoginVerdict) -> Void)

    /// Reads the queued notifications of the session's device, in order, after an id (`nil`: from the start).
    ///
    /// Expired ones are left out; notices (`OutgoingNotification.notice`) are sorted by their ids among them. A page
    /// shorter than `limit` is the last one as of the read.
    func page(
        _ session: DeviceSessionID, after: NotificationID?, limit: Int,
        then complete: @escaping @Sendable (Result<[OutgoingNotification], any Error>) -> Void)

    /// Records that these queued notifications were written to the connection (the timeline's `sent`). Notices are not
    /// among them: they have no timeline.
    func sent(_ session: DeviceSessionID, _ ids: [NotificationID])

    /// Deletes the notifications that the device has stored. Completes with `true` once that is durable, `false` when
    /// it could not be.
    ///
    /// Ids of the device that are no longer queued get their line in the timeline, and nothing else happens to them.
    func acknowledged(
        _ session: DeviceSessionID, _ ids: [NotificationID], then complete: @escaping @Sendable (Bool) -> Void)

    /// Records a device's receipts; completes once they are durable, or could not be made so.
    ///
    /// Receipts of unknown and of another device's notifications are ignored and counted. The same receipt twice is
    /// recorded once.
    func record(
        _ receipts: [Receipt], of session: DeviceSessionID, then complete: @escaping @Sendable (ReceiptOutcome) -> Void)

    /// Records the outcome of TTL-0 notifications given to `deliver`. They are not queued, so nothing has to be durable
    /// before the device's acknowledgement of them may be confirmed.
    func attempts(_ ids: [NotificationID], became event: AttemptEvent)

    /// Ends a session; a later one of the same device stays open.
    func close(_ session: DeviceSessionID)
}

/// The progress of a notification that is delivered once or never.
package enum AttemptEvent: Sendable {
    /// Written to the connection.
    case sent
    /// The device has it on its disk.
    case acknowledged
    /// Not written: the connection was choked or closing.
    case notSent
    /// Written, but the connection ended before it was acknowledged.
    case unacknowledged

    /// The event's line for the timeline.
    func entry(at now: Timestamp) -> TimelineEntry {
        switch self {
        case .sent: TimelineEntry(at: now, state: .sent, source: .server)
        case .acknowledged: TimelineEntry(at: now, state: .acked, source: .server)
        case .notSent: TimelineEntry(at: now, state: .dropped(.offline), source: .server)
        case .unacknowledged:
            TimelineEntry(
                at: now, state: .dropped(.offline), source: .server,
                note: "the connection ended before the device acknowledged it; it may have arrived")
        }
    }

    /// Whether the event is the last one of its notification.
    var isEnd: Bool { if case .sent = self { false } else { true } }
}

/// The outcome of a batch of receipts.
package enum ReceiptOutcome: Hashable, Sendable {
    /// The receipts are durable, except for this many that do not belong to the device's notifications.
    case durable(ignored: Int)
    /// The store did not answer or did not commit: nothing is recorded, and the device should report again.
    case failed
}

/// A device's credentials, and the notifications that it already has.
package struct DeviceLogin: Sendable {
    /// The device's id, as the device sent it.
    package var device: DeviceID
    /// The device's secret, not checked yet; never logged.
    @Secret package var secret: UInt64
    /// The ids that the device reports to have on its disk.
    package var received: [NotificationID]

    /// Creates a login from the device's values; nothing is checked.
    package init(device: DeviceID, secret: UInt64, received: [NotificationID]) {
        self.device = device
        self.secret = secret
        self.received = received
    }
}

/// The id of a device's live connection. The epoch grows with every login, and the newest replaces the others.
package struct DeviceSessionID: Hashable, Sendable {
    /// The device that logged in.
    package let device: DeviceID
    /// The session's number: greater than those of all sessions that were opened before in this run of the server.
    package let epoch: UInt64

    /// Creates a session id; whether the session is open is not checked.
    package init(device: DeviceID, epoch: UInt64) {
        self.device = device
        self.epoch = epoch
    }
}

/// The server's verdict on a login.
package enum DeviceLoginVerdict: Sendable {
    /// The login is accepted, and the session is open. Where nothing is queued for the device, nothing has to be read.
    case welcome(DeviceSessionID, hasWaiting: Bool)
    /// Unknown device or wrong secret; the device does not learn which.
    case refused
    /// The device is authentic but blocked until an operator unblocks it. It keeps its identity.
    case blocked
    /// The server could not decide, since its store did not answer; the device should try again.
    case unavailable
}
