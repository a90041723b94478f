import Mailbox
import PushModel

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
    /// The devices whose hashed secrets are wanted.
    public var secretHashes: Set<DeviceID> = []

    /// A request for nothing yet.
    public init(acceptedSince: Timestamp) { self.acceptedSince = acceptedSince }

    /// Whether nothing is asked for.
    public var isEmpty: Bool {
        identities.isEmpty && mailboxes.isEmpty && notifications.isEmpty && secretHashes.isEmpty
    }
}

/// What a store holds of what a ``PrefetchRequest`` asks for; what it does not hold has no key.
public struct Prefetched: Hashable, Sendable {
    /// The newest notification that was accepted under each identity; attempts (TTL 0) are left out.
    public var identities: [NotificationIdentity: NotificationID] = [:]
    /// What waits for each device, ordered by id.
    public var waiting: [DeviceID: [Mailbox.Entry]] = [:]
    /// The device and the timeline's lines of each notification; refused requests have no device and are left out.
    public var notifications: [NotificationID: NotificationFacts] = [:]
    /// The hash of each device's secret; none for one that is not enrolled, or was revoked.
    public var secretHashes: [DeviceID: [UInt8]] = [:]

    /// The answer of a store that holds nothing of it.
    public init() {}
}

/// An `apns-id` within one registration: requests that share it are the same notification.
public struct NotificationIdentity: Hashable, Sendable {
    /// In lower case.
    public let apnsID: String
    /// What the request's device token means: device, app, environment and generation.
    public let subject: TokenSubject

    /// The identity of a request.
    ///
    /// - Parameter apnsID: In any case.
    public init(apnsID: String, subject: TokenSubject) {
        self.apnsID = apnsID.lowercased()
        self.subject = subject
    }
}

/// Whose a notification is, and the lines that were appended to its timeline.
public struct NotificationFacts: Hashable, Sendable {
    /// The device for which it was accepted.
    public var device: DeviceID
    /// The lines, but for `accepted` and `stored`, which the store keeps with the notification.
    public private(set) var lines: [TimelineEntry]

    /// The facts of one notification.
    public init(device: DeviceID, lines: [TimelineEntry] = []) {
        self.device = device
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
