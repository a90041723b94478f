import Fanout
import Mailbox
import PushModel
import RegisterCore

/// What a batch has to know of a store before it can be decided.
public struct PrefetchRequest: Hashable, Sendable {
    /// The identities whose notifications are wanted, if accepted at or after ``acceptedSince``.
    public var identities: Set<NotificationIdentity> = []
    /// The beginning of the window in which an `apns-id` names one notification.
    public var acceptedSince: Timestamp
    /// The devices whose waiting rows are wanted.
    public var mailboxes: Set<DeviceID> = []
    /// The notifications whose device and timeline are wanted.
    public var notifications: Set<NotificationID> = []
    /// The devices whose hashed secrets are wanted, and when they were seen.
    public var secretHashes: Set<DeviceID> = []
    /// The devices whose subscriptions and next broadcasts are wanted.
    public var audiences: Set<DeviceID> = []
    /// Those of ``audiences`` whose cursor, subscriptions and registrations are known: only their broadcasts are read.
    public var known: [DeviceID: DeviceAudience] = [:]

    /// A request for nothing yet.
    public init(acceptedSince: Timestamp) { self.acceptedSince = acceptedSince }

    /// Whether nothing is asked for.
    public var isEmpty: Bool {
        identities.isEmpty && mailboxes.isEmpty && notifications.isEmpty && secretHashes.isEmpty && audiences.isEmpty
    }
}

/// What a store holds of what a ``PrefetchRequest`` asks for; what it does not hold has no key.
public struct Prefetched: Hashable, Sendable {
    /// The newest notification that was accepted under each identity; attempts (TTL 0) are left out.
    public var identities: [NotificationIdentity: NotificationID] = [:]
    /// What waits for each device, ordered by id.
    public var waiting: [DeviceID: [Mailbox.Entry]] = [:]
    /// What each of those devices is to be told was cleared, ordered by id.
    public var tombstones: [DeviceID: [Mailbox.Tombstone]] = [:]
    /// What each of those devices is to be told was withdrawn, ordered by id.
    public var recalls: [DeviceID: [Mailbox.Recall]] = [:]
    /// The device and the timeline's lines of each notification; refused requests have no device and are left out.
    public var notifications: [NotificationID: NotificationFacts] = [:]
    /// The hash of each device's secret; none for one that is not enrolled, or was revoked.
    public var secretHashes: [DeviceID: [UInt8]] = [:]
    /// Those of the devices with a hash that are blocked.
    public var blocked: Set<DeviceID> = []
    /// When each device with a hash was noted to be there; its enrolment counts.
    public var lastSeen: [DeviceID: Timestamp] = [:]
    /// The subscriptions of each device, and the broadcasts beyond its cursor; the first
    /// ``DeviceAudience/broadcastLimit`` of them. Every device that was asked for has a key.
    public var audiences: [DeviceID: DeviceAudience] = [:]
    /// The broadcasts that are among the audiences.
    public var broadcasts: [NotificationID: BroadcastRecord] = [:]
    /// The apps of the registrations that are among the audiences.
    public var apps: [AppID: RegisteredApp] = [:]

    /// The answer of a store that holds nothing of it.
    public init() {}
}

/// An `apns-id` within one registration: requests that share it are the same notification.
public struct NotificationIdentity: Hashable, Sendable {
    /// The ``APNsID/lookUpKey``.
    public let apnsID: String
    /// What the request's device token means: device, app, environment and generation.
    public let subject: TokenSubject

    /// The identity of a request.
    public init(apnsID: APNsID, subject: TokenSubject) {
        self.apnsID = apnsID.lookUpKey
        self.subject = subject
    }
}

/// Whose a notification is, and the lines that were appended to its timeline.
public struct NotificationFacts: Hashable, Sendable {
    /// The device for which it was accepted.
    public var device: DeviceID
    /// The app for which it was accepted; `nil` where that was not read.
    public var app: AppID?
    /// The lines, but for `accepted` and `stored`, which the store keeps with the notification.
    public private(set) var lines: [TimelineEntry]

    /// The facts of one notification.
    public init(device: DeviceID, app: AppID? = nil, lines: [TimelineEntry] = []) {
        self.device = device
        self.app = app
        self.lines = lines
    }

    /// Whether the timeline has a line with this state.
    func has(_ state: NotificationState) -> Bool { lines.contains { $0.state == state } }

    /// Adds a line; `false` when there is one of its moment and state.
    mutating func append(_ line: TimelineEntry) -> Bool {
        guard !lines.contains(where: { $0.at == line.at && $0.state == line.state }) else { return false }
        lines.append(line)
        return true
    }
}
