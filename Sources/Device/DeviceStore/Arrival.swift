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
    package var disposition: Disposition

    package init(
        notification: OutgoingNotification, session: Int, receivedAt: Timestamp, kind: DeliveryKind,
        disposition: Disposition
    ) {
        self.notification = notification
        self.session = session
        self.receivedAt = receivedAt
        self.kind = kind
        self.disposition = disposition
    }

    /// What happens to it now.
    package enum Disposition: Sendable, Hashable {
        /// Its app is there and is asked first.
        case waits
        /// Its app is not there: it appears at once, and is handed over later.
        case waitsShown(PresentationOptions)
        /// It appears at once, and its app does not get it unless somebody taps.
        case isShown(PresentationOptions)
        /// It ends here, with this state.
        case ends(NotificationState, note: String?)
    }
}
