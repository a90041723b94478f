import PushModel

/// What the timeline API asks of the server.
public protocol TimelineService: Sendable {
    /// The notifications that an internal id or an `apns-id` names, each with its timeline.
    ///
    /// - Parameters:
    ///   - reference: Decimal internal id, or an `apns-id` (compared without regard to case).
    ///   - team: Only this team's notifications are found; `nil` finds every team's (loopback development).
    /// - Returns: Empty for unknown ids and for foreign teams' alike.
    func timelines(of reference: String, team: TeamID?) async throws -> [NotificationTimeline]
}

/// One notification and all that is known of its way.
public struct NotificationTimeline: Hashable, Sendable {
    /// The notification's internal id.
    public var id: NotificationID
    /// Its `apns-id`: the provider's, or the one that the server made.
    public var apnsID: APNsID
    /// The team that sent it.
    public var team: TeamID
    /// The app's topic; of a refused request the text that the provider sent, of one that was not recorded empty.
    public var topic: Topic
    /// The device; `nil` for a refused request, and where ``recorded`` is `false`.
    public var device: DeviceID?
    /// The environment; `nil` where ``device`` is.
    public var environment: PushEnvironment?
    /// Whether it was to be delivered once or never (TTL 0), and waits nowhere.
    public var isAttempt: Bool
    /// `false` when the notification was accepted but its timeline was not kept, because the bounded
    /// queue of what is written behind was full.
    public var recorded: Bool
    /// Its states in order, `accepted` or `failed` first; empty where ``recorded`` is `false`.
    public var entries: [TimelineEntry]
    /// The sums over its copies where it is a broadcast, whose ``topic`` is empty; `nil` for a notification of one device.
    public var broadcast: BroadcastSummary?

    /// Makes the timeline of one notification.
    public init(
        id: NotificationID, apnsID: APNsID, team: TeamID, topic: Topic, device: DeviceID?,
        environment: PushEnvironment?, isAttempt: Bool = false, recorded: Bool = true, entries: [TimelineEntry],
        broadcast: BroadcastSummary? = nil
    ) {
        self.id = id
        self.apnsID = apnsID
        self.team = team
        self.topic = topic
        self.device = device
        self.environment = environment
        self.isAttempt = isAttempt
        self.recorded = recorded
        self.entries = entries
        self.broadcast = broadcast
    }
}
