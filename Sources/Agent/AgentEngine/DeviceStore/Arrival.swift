import AgentProtocol
import PushCore

/// A notification that came over the device channel, and what the agent made of it.
package struct Arrival: Sendable {
    /// The notification as the server sent it.
    package var notification: OutgoingNotification
    /// The number of the session that brought it, by the link's count in this run of the agent.
    package var session: Int
    /// When it came, by this device's wall clock.
    package var receivedAt: Timestamp
    /// The kind of delivery to an app in the foreground. Only a kind with the background handler may wake the app.
    package var kind: DeliveryKind
    /// The action once the notification is stored, by its plan.
    package var disposition: PlannedNotification.Disposition
    /// The outcome of decrypting the payload; `nil` where it is not encrypted, or its app decrypts it.
    package var decryption: PayloadDecryption?
    /// The content from the app's service extension; `nil` where the payload's own is shown.
    package var content: NotificationContent?
    /// Whether the payload asks for a service extension, and the app has none.
    package var lacksExtension = false
    /// Whether the payload names a picture and asks for no extension that would fetch it.
    package var hasUnaskedPicture = false

    /// An arrival with its plan. Each parameter is the property of its name.
    package init(
        notification: OutgoingNotification, session: Int, receivedAt: Timestamp, kind: DeliveryKind,
        disposition: PlannedNotification.Disposition, decryption: PayloadDecryption? = nil,
        content: NotificationContent? = nil
    ) {
        self.notification = notification
        self.session = session
        self.receivedAt = receivedAt
        self.kind = kind
        self.disposition = disposition
        self.decryption = decryption
        self.content = content
    }
}

/// The outcome of decrypting a payload on the device.
package enum PayloadDecryption: Hashable, Sendable {
    /// The payload was opened, and what was in it took its place. The fingerprint is that of the message.
    case opened(fingerprint: [UInt8])
    /// The payload could not be opened, and the rest of the payload is shown.
    case failed(DecryptionError)
}
