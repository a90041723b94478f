import AgentProtocol

/// Receives data messages inside the app, and the events that the app's other handlers receive. It is the counterpart
/// of FirebaseMessaging's method swizzling on Apple's systems.
@MainActor
package protocol MessagingReceiver: AnyObject {
    /// Takes a data message of the direct channel; it counts as handled when this returns.
    func receiveData(_ message: DeliveredNotification)

    /// The direct channel is open as far as the server, or is not any more.
    func channelChanged(isConnected: Bool)

    /// Receives the outcome of a message that the app sent; called once.
    func upstreamEnded(_ end: UpstreamEnd)

    /// The app is in this state now; called after its own handlers were.
    func entered(_ state: AppState)

    /// A remote notification is about to be given to the app's own handlers.
    func willHand(_ notification: DeliveredNotification, as occasion: HandoverReason)

    /// The device token, as 64 hex digits.
    func tokenChanged(_ token: String)

    /// Why there is no device token: a stable code, and a sentence for people.
    func tokenFailed(code: String, message: String)
}

/// Why a notification is given to an app's handlers.
package enum HandoverReason: Hashable, Sendable {
    /// The app is in front, and is asked how to present it.
    case foreground
    /// It is for the background handler.
    case background
    /// The person opened it, or answered it otherwise.
    case response
}
