import AgentEngine
import PushCore

/// The events and directives of the state.
extension DesktopNotificationState {
    enum Event: Sendable {
        case present(Presentation)
        /// A notification that was posted, or is to be posted, gets a new look.
        case update(Presentation)
        case withdraw(NotificationID)
        /// `Notify` returned the server's id of the notification.
        case notified(ticket: UInt64, serverID: UInt32)
        case notifyFailed(ticket: UInt64, reason: String)
        case features(NotificationServerInformation, ticket: UInt64)
        case featuresFailed(ticket: UInt64, reason: String)
        /// Another process owns the server's name now; `nil` when no process does.
        case ownerChanged(String?)
        case activationToken(serverID: UInt32, token: String)
        case actionInvoked(serverID: UInt32, key: String)
        case replied(serverID: UInt32, text: String)
        case closed(serverID: UInt32, reason: UInt32)
        /// The bus is gone, and with it all open calls.
        case disconnected(reason: String)
    }

    enum Directive: Sendable, Hashable {
        /// Call `Notify` and answer with this ticket.
        case notify(NotifyMessage, ticket: UInt64)
        case close(serverID: UInt32)
        /// Ask the server what it can do, and answer with this ticket.
        case askFeatures(ticket: UInt64)
        case answer(NotificationID, PresentationOutcome)
        case tell(PresenterEvent)
        /// Play a sound that the server does not play.
        case play(Presentation.Sound, volume: Double?)
    }
}
