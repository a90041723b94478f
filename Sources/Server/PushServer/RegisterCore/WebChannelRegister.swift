import PushCore
import WebPushProtocol

/// A subscription of a page, which a browser made over Autopush's WebSocket.
package struct WebChannel: Hashable, Sendable {
    /// The browser's device.
    package var device: DeviceID
    /// The id that the browser has drawn.
    package var id: PushChannelID
    /// The app of the subscription.
    package var app: AppID
    /// The environment of the server.
    package var environment: PushEnvironment
    /// The generation of the app's registration on the device: when that ends, the subscription has ended.
    package var generation: UInt16
    /// The public key of the only application server that may send, in base64url; empty where everyone may.
    package var sender: String
    /// When the browser registered it last.
    package var registeredAt: Timestamp

    /// Brings the parts together.
    package init(
        device: DeviceID, id: PushChannelID, app: AppID, environment: PushEnvironment, generation: UInt16,
        sender: String, registeredAt: Timestamp
    ) {
        self.device = device
        self.id = id
        self.app = app
        self.environment = environment
        self.generation = generation
        self.sender = sender
        self.registeredAt = registeredAt
    }
}

/// Storage of browsers' subscriptions; a port that stores implement.
package protocol WebChannelRegister: Sendable {
    /// Stores a subscription, in place of an earlier one with the same id.
    ///
    /// - Parameter limit: The maximum number of subscriptions of a device.
    /// - Returns: `false` where the device has as many others; nothing is stored then.
    func storeWebChannel(_ channel: WebChannel, limit: Int) async throws -> Bool

    /// Deletes a subscription; `false` where there is none.
    func removeWebChannel(_ id: PushChannelID, of device: DeviceID) async throws -> Bool

    /// A subscription of a device; `nil` where there is none.
    func webChannel(_ id: PushChannelID, of device: DeviceID) async throws -> WebChannel?

    /// The subscriptions of a device, in the order of their ids.
    func webChannels(of device: DeviceID) async throws -> [WebChannel]
}
