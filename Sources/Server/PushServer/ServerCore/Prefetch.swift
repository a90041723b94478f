import PushCore

/// The rows of a store that a batch needs before it can be decided.
package struct PrefetchRequest: Hashable, Sendable {
    /// The identities whose notifications are read, if accepted at or after ``acceptedSince``.
    package var identities: Set<NotificationIdentity> = []
    /// The beginning of the window in which an `apns-id` identifies one notification.
    package var acceptedSince: Timestamp
    /// The devices whose waiting rows are read.
    package var mailboxes: Set<DeviceID> = []
    /// The notifications whose device and timeline are read.
    package var notifications: Set<NotificationID> = []
    /// The devices whose hashed secrets, times of presence and missed notifications are read.
    package var secretHashes: Set<DeviceID> = []
    /// The devices whose subscriptions and next broadcasts are read.
    package var audiences: Set<DeviceID> = []
    /// The devices of ``audiences`` that were away, with the time at which they were last seen: the broadcasts that expired
    /// after it are read.
    package var away: [DeviceID: Timestamp] = [:]
    /// The audiences of ``audiences`` whose cursor, subscriptions and registrations are known: only their broadcasts
    /// are read.
    package var known: [DeviceID: DeviceAudience] = [:]
    /// The mailboxes whose rows are locked, of a ``NodeStore`` only. Those that have another revision than in memory are read
    /// too.
    package var locks: [DeviceID: MailboxLock] = [:]
    /// The ids from which those of the locked mailboxes are given; set where ``locks`` is not empty.
    package var block: NotificationIDBlock?

    /// Creates a request for nothing.
    package init(acceptedSince: Timestamp) { self.acceptedSince = acceptedSince }

    /// Whether nothing is requested.
    package var isEmpty: Bool {
        identities.isEmpty && mailboxes.isEmpty && notifications.isEmpty && secretHashes.isEmpty && audiences.isEmpty
            && locks.isEmpty
    }
}

/// The rows that a store has for a ``PrefetchRequest``; missing ones have no key.
package struct Prefetched: Hashable, Sendable {
    /// The newest ``AcceptedContent/limit`` notifications that were accepted under each identity, newest first; attempts (TTL 0) are
    /// left out.
    package var identities: [NotificationIdentity: [AcceptedContent]] = [:]
    /// The queued notifications of each device, ordered by id.
    package var waiting: [DeviceID: [Mailbox.Entry]] = [:]
    /// The tombstones of each device, which report cleared notifications, ordered by id.
    package var tombstones: [DeviceID: [Mailbox.Tombstone]] = [:]
    /// The recalls of each device, which report withdrawn notifications, ordered by id.
    package var recalls: [DeviceID: [Mailbox.Recall]] = [:]
    /// The device and the timeline's lines of each notification; refused requests have no device and are left out.
    package var notifications: [NotificationID: NotificationFacts] = [:]
    /// The hash of each device's secret; a device that is not enrolled, or was revoked, has none.
    package var secretHashes: [DeviceID: [UInt8]] = [:]
    /// The blocked devices among those with a hash.
    package var blocked: Set<DeviceID> = []
    /// The time at which the presence of each device with a hash was last recorded; its enrolment counts.
    package var lastSeen: [DeviceID: Timestamp] = [:]
    /// The counts of what expired while each device with a hash was away.
    package var missed: [DeviceID: [MissedNotifications]] = [:]
    /// The subscriptions of each device, and the broadcasts beyond its cursor, the first
    /// ``DeviceAudience/broadcastLimit`` of them. Every requested device has a key.
    package var audiences: [DeviceID: DeviceAudience] = [:]
    /// The broadcasts of the audiences.
    package var broadcasts: [NotificationID: BroadcastRecord] = [:]
    /// The apps of the registrations in the audiences.
    package var apps: [AppID: RegisteredApp] = [:]
    /// The rows of the locked mailboxes, after the reservation of ids.
    package var rows: [DeviceID: MailboxRow] = [:]
    /// The locked mailboxes that were read, since another node has changed them.
    package var changed: Set<DeviceID> = []

    /// Creates the result of a store without any of the rows.
    package init() {}
}

/// An `apns-id` within one registration: requests with the same identity and the same content are the same notification.
package struct NotificationIdentity: Hashable, Sendable {
    /// The ``APNsID/lookUpKey``.
    package let apnsID: String
    /// The decoded device token of the request: device, app, environment and generation.
    package let subject: TokenSubject

    /// Creates the identity of a request.
    package init(apnsID: APNsID, subject: TokenSubject) {
        self.apnsID = apnsID.lookUpKey
        self.subject = subject
    }
}

/// The content of an accepted notification, by which a repetition is distinguished from another notification under its `apns-id`.
///
/// The expiration is not compared: a library that tries again may have computed it anew.
package struct AcceptedContent: Hashable, Sendable {
    /// The number of notifications under one identity with which a request is compared.
    package static let limit = 8

    /// The notification's internal id.
    package var id: NotificationID
    /// The push type; `nil` where the provider specified none.
    package var pushType: PushType?
    /// The priority.
    package var priority: Priority
    /// The collapse id; `nil` where it replaces nothing.
    package var collapseID: String?
    /// The payload; `nil` where it is no longer kept, and every payload is taken for the same.
    package var payload: [UInt8]?

    /// Creates the content of a stored notification.
    package init(
        id: NotificationID, pushType: PushType?, priority: Priority, collapseID: String?, payload: [UInt8]?
    ) {
        self.id = id
        self.pushType = pushType
        self.priority = priority
        self.collapseID = collapseID
        self.payload = payload
    }

    /// Creates the content of a row.
    package init(_ record: NotificationRecord) {
        let payload: [UInt8]? = if case .own(let bytes) = record.payload { bytes } else { nil }
        self.init(
            id: record.id, pushType: record.pushType, priority: record.priority, collapseID: record.collapseID,
            payload: payload)
    }

    /// Whether a request under the same identity is a repetition of this one.
    func isRepeated(by acceptance: AcceptedNotification) -> Bool {
        let notification = acceptance.notification
        return pushType == notification.pushType && priority == notification.priority
            && collapseID == notification.collapseID && (payload.map { $0 == acceptance.payload(as: id) } ?? true)
    }
}

/// The device and app of a notification, and the lines that were appended to its timeline.
package struct NotificationFacts: Hashable, Sendable {
    /// The device for which it was accepted.
    package var device: DeviceID
    /// The app for which it was accepted; `nil` where that was not read.
    package var app: AppID?
    /// The lines, but for `accepted` and `stored`, which the store keeps with the notification.
    package private(set) var lines: [TimelineEntry]

    /// Creates the facts of one notification.
    package init(device: DeviceID, app: AppID? = nil, lines: [TimelineEntry] = []) {
        self.device = device
        self.app = app
        self.lines = lines
    }

    /// Whether the timeline has a line with this state.
    func has(_ state: NotificationState) -> Bool { lines.contains { $0.state == state } }

    /// Adds a line; `false` when there is one with the same time and state.
    mutating func append(_ line: TimelineEntry) -> Bool {
        guard !lines.contains(where: { $0.at == line.at && $0.state == line.state }) else { return false }
        lines.append(line)
        return true
    }
}
