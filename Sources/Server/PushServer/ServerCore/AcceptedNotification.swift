import NIOCore
import PushCore

/// A notification that passed every check and is to be stored for a device.
package struct AcceptedNotification: Sendable {
    /// The app of the device token, from the register.
    package var app: RegisteredApp
    /// The decoded device token: device, app, environment and generation.
    package var subject: TokenSubject
    /// The headers and the payload that the provider sent.
    package var notification: Notification
    /// The sink's own number for the request; the service returns it with the result and does not interpret it.
    package var ticket: Int32
    /// A remark by the endpoint for readers of the timeline, such as why the device will show nothing. It is stored
    /// beside `accepted`, and contains no secret and nothing of the payload.
    package var note: String?
    /// Whether the id is added to the content, one JSON object, as `gcm.message_id`: FCM's messages contain their id,
    /// which is known only at acceptance.
    package var namesItself = false

    /// The lane of the device's mailbox in which it is queued.
    package var lane: Lane { notification.content.lane }

    /// The limits of the notification's lane. FCM's lane has FCM's own limits instead of the app's. FCM sets them for a
    /// device without a connection; a connected one has the limit of ``MailboxPolicy``'s default.
    package func policy(isConnected: Bool) -> MailboxPolicy {
        switch lane {
        case .apns: app.policy
        case .fcm: isConnected ? .fcm(limit: MailboxPolicy().limit) : .fcm()
        }
    }

    /// The payload as it is sent under an id.
    func payload(as id: NotificationID) -> [UInt8] {
        let bytes = notification.content.bytes
        guard namesItself, bytes.first == UInt8(ascii: "{") else { return bytes }
        let rest = bytes.dropFirst()
        let isEmpty = rest.first == UInt8(ascii: "}")
        return Array("{\"gcm.message_id\":\"\(id)\"\(isEmpty ? "" : ",")".utf8) + rest
    }

    /// Whether it is delivered once or never (TTL 0).
    package var isAttempt: Bool { notification.expiry == .once }

    /// Creates an acceptance from parts that its endpoint has checked.
    package init(
        app: RegisteredApp, subject: TokenSubject, notification: Notification, ticket: Int32, note: String? = nil
    ) {
        self.app = app
        self.subject = subject
        self.notification = notification
        self.ticket = ticket
        self.note = note
    }
}

/// The result of an ``AcceptedNotification``.
package struct AcceptanceResult: Hashable, Sendable {
    /// The ``AcceptedNotification/ticket`` of the request, unchanged.
    package var ticket: Int32
    /// The id under which it is durable, or was already. `nil` when it could not be made durable: nothing was accepted,
    /// and the provider should send it again later.
    package var id: NotificationID?
    /// The `apns-id` that the provider sent; `nil` where it sent none.
    package var apnsID: APNsID?

    /// Creates the result of the request with a ticket.
    package init(ticket: Int32, id: NotificationID?, apnsID: APNsID?) {
        self.ticket = ticket
        self.id = id
        self.apnsID = apnsID
    }
}

/// The receiver of the results of one endpoint, such as a provider's connection or a campaign.
package protocol AcceptanceSink: AnyObject, Sendable {
    /// Receives the results of a batch, in the order of their requests. Called on any thread; must not block.
    func completed(_ results: [AcceptanceResult])
}

/// An acceptance in the writer's queue. It is one reference, so that queues and batches that hold it are cheap to copy.
final class QueuedAcceptance: Sendable {
    let acceptance: AcceptedNotification
    let sink: any AcceptanceSink
    let queuedAt = NIODeadline.now()

    init(_ acceptance: AcceptedNotification, _ sink: any AcceptanceSink) {
        self.acceptance = acceptance
        self.sink = sink
    }
}

/// A command for the one writer.
enum MailboxCommand: Sendable {
    case accept(QueuedAcceptance)
    case open(DeviceLogin, any DeviceConnection, @Sendable (DeviceLoginVerdict) -> Void)
    case sent(DeviceSessionID, ids: [NotificationID], at: Timestamp)
    case acknowledged(DeviceSessionID, [NotificationID], @Sendable (Bool) -> Void)
    case record([Receipt], session: DeviceSessionID, then: @Sendable (Bool) -> Void)
    case close(DeviceSessionID)
    case withdraw(NotificationID, DeviceID, @Sendable (WithdrawalOutcome) -> Void)
    /// Processes the broadcasts for these devices, those that are connected; completes on the service's loop.
    case deliverBroadcasts([DeviceID], @Sendable () -> Void)
    /// Removes expired notifications; if the device was away for too long, all queued ones.
    case expire(DeviceID, isAway: Bool)
    case unregister(DeviceID, AppID, PushEnvironment)
    case prune
    /// Writes the `sent` lines of notifications that were written to connections and not acknowledged since.
    case writeSent([NotificationID])
    /// Completes when every note recorded before is durable; `false` when it could not be made so.
    case flush(@Sendable (Bool) -> Void)
}

/// A note that is written behind. It may be lost when too many are queued, and is counted then.
enum TimelineNote: Sendable {
    /// A notification of one attempt, with its outcome.
    case attempted(NotificationRecord, [TimelineEntry])
    /// The outcome of an attempt that is written already.
    case lines([TimelineEntry])
    case refused(RefusalRecord)
}

extension MailboxCommand {
    /// Whether the command concerns notifications that may still be among the queued notes.
    var looksAtNotes: Bool {
        switch self {
        case .acknowledged, .record, .withdraw, .flush: true
        case .open(let login, _, _): !login.received.isEmpty
        case .accept, .sent, .close, .expire, .unregister, .prune, .writeSent, .deliverBroadcasts: false
        }
    }

    /// The approximate number of rows that the command reads or changes; an acceptance counts as one.
    var weight: Int {
        switch self {
        case .sent(_, let ids, _), .acknowledged(_, let ids, _), .writeSent(let ids): max(1, ids.count)
        case .record(let receipts, _, _): max(1, receipts.count)
        case .deliverBroadcasts(let devices, _): max(1, devices.count)
        case .open(let login, _, _): 4 + login.received.count
        case .prune: 64
        case .accept, .close, .withdraw, .expire, .unregister, .flush: 1
        }
    }

    /// Whether the command must be retried when it could not be committed, since no caller would repeat it.
    var isKeptAfterFailure: Bool {
        switch self {
        case .unregister, .writeSent: true
        case .accept, .open, .sent, .acknowledged, .record, .close, .withdraw, .expire, .prune, .flush,
            .deliverBroadcasts:
            false
        }
    }
}
