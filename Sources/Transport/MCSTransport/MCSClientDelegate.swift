import DeviceSession
import PushModel

/// Hears what happens on a device's connection. All calls come on the connection's event loop, in order.
///
/// One delegate may serve many connections. It may call the connection from within its methods.
public protocol MCSClientDelegate: AnyObject, Sendable {
    /// The server accepted the login; receipts may be sent.
    func loggedIn(_ connection: MCSClientConnection, serverTime: Timestamp)

    /// Everything that one read brought: store it in one transaction, then call
    /// ``MCSClientConnection/stored(_:)`` with the ids, also with those that were stored before.
    func received(_ connection: MCSClientConnection, _ notifications: [OutgoingNotification])

    /// The server will not send these again: forget that they were received.
    func confirmed(_ connection: MCSClientConnection, _ ids: [NotificationID])

    /// The server does not take what was sent under this persistent id; `upstreamConfirmed` names it next. Nothing need be
    /// done.
    func upstreamRefused(_ connection: MCSClientConnection, persistentID: String, _ refusal: UpstreamRefusal)

    /// What was sent under these persistent ids is durable at the server, or was refused.
    func upstreamConfirmed(_ connection: MCSClientConnection, _ persistentIDs: [String])

    /// A batch was not sent: not logged in, or too many are unconfirmed. Send it again after a confirmation.
    func upstreamNotSent(_ connection: MCSClientConnection, persistentID: String)

    /// A data stanza that is no notification was acknowledged and dropped; the text says what was wrong with it.
    func passedOver(_ connection: MCSClientConnection, persistentID: String, reason: String)

    /// What another device, or the server, says about relaying; it is not stored anywhere.
    func relayed(_ connection: MCSClientConnection, _ frame: [UInt8])

    /// The connection could not be made, or is over. Called exactly once, and last.
    func closed(_ connection: MCSClientConnection, _ reason: MCSClientCloseReason)
}

extension MCSClientDelegate {
    /// Does nothing, for devices that do not relay.
    public func relayed(_ connection: MCSClientConnection, _ frame: [UInt8]) {}

    /// Does nothing: what was refused is confirmed too.
    public func upstreamRefused(
        _ connection: MCSClientConnection, persistentID: String, _ refusal: UpstreamRefusal
    ) {}
}
