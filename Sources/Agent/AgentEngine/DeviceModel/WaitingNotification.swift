import AgentProtocol
import PushCore

/// A notification of the store, as far as handing over and presenting need it.
package struct WaitingNotification: Sendable, Hashable {
    /// The place of a notification in the order of arrival.
    package typealias Place = StoreKey<WaitingNotification>

    /// The notification's place in the order of arrival.
    package var sequence: Place
    /// The internal id; negative for an app's own notification.
    package var id: NotificationID
    /// The bundle id of the app that it is for.
    package var app: BundleID
    /// The UUID by which its provider knows it; apps only receive that of remote notifications.
    package var apnsID: String
    /// The app's name for it: a later one with it takes its place.
    package var identifier: String
    /// The payload's JSON text.
    package let payload: String
    /// When the server accepted it, or the device fired it.
    package var acceptedAt: Timestamp
    /// The presenter's handle for it on the screen; `nil` where it is not shown.
    package var handle: String?
    /// The content that replaces the payload's: of an app's own notification, or as a service extension changed it.
    package let content: NotificationContent?
    /// The trigger of an app's own notification; `nil` for one without a trigger, and for a remote one.
    package var trigger: NotificationTrigger?
    /// The number of runs of its app that ended while they had it.
    package var attempts = 0
    /// How it appears: the plan's outcome, or what its app chose.
    package var shows: PresentationOptions = [.screen, .list, .sound]

    /// The notification's content: ``content``, else that of the payload.
    package let effectiveContent: NotificationContent
    /// The handlers that an active app gets it with.
    package let kind: DeliveryKind

    /// Reads the payload, once, where there is no content.
    package init(
        sequence: Place, id: NotificationID, app: BundleID, apnsID: String, identifier: String, payload: String,
        acceptedAt: Timestamp, content: NotificationContent? = nil, pushType: PushType? = nil
    ) {
        self.sequence = sequence
        self.id = id
        self.app = app
        self.apnsID = apnsID
        self.identifier = identifier
        self.payload = payload
        self.acceptedAt = acceptedAt
        self.content = content
        if let content, id.rawValue < 0 {
            (effectiveContent, kind) = (content, .foreground)
        } else {
            let delivery = PayloadDelivery(payload: payload)
            (effectiveContent, kind) = (content ?? delivery.content, pushType == .voip ? .call : delivery.kind)
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
    /// The place of a response in their order, by which its app answers for it.
    package typealias Place = StoreKey<WaitingResponse>

    /// The response's place in the order of the responses.
    package var sequence: Place
    /// The notification that was answered.
    package var notification: WaitingNotification
    /// The identifier of the action that the person chose.
    package var action: String
    /// The text that the person typed; `nil` for an action without text.
    package var text: String?
    /// The number of runs of its app that ended while they had it.
    package var attempts = 0

    /// A response that the app is to be given.
    package init(sequence: Place, notification: WaitingNotification, action: String, text: String? = nil) {
        self.sequence = sequence
        self.notification = notification
        self.action = action
        self.text = text
    }
}

/// The stored state of an app's registration.
package enum Registration: Sendable, Hashable {
    /// The store has no entry: the app has not registered in this environment.
    case unknown
    /// The registration is active; its device token, 64 hexadecimal digits.
    case token(String)
    /// The app ended it, and has not asked for a new one.
    case ended
}
