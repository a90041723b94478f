import PushModel

/// What a device wire needs of the server; the port that a second device protocol is written against.
///
/// Every method may be called on any thread and returns at once. Completions are called exactly once, on
/// a thread of the server's: hop to the connection's event loop before touching its state. Calls of one
/// connection take effect in the order in which they were made.
public protocol DeviceGateway: Sendable {
    /// Opens a session for a device that logged in; the newest session of a device wins.
    ///
    /// `login.received` names what the device already has: it is deleted (as acked) before the verdict is
    /// given. After a `.welcome` the connection's `deliver` is called for whatever is committed from then on;
    /// what waited before, of which the welcome tells, is read with ``page(_:after:limit:then:)``.
    func open(
        _ login: DeviceLogin, connection: any DeviceConnection,
        then complete: @escaping @Sendable (DeviceLoginVerdict) -> Void)

    /// Reads what waits for the session's device, in order, after an id (`nil`: from the start).
    ///
    /// What has expired is left out; notices (`OutgoingNotification.notice`) have their place by their ids. A page shorter than `limit` is the last one as of the read.
    func page(
        _ session: DeviceSessionID, after: NotificationID?, limit: Int,
        then complete: @escaping @Sendable (Result<[OutgoingNotification], any Error>) -> Void)

    /// Notes that these, which wait, were written to the connection (the timeline's `sent`). Notices are not among them:
    /// they have no timeline.
    func sent(_ session: DeviceSessionID, _ ids: [NotificationID])

    /// Deletes what the device has stored; completes with `true` once that is durable, `false` when it could not be.
    ///
    /// Ids of the device that no longer wait get their line in the timeline, and nothing else happens to them.
    func acknowledged(
        _ session: DeviceSessionID, _ ids: [NotificationID], then complete: @escaping @Sendable (Bool) -> Void)

    /// Records what a device reports; completes once it is durable, or could not be made so.
    ///
    /// Receipts of unknown and of another device's notifications are ignored and counted. The same receipt twice is
    /// recorded once.
    func record(
        _ receipts: [Receipt], of session: DeviceSessionID, then complete: @escaping @Sendable (ReceiptOutcome) -> Void)

    /// Notes what became of TTL-0 notifications given to `deliver`. They wait nowhere, so nothing has to be durable
    /// before the device's acknowledgement of them may be confirmed.
    func attempts(_ ids: [NotificationID], became event: AttemptEvent)

    /// Ends a session; a later one of the same device is left alone.
    func close(_ session: DeviceSessionID)
}

/// What becomes of a notification that is delivered once or never.
public enum AttemptEvent: Sendable {
    /// Written to the connection.
    case sent
    /// The device has it on its disk.
    case acknowledged
    /// Not written: the connection was choked or closing.
    case notSent
    /// Written, but the connection ended before it was acknowledged.
    case unacknowledged

    /// The timeline's line.
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

    /// Whether nothing can come after it.
    var isEnd: Bool { if case .sent = self { false } else { true } }
}

/// What became of a batch of receipts.
public enum ReceiptOutcome: Hashable, Sendable {
    /// Durable, but for this many that are not of the device's notifications.
    case durable(ignored: Int)
    /// The store did not answer or did not commit: nothing is recorded, and the device is to report again.
    case failed
}

/// A device's proof of itself and what it already has.
public struct DeviceLogin: Sendable {
    /// The device's id, as it says.
    public var device: DeviceID
    /// The device's secret, not checked yet; never logged.
    @Secret public var secret: UInt64
    /// The ids that the device says it has on its disk.
    public var received: [NotificationID]

    /// Takes what the device sent; nothing is checked.
    public init(device: DeviceID, secret: UInt64, received: [NotificationID]) {
        self.device = device
        self.secret = secret
        self.received = received
    }
}

/// One live connection of a device. The epoch grows with every login, and the newest wins.
public struct DeviceSessionID: Hashable, Sendable {
    /// The device that logged in.
    public let device: DeviceID
    /// The session's number: greater than those of all sessions that were opened before in this run of the server.
    public let epoch: UInt64

    /// Names a session; whether it is open is not checked.
    public init(device: DeviceID, epoch: UInt64) {
        self.device = device
        self.epoch = epoch
    }
}

/// The answer to a login.
public enum DeviceLoginVerdict: Sendable {
    /// The login is taken, and the session is open. Where nothing waits for the device, nothing has to be read.
    case welcome(DeviceSessionID, hasWaiting: Bool)
    /// Unknown device or wrong secret; which of the two is not said.
    case refused
    /// The device has proven itself, and is kept out until somebody lets it in again. It keeps its identity.
    case blocked
    /// The server could not find out (its store did not answer); the device should try again.
    case unavailable
}

/// A device wire's side of one session.
public protocol DeviceConnection: AnyObject, Sendable {
    /// The network that the device connects from, to be compared with others'; `nil` where it stands for many clients, as a
    /// proxy's does, and where none is known.
    var network: String? { get }

    /// New notifications for the device, in order; called on any thread, must not block.
    ///
    /// A connection that cannot take them now leaves the stored ones (they have an expiry and are paged
    /// later) and reports the others with ``DeviceGateway/attempts(_:became:)``.
    func deliver(_ notifications: [OutgoingNotification])

    /// Something waits that ``deliver(_:)`` does not bring, such as a notice: read the next page. Called before what comes
    /// after it is delivered, on any thread; must not block.
    func waitingChanged()

    /// Writes something from another device. It waits nowhere; `complete` is called once, on any thread, with what became
    /// of it.
    ///
    /// - Parameter isBulk: Whether what is not may overtake it.
    func relay(_ frame: [UInt8], isBulk: Bool, then complete: @escaping @Sendable (RelayWriting) -> Void)

    /// A newer session of the same device was opened: say so to the peer if the wire can, and close.
    func superseded()

    /// The device was revoked or blocked: close. Called on any thread.
    func revoked()

    /// The device has other browsers' registrations than before. Called on any thread; must not block.
    func registrationsChanged()
}

extension DeviceConnection {
    /// No network is known.
    public var network: String? { nil }
}

extension DeviceConnection {
    /// Does nothing, as fits a wire whose clients are no browsers.
    public func registrationsChanged() {}

    /// Writes nothing, for wires that cannot relay.
    public func relay(_ frame: [UInt8], isBulk: Bool, then complete: @escaping @Sendable (RelayWriting) -> Void) {
        complete(.ended)
    }
}

/// What became of something that one device sent to another.
public enum RelayWriting: Sendable {
    /// It is written to the connection, or held until the connection takes it.
    case written
    /// The session is over, or its wire cannot relay.
    case ended
    /// The device reads too slowly: what is held for it already is as much as may be.
    case choked
}
