import AgentEngine
import PushCore
import WebPushProtocol

/// Asks the server for a device id and for device tokens; a port, implemented over HTTP.
package protocol EnrolmentClient: Sendable {
    /// Enrols this device, or checks in a known one.
    func checkIn(known: DeviceIdentity?) async throws(EnrolmentError) -> DeviceIdentity
    /// Requests the device token of an app: 64 hexadecimal digits. Repeating it gives the same token.
    ///
    /// - Parameter encryptionKey: The public key that the server publishes to the app's senders; `nil` for none.
    func register(
        _ identity: DeviceIdentity, topic: Topic, team: TeamID, environment: PushEnvironment,
        encryptionKey: RecipientPublicKey?
    ) async throws(EnrolmentError) -> String
    /// Ends an app's registration.
    func unregister(
        _ identity: DeviceIdentity, topic: Topic, team: TeamID, environment: PushEnvironment
    ) async throws(EnrolmentError)
    /// Has an app's registration join a topic, or leave it; repeating it changes nothing.
    ///
    /// - Parameters:
    ///   - token: The app's device token.
    ///   - name: The topic without `/topics/`; a broadcast channel as its ``LiveActivityTarget/collapseID``.
    func setTopicSubscription(
        _ identity: DeviceIdentity, topic: Topic, token: String, name: String, joins: Bool
    ) async throws(EnrolmentError)
    /// Requests the endpoint of a channel of Web Push; repeating it gives the same endpoint.
    ///
    /// - Parameter key: The public key of the only application server that may send, in base64url; `nil` for none.
    func registerChannel(
        _ identity: DeviceIdentity, channel: PushChannelID, key: String?
    ) async throws(EnrolmentError) -> String
    /// Has the server forget a channel; no error where it knows none.
    func endChannel(_ identity: DeviceIdentity, channel: PushChannelID) async throws(EnrolmentError)
}

/// Why the server gave no id or token.
package enum EnrolmentError: Error, Sendable, Equatable {
    /// Unknown device, wrong secret, or (for a new device) no valid enrolment key.
    case notAuthenticated
    /// The server will give the same answer again: its code.
    case refused(String)
    /// Worth another try.
    case unavailable(String)
}
