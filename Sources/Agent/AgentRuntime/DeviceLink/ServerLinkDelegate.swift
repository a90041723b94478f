import AgentEngine
import AgentProtocol
import PushCore

/// Receives the events of a link. Called on the link's event loop, in the order of the events; may call the link.
package protocol ServerLinkDelegate: AnyObject, Sendable {
    /// The device has its id.
    func enrolled(as device: DeviceID)
    /// The server accepted the login: messages can be sent to it.
    func sessionOpened()
    /// A session was lost or could not be opened, and why; the next attempt is made after a pause.
    func sessionClosed(reason: String)
    /// Notifications arrived. When they are durable, ``ServerLink/acknowledge(_:in:)`` acknowledges them, unless their
    /// session is over: then the server sends them again.
    func notificationsArrived(_ notifications: [OutgoingNotification], in session: Int)
    /// The server knows that these are stored here: their ids need not be kept for the next login.
    func confirmed(_ ids: [NotificationID])
    /// These receipts go to the server, perhaps again.
    func reporting(_ receipts: [Receipt])
    /// The server has these receipts (first and last place in the outbox).
    func receiptsConfirmed(_ places: ClosedRange<OutboxPlace>)
    /// The public key that an app's registration is to publish, whose private half is durable; `nil` for none.
    func keyToPublish(app: BundleID) throws -> RecipientPublicKey?
    /// An app's device token, which is stored; the server has the key that ``keyToPublish(app:)`` gave.
    func tokenReceived(_ token: String, app: BundleID)
    /// The server has forgotten an app's token, and so has the store.
    func tokenEnded(app: BundleID)
    /// The server has not forgotten an app's token: its code, with which it refuses that; `nil` where it could not be
    /// asked, and is asked again.
    func tokenNotEnded(app: BundleID, code: String?)
    /// The server will not give an app a token: its code.
    func tokenRefused(app: BundleID, code: String)
    /// A relay frame arrived, from another device or from the server.
    func relayed(_ frame: [UInt8])
    /// The session over which was relayed is over.
    func relayingEnded()
    /// Commits the pending writes to the store before the link continues.
    func commitWrites()
    /// The link could not read the store, or not write to it.
    func storeUnusable(_ error: any Error)
}

extension ServerLinkDelegate {
    /// Does nothing, for devices that are not watched.
    package func reporting(_ receipts: [Receipt]) {}
    /// Does nothing, for devices that do not relay.
    package func relayed(_ frame: [UInt8]) {}
    /// Does nothing, for devices that do not relay.
    package func relayingEnded() {}
}
