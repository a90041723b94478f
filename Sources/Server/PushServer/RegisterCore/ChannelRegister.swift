import APNsProtocol
import PushCore

/// A broadcast channel of an app.
package struct BroadcastChannel: Hashable, Sendable {
    /// The channel's id.
    package var id: ChannelID
    /// The app that owns it.
    package var app: AppID
    /// The environment in which it was created; it exists in no other.
    package var environment: PushEnvironment
    /// The messages that are kept for devices that are not connected.
    package var policy: ChannelStoragePolicy
    /// The time of its creation.
    package var createdAt: Timestamp

    /// Brings the parts together.
    package init(
        id: ChannelID, app: AppID, environment: PushEnvironment, policy: ChannelStoragePolicy, createdAt: Timestamp
    ) {
        self.id = id
        self.app = app
        self.environment = environment
        self.policy = policy
        self.createdAt = createdAt
    }
}

/// Storage of broadcast channels; a port that stores implement.
package protocol ChannelRegister: Sendable {
    /// Stores a new channel.
    ///
    /// - Parameter limit: The maximum number of channels of the app in the environment.
    /// - Returns: `false` where the app has as many; nothing is stored then.
    func addChannel(_ channel: BroadcastChannel, limit: Int) async throws -> Bool

    /// Deletes a channel; `false` where there is none.
    func removeChannel(_ id: ChannelID, of place: AppPlace) async throws -> Bool

    /// A channel of an app; `nil` where there is none.
    func channel(_ id: ChannelID, of place: AppPlace) async throws -> BroadcastChannel?

    /// The channels of an app, in the order of their ids.
    func channels(of place: AppPlace) async throws -> [BroadcastChannel]
}
