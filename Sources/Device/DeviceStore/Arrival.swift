import AgentWire
import DeviceModel
import PushModel

/// A notification that came over the device channel, and what the agent made of it.
package struct Arrival: Sendable {
    package var notification: OutgoingNotification
    /// Which session of this run brought it.
    package var session: Int
    package var receivedAt: Timestamp
    /// The handlers that an active app gets it with. An app that may run in the background is started for its own.
    package var kind: DeliveryKind
    /// What happens to it now.
    package var disposition: PlannedNotification.Disposition

    package init(
        notification: OutgoingNotification, session: Int, receivedAt: Timestamp, kind: DeliveryKind,
        disposition: PlannedNotification.Disposition
    ) {
        self.notification = notification
        self.session = session
        self.receivedAt = receivedAt
        self.kind = kind
        self.disposition = disposition
    }
}
