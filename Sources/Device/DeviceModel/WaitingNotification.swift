import AgentWire
import PushModel

/// A notification of the store, as far as handing over and presenting need it.
package struct WaitingNotification: Sendable, Hashable {
    /// Its place in the order of arrival.
    package var sequence: Int64
    package var id: NotificationID
    package var app: String
    package var apnsID: String
    package var identifier: String
    /// The payload's JSON text.
    package let payload: String
    package var acceptedAt: Timestamp
    package var handle: String?
    /// What an app's own notification says, and what made it appear.
    package let content: NotificationContent?
    package var trigger: NotificationTrigger?
    package var shows: PresentationOptions = [.screen, .list, .sound]

    /// What it says, wherever that is written.
    package let says: NotificationContent
    /// The handlers that an active app gets it with.
    package let kind: DeliveryKind

    /// Reads the payload, once, where there is no content.
    package init(
        sequence: Int64, id: NotificationID, app: String, apnsID: String, identifier: String, payload: String,
        acceptedAt: Timestamp, content: NotificationContent? = nil
    ) {
        self.sequence = sequence
        self.id = id
        self.app = app
        self.apnsID = apnsID
        self.identifier = identifier
        self.payload = payload
        self.acceptedAt = acceptedAt
        self.content = content
        if let content {
            (says, kind) = (content, .foreground)
        } else {
            let delivery = PayloadDelivery(payload: payload)
            (says, kind) = (delivery.content, delivery.kind)
        }
    }

    /// The form in which apps get it.
    package var delivered: DeliveredNotification {
        DeliveredNotification(
            id: id.rawValue, identifier: identifier, apnsID: id.rawValue > 0 ? apnsID : nil, topic: app,
            date: acceptedAt.rawValue, payload: payload, content: content,
            trigger: trigger)
    }
}

/// A response that an app has not handled yet.
package struct WaitingResponse: Sendable, Hashable {
    package var sequence: Int64
    package var notification: WaitingNotification
    package var action: String
    package var text: String?

    package init(sequence: Int64, notification: WaitingNotification, action: String, text: String? = nil) {
        self.sequence = sequence
        self.notification = notification
        self.action = action
        self.text = text
    }
}

/// What the store knows of an app's registration.
package enum Registration: Sendable, Hashable {
    case unknown
    case token(String)
    /// The app ended it, and has not asked for a new one.
    case ended
}
