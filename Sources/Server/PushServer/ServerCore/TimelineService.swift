import PushCore

/// The queries of the timeline API.
package protocol TimelineService: Sendable {
    /// The notifications with an internal id or an `apns-id`, each with its timeline.
    ///
    /// - Parameters:
    ///   - reference: Decimal internal id, or an `apns-id` (compared without regard to case).
    ///   - team: The team whose notifications are found; `nil` finds every team's (loopback development).
    /// - Returns: The notifications; empty for unknown ids and for those of other teams alike.
    func timelines(of reference: String, team: TeamID?) async throws -> [NotificationTimeline]
}

/// A notification with its recorded history.
package struct NotificationTimeline: Hashable, Sendable {
    /// The notification's internal id.
    package var id: NotificationID
    /// The `apns-id`: the provider's, or the one that the server made.
    package var apnsID: APNsID
    /// The team that sent it.
    package var team: TeamID
    /// The app's topic. For a refused request, the text that the provider sent; empty for one that was not recorded.
    package var topic: Topic
    /// The device; `nil` for a refused request, and where ``recorded`` is `false`.
    package var device: DeviceID?
    /// The environment; `nil` where ``device`` is.
    package var environment: PushEnvironment?
    /// Whether it is delivered once or never (TTL 0), and not queued.
    package var isAttempt: Bool
    /// Whether the timeline was kept; `false` when the notification was accepted, but the bounded queue of notes was
    /// full.
    package var recorded: Bool
    /// The states in order, `accepted` or `failed` first; empty where ``recorded`` is `false`.
    package var entries: [TimelineEntry]
    /// The summary of the copies of a broadcast, whose ``topic`` is empty; `nil` for a notification of one device.
    package var broadcast: BroadcastSummary?

    /// Creates the timeline of one notification.
    package init(
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
