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
    public var id: NotificationID
    public var apnsID: String
    public var team: TeamID
    public var topic: Topic
    public var device: DeviceID?
    public var environment: PushEnvironment?
    /// Whether it was to be delivered once or never (TTL 0), and waits nowhere.
    public var isAttempt: Bool
    /// `false` when the notification was accepted but its timeline was not kept, because the bounded
    /// queue of what is written behind was full.
    public var recorded: Bool
    public var entries: [TimelineEntry]

    public init(
        id: NotificationID, apnsID: String, team: TeamID, topic: Topic, device: DeviceID?,
        environment: PushEnvironment?, isAttempt: Bool = false, recorded: Bool = true, entries: [TimelineEntry]
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
    }
}

/// Checks a provider's bearer token for the APIs that take it beside APNs' own.
public protocol ProviderAuthentication: Sendable {
    /// The team of a valid token. `authorization` is the header's value, `bearer JWT`.
    ///
    /// - Throws: when the store cannot be read; whether the token is valid is not known then.
    func team(authorization: String) async throws -> ProviderVerdict
}

/// What a provider's credential is worth.
public enum ProviderVerdict: Hashable, Sendable {
    case team(TeamID)
    case missing
    case expired
    case invalid
}
