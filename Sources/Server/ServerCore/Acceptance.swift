import Mailbox
import NIOCore
import PushModel
import RegisterCore

/// A notification that passed every check and asks to be stored for a device.
public struct Acceptance: Sendable {
    /// The app of the device token, as the register has it.
    public var app: RegisteredApp
    /// What the device token means: device, app, environment and generation.
    public var subject: TokenSubject
    /// The headers and the payload that the provider sent.
    public var notification: Notification
    /// The sink's own number for the request; the service gives it back with the result and does not read it.
    public var ticket: Int32
    /// What its door has to say to whoever reads the timeline, such as why the device will show nothing; it stands
    /// beside `accepted`. No secret and nothing of the payload.
    public var note: String?
    /// Whether its id is put in front of the content, one JSON object, as `gcm.message_id`: FCM's messages name themselves,
    /// and the id is known with the acceptance only.
    public var namesItself = false

    /// The lane of the device's mailbox in which it is to wait.
    public var lane: Lane { notification.content.lane }

    /// How much may wait in its lane. FCM's lane has FCM's own limits instead of the app's. FCM sets them for a device
    /// that is away; for one that is connected the limit is that of ``MailboxPolicy``'s default.
    public func policy(isConnected: Bool) -> MailboxPolicy {
        switch lane {
        case .apns: app.policy
        case .fcm: isConnected ? .fcm(limit: MailboxPolicy().limit) : .fcm()
        }
    }

    /// The payload as it travels under an id.
    func payload(as id: NotificationID) -> [UInt8] {
        let bytes = notification.content.bytes
        guard namesItself, bytes.first == UInt8(ascii: "{") else { return bytes }
        let rest = bytes.dropFirst()
        let isEmpty = rest.first == UInt8(ascii: "}")
        return Array("{\"gcm.message_id\":\"\(id)\"\(isEmpty ? "" : ",")".utf8) + rest
    }

    /// Whether it is to be delivered once or never (TTL 0).
    public var isAttempt: Bool { notification.expiry == .once }

    /// Makes an acceptance of parts that its door has checked.
    public init(
        app: RegisteredApp, subject: TokenSubject, notification: Notification, ticket: Int32, note: String? = nil
    ) {
        self.app = app
        self.subject = subject
        self.notification = notification
        self.ticket = ticket
        self.note = note
    }
}

/// The answer to an ``Acceptance``.
public struct AcceptanceResult: Hashable, Sendable {
    /// The ``Acceptance/ticket`` of the request, unchanged.
    public var ticket: Int32
    /// The id under which it is durable, or was already; `nil` when it could not be made durable: nothing was
    /// accepted, and the provider should send it again later.
    public var id: NotificationID?
    /// The `apns-id` that the provider sent; `nil` where it sent none.
    public var apnsID: APNsID?

    /// Makes the answer to the request of a ticket.
    public init(ticket: Int32, id: NotificationID?, apnsID: APNsID?) {
        self.ticket = ticket
        self.id = id
        self.apnsID = apnsID
    }
}

/// Where the results of one door go, such as a provider's connection or a campaign.
public protocol AcceptanceSink: AnyObject, Sendable {
    /// The results of a batch, in the order of their requests; called on any thread, must not block.
    func completed(_ results: [AcceptanceResult])
}

/// An acceptance on its way to the writer. One reference, so that queues and batches that hold it are cheap to copy.
final class QueuedAcceptance: Sendable {
    let acceptance: Acceptance
    let sink: any AcceptanceSink
    let queuedAt = NIODeadline.now()

    init(_ acceptance: Acceptance, _ sink: any AcceptanceSink) {
        self.acceptance = acceptance
        self.sink = sink
    }
}

/// What is to be done by the one writer.
enum MailboxCommand: Sendable {
    case accept(QueuedAcceptance)
    case open(DeviceLogin, any DeviceConnection, @Sendable (DeviceLoginVerdict) -> Void)
    case sent(DeviceSessionID, [NotificationID], Timestamp)
    case acknowledged(DeviceSessionID, [NotificationID], @Sendable (Bool) -> Void)
    case record([Receipt], DeviceSessionID, @Sendable (Bool) -> Void)
    case close(DeviceSessionID)
    case withdraw(NotificationID, DeviceID, @Sendable (WithdrawalOutcome) -> Void)
    /// Looks at what broadcasts have for these devices, those that are connected; completes on the service's loop.
    case visit([DeviceID], @Sendable () -> Void)
    /// What has expired leaves; where the device is away for too long, all that waits.
    case expire(DeviceID, isAway: Bool)
    case unregister(DeviceID, AppID, PushEnvironment)
    case prune
    /// Write the `sent` lines of what was written to connections and not acknowledged since.
    case writeSent([NotificationID])
    /// Completes when everything that was noted before is durable; `false` when it could not be made so.
    case flush(@Sendable (Bool) -> Void)
}

/// What is written behind: it may be lost when there is too much of it, and is counted then.
enum TimelineNote: Sendable {
    /// A notification of one attempt, with what became of it.
    case attempted(NotificationRecord, [TimelineEntry])
    /// What became of an attempt that is written already.
    case lines([TimelineEntry])
    case refused(RefusalRecord)
}

extension MailboxCommand {
    /// Whether the command concerns notifications that may still be among the notes.
    var looksAtNotes: Bool {
        switch self {
        case .acknowledged, .record, .withdraw, .flush: true
        case .open(let login, _, _): !login.received.isEmpty
        case .accept, .sent, .close, .expire, .unregister, .prune, .writeSent, .visit: false
        }
    }

    /// About how many rows the command looks at or changes, an acceptance being one.
    var weight: Int {
        switch self {
        case .sent(_, let ids, _), .acknowledged(_, let ids, _), .writeSent(let ids): max(1, ids.count)
        case .record(let receipts, _, _): max(1, receipts.count)
        case .visit(let devices, _): max(1, devices.count)
        case .open(let login, _, _): 4 + login.received.count
        case .prune: 64
        case .accept, .close, .withdraw, .expire, .unregister, .flush: 1
        }
    }

    /// Whether the command must be tried again when it could not be committed: nobody else would bring it back.
    var isKeptAfterFailure: Bool {
        switch self {
        case .unregister, .writeSent: true
        case .accept, .open, .sent, .acknowledged, .record, .close, .withdraw, .expire, .prune, .flush, .visit: false
        }
    }
}
