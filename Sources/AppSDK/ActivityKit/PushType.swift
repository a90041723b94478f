import AgentProtocol

/// The pushes that update a Live Activity.
public struct PushType: Hashable, Sendable {
    let pushes: LiveActivityPushes

    /// Pushes to a token of the activity's own (``Activity/pushTokenUpdates``).
    public static let token = PushType(pushes: .token)

    /// Pushes to everybody who subscribed to a broadcast channel, by its id.
    public static func channel(_ channelId: String) -> PushType { PushType(pushes: .channel(channelId)) }
}
