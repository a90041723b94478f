import APNsProtocol
import PushCore

/// The broadcast channels of apps: their management, and messages to the devices that follow one.
///
/// A channel is a topic under a name that no topic of FCM can have, so a message is stored once, whatever the number of
/// devices.
package struct BroadcastChannels: Sendable {
    private let register: any ChannelRegister
    private let broadcasts: Broadcasts
    private let subscriptions: TopicSubscriptions
    private let clock: @Sendable () -> Timestamp

    /// The maximum number of channels of an app in an environment.
    package static let limit = 10_000
    /// The longest time for which the most recent message of a channel is kept.
    static let longestWait = Duration.seconds(8 * 3600)

    /// Creates an instance from its properties.
    package init(
        register: any ChannelRegister, broadcasts: Broadcasts, subscriptions: TopicSubscriptions,
        clock: @escaping @Sendable () -> Timestamp
    ) {
        self.register = register
        self.broadcasts = broadcasts
        self.subscriptions = subscriptions
        self.clock = clock
    }

    /// Creates a channel.
    ///
    /// - Returns: The channel's id; `nil` where the app has as many channels as it may.
    package func create(_ policy: ChannelStoragePolicy, of place: AppPlace) async throws -> ChannelID? {
        var generator = SystemRandomNumberGenerator()
        let channel = BroadcastChannel(
            id: .random(using: &generator), app: place.app, environment: place.environment, policy: policy,
            createdAt: clock())
        return try await register.addChannel(channel, limit: Self.limit) ? channel.id : nil
    }

    /// A channel; `nil` where there is none.
    package func channel(_ id: ChannelID, of place: AppPlace) async throws -> BroadcastChannel? {
        try await register.channel(id, of: place)
    }

    /// Deletes a channel; `false` where there is none. Messages that are stored for it are delivered nevertheless.
    package func delete(_ id: ChannelID, of place: AppPlace) async throws -> Bool {
        try await register.removeChannel(id, of: place)
    }

    /// The channels of an app, in the order of their ids.
    package func channels(of place: AppPlace) async throws -> [BroadcastChannel] {
        try await register.channels(of: place)
    }

    /// Accepts a message for all devices that follow a channel.
    ///
    /// - Returns: The id under which the message is durable.
    /// - Throws: The store's error; nothing was accepted then.
    package func publish(
        _ payload: [UInt8], to channel: BroadcastChannel, of team: TeamID, expiry: Expiry, priority: Priority
    ) async throws -> NotificationID {
        let name = Self.topic(of: channel.id, AppPlace(app: channel.app, environment: channel.environment))
        return try await broadcasts.send(
            TopicMessage(
                to: .channel(name, id: channel.id.description), of: channel.app, pushType: .liveactivity,
                expiry: stored(expiry, by: channel.policy), priority: priority,
                collapseID: LiveActivityTarget.channel(channel.id.description).collapseID
            ) { _ in .apns(payload) }, from: team)
    }

    private func stored(_ expiry: Expiry, by policy: ChannelStoragePolicy) -> Expiry {
        let longest = clock() + Self.longestWait
        return switch (policy, expiry) {
        case (.noMessageStored, _), (_, .once): .once
        case (_, .until(let instant)): .until(min(instant, longest))
        case (_, .policyDefault): .until(longest)
        }
    }

    static func topic(of channel: ChannelID, _ place: AppPlace) -> TopicName {
        TopicName(channel: "\(channel)", app: place.app, environment: place.environment)
    }

    /// Has an app on a device follow a channel, or follow it no longer. The caller has checked the device's secret.
    ///
    /// - Parameters:
    ///   - text: The channel's id.
    ///   - token: The app's registration token.
    /// - Throws: An error when the store cannot be read or written; nothing was changed.
    package func setSubscription(
        _ text: String, ofToken token: String, device: DeviceID, isLeaving: Bool
    ) async throws -> DeviceTopicOutcome {
        guard let id = ChannelID(text: text) else { return .invalidTopic }
        guard let subject = subscriptions.subject(ofToken: token), subject.device == device else {
            return .foreignToken
        }
        let place = AppPlace(app: subject.app, environment: subject.environment)
        if !isLeaving, try await register.channel(id, of: place) == nil { return .invalidTopic }
        return try await subscriptions.setSubscription(
            to: Self.topic(of: id, place), ofToken: token, isLeaving: isLeaving)
    }
}
