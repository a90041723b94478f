import AgentWire
import DeviceModel
import PushEncryption
import PushModel

/// A notification that came over the device channel, and what the agent made of it.
package struct Arrival: Sendable {
    /// The notification as the server sent it.
    package var notification: OutgoingNotification
    /// The number of the session that brought it, by the link's count in this run of the agent.
    package var session: Int
    /// When it came, by this device's wall clock.
    package var receivedAt: Timestamp
    /// Which handlers of an app in front get it. Only a kind with the background handler may wake the app.
    package var kind: DeliveryKind
    /// What happens to it once it is stored, by its plan.
    package var disposition: PlannedNotification.Disposition
    /// What became of its encrypted payload; `nil` where it has none, or that is left to its app.
    package var decryption: PayloadDecryption?
    /// What its app's service extension made of it; `nil` where its payload says what is shown.
    package var content: NotificationContent?

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

/// What became of an encrypted payload on the device.
package enum PayloadDecryption: Hashable, Sendable {
    /// It was opened, and what was in it took its place. The fingerprint is that of the message.
    case opened(fingerprint: [UInt8])
    /// It stays shut, and the rest of the payload is shown.
    case failed(DecryptionFailure)
}
