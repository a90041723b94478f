import AgentWire
import DeviceModel
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

    /// An arrival with its plan. Each parameter is the property of its name.
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
