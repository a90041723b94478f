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
    /// The devices whose hashed secrets and times of presence are read.
    package var secretHashes: Set<DeviceID> = []
    /// The devices whose subscriptions and next broadcasts are read.
    package var audiences: Set<DeviceID> = []
    /// The audiences of ``audiences`` whose cursor, subscriptions and registrations are known: only their broadcasts
    /// are read.
    package var known: [DeviceID: DeviceAudience] = [:]

    /// Creates a request for nothing.
    package init(acceptedSince: Timestamp) { self.acceptedSince = acceptedSince }

    /// Whether nothing is requested.
    package var isEmpty: Bool {
        identities.isEmpty && mailboxes.isEmpty && notifications.isEmpty && secretHashes.isEmpty && audiences.isEmpty
    }
}

/// The rows that a store has for a ``PrefetchRequest``; missing ones have no key.
package struct Prefetched: Hashable, Sendable {
    /// The newest notification that was accepted under each identity; attempts (TTL 0) are left out.
    package var identities: [NotificationIdentity: NotificationID] = [:]
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
    /// The subscriptions of each device, and the broadcasts beyond its cursor, the first
    /// ``DeviceAudience/broadcastLimit`` of them. Every requested device has a key.
    package var audiences: [DeviceID: DeviceAudience] = [:]
    /// The broadcasts of the audiences.
    package var broadcasts: [NotificationID: BroadcastRecord] = [:]
    /// The apps of the registrations in the audiences.
    package var apps: [AppID: RegisteredApp] = [:]

    /// Creates the result of a store without any of the rows.
    package init() {}
}

/// An `apns-id` within one registration: requests with the same identity are the same notification.
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
