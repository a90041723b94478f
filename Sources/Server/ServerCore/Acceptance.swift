import Mailbox
import PushModel

/// A notification that passed every check and asks to be stored for a device.
public struct Acceptance: Sendable {
    /// The app of the device token, as the register has it.
    public var app: RegisteredApp
    /// What the device token means: device, app, environment and generation.
    public var subject: TokenSubject
    /// The headers and the payload that the provider sent.
    public var notification: Notification
    /// The sink's own number for the request; the service gives it back with the verdict and does not read it.
    public var ticket: Int32

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

    /// Whether it is to be delivered once or never (TTL 0).
    public var isAttempt: Bool { notification.expiry == .once }

    /// Makes an acceptance of parts that its door has checked.
    public init(app: RegisteredApp, subject: TokenSubject, notification: Notification, ticket: Int32) {
        self.app = app
        self.subject = subject
        self.notification = notification
        self.ticket = ticket
    }
}

/// The answer to an ``Acceptance``.
public struct AcceptanceVerdict: Hashable, Sendable {
    /// The ``Acceptance/ticket`` of the request, unchanged.
    public var ticket: Int32
    /// The id under which it is durable, or was already; `nil` when it could not be made durable: nothing was
    /// accepted, and the provider should send it again later.
    public var id: NotificationID?
    /// The `apns-id` that the provider sent; `nil` where it sent none.
    public var apnsID: String?

    /// Makes the answer to the request of a ticket.
    public init(ticket: Int32, id: NotificationID?, apnsID: String?) {
        self.ticket = ticket
        self.id = id
        self.apnsID = apnsID
    }
}

/// Where the verdicts of one door go, such as a provider's connection or a campaign.
public protocol AcceptanceSink: AnyObject, Sendable {
    /// The verdicts of a batch, in the order of their requests; called on any thread, must not block.
    func judged(_ verdicts: [AcceptanceVerdict])
}

/// An acceptance on its way to the writer. One reference, so that queues and batches that hold it are cheap to copy.
final class QueuedAcceptance: Sendable {
    let acceptance: Acceptance
    let sink: any AcceptanceSink

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
    case expire(DeviceID)
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
        case .accept, .sent, .close, .expire, .unregister, .prune, .writeSent: false
        }
    }

    /// About how many rows the command looks at or changes, an acceptance being one.
    var weight: Int {
        switch self {
        case .sent(_, let ids, _), .acknowledged(_, let ids, _), .writeSent(let ids): max(1, ids.count)
        case .record(let receipts, _, _): max(1, receipts.count)
        case .open(let login, _, _): 4 + login.received.count
        case .prune: 64
        case .accept, .close, .withdraw, .expire, .unregister, .flush: 1
        }
    }

    /// Whether the command must be tried again when it could not be committed: nobody else would bring it back.
    var isKeptAfterFailure: Bool {
        switch self {
        case .unregister, .writeSent: true
        case .accept, .open, .sent, .acknowledged, .record, .close, .withdraw, .expire, .prune, .flush: false
        }
    }
}
