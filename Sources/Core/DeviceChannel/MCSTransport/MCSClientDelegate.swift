import PushCore

/// Receives the events of a device's connection. All calls are made on the connection's event loop, in order.
///
/// One delegate may serve many connections. It may call the connection from within its methods.
package protocol MCSClientDelegate: AnyObject, Sendable {
    /// The server accepted the login; receipts may be sent.
    func loggedIn(_ connection: MCSClientConnection, serverTime: Timestamp)

    /// Handles all notifications of one read: store them in one transaction, then call
    /// ``MCSClientConnection/acknowledge(_:)`` with the ids, including those that were stored before.
    func received(_ connection: MCSClientConnection, _ notifications: [OutgoingNotification])

    /// Handles ids that the server will not send again: the record of their receipt can be deleted.
    func confirmed(_ connection: MCSClientConnection, _ ids: [NotificationID])

    /// Handles the server's refusal of a message with this persistent id; `upstreamConfirmed` contains the id next. No
    /// action is needed.
    func upstreamRefused(_ connection: MCSClientConnection, persistentID: String, _ refusal: UpstreamRejection)

    /// Handles persistent ids whose messages are durable at the server, or were refused.
    func upstreamConfirmed(_ connection: MCSClientConnection, _ persistentIDs: [String])

    /// Handles a batch that was not sent: not logged in, or too many are unconfirmed. Send it again after a
    /// confirmation.
    func upstreamNotSent(_ connection: MCSClientConnection, persistentID: String)

    /// Handles a data stanza that is no notification and was acknowledged and dropped; the text describes its fault.
    func didDropStanza(_ connection: MCSClientConnection, persistentID: String, reason: String)

    /// Handles a relay frame of another device or the server, which is not stored anywhere.
    func relayed(_ connection: MCSClientConnection, _ frame: [UInt8])

    /// Handles the end of the connection, or of the attempt to connect. Called exactly once, and last.
    func closed(_ connection: MCSClientConnection, _ reason: MCSClientCloseReason)
}

extension MCSClientDelegate {
    /// Does nothing, for devices that do not relay.
    package func relayed(_ connection: MCSClientConnection, _ frame: [UInt8]) {}

    /// Does nothing: refused messages are confirmed too.
    package func upstreamRefused(
        _ connection: MCSClientConnection, persistentID: String, _ refusal: UpstreamRejection
    ) {}
}
