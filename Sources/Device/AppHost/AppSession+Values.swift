import AgentWire

/// A person's answer to a notification, as the agent hands it over.
package struct DeliveredResponse: Hashable, Sendable {
    /// The response's own id, which the app confirms; not the notification's.
    package var id: Int64
    /// The notification that was answered.
    package var notification: DeliveredNotification
    /// The identifier of the action that was chosen, or one of ``NotificationAction``.
    package var action: String
    /// What the person wrote, where the action asks for text.
    package var userText: String?

    /// Makes a response as a `respond` message tells it.
    package init(id: Int64, notification: DeliveredNotification, action: String, userText: String?) {
        self.id = id
        self.notification = notification
        self.action = action
        self.userText = userText
    }

    /// Whether it brings the app to the front: the notification itself was opened, or by a button that it brought.
    var opensApp: Bool {
        action == NotificationAction.open
            || notification.content?.actions.contains {
                $0.identifier == action && $0.options & NotificationActionDescription.foreground != 0
            } == true
    }
}

extension AppSession {
    /// What happens to a session.
    package enum Event: Sendable {
        /// The host begins; once, and first.
        case started
        /// The socket is connected; nothing was said on it yet.
        case connected
        /// The connection ended, or could not be made. `jitter` is random, `0 ..< 1`.
        case disconnected(reason: String?, jitter: Double)
        /// The agent said something.
        case received(AgentMessage)
        /// The app's main function waits to be told how to launch.
        case launchBegan
        /// `didFinishLaunching` returned; or an app without that life cycle takes notifications.
        case launchFinished
        /// Whether somebody takes responses.
        case respondentChanged(exists: Bool)
        /// The app asks for authorization; `options` is the raw value of `UNAuthorizationOptions`.
        case authorizationRequested(request: Int64, options: UInt)
        /// The app asks for its settings.
        case settingsRequested(request: Int64)
        /// `size` is that of the message, in bytes.
        case centerRequested(request: Int64, CenterCommand, size: Int)
        /// The service extension asks for a file.
        case mediaRequested(request: Int64, MediaRequest)
        /// The app says itself where it stands.
        case stateDeclared(AppState)
        /// The app asks for its device token.
        case registrationRequested(request: Int64)
        /// The app gives its device token back, and nobody waits for the answer.
        case unregistrationRequested(request: Int64)
        /// The app gives its device token back, and is answered by ``Directive/answerChannel(request:_:)``.
        case tokenEndAsked(request: Int64)
        /// The background handler is done with a notification.
        case backgroundHandled(id: Int64, BackgroundResult)
        /// The raw `UNNotificationPresentationOptions`; 0 means not to present.
        case presentationAnswered(id: Int64, options: UInt)
        /// Nobody is there to say how to present it.
        case presentationUnasked(id: Int64)
        /// The app is done with a response.
        case responseHandled(id: Int64)
        /// Whether the application delegate took what ``Directive/offerOpening(_:)`` offered.
        case openingAnswered(id: Int64, isTaken: Bool)
        /// Somebody in the app knows of the deletion of this id.
        case deletionTaken(id: Int64)
        /// The service extension is done with a notification; how, in the message for the agent.
        case extensionAnswered(AppMessage)
        /// Whether the app wants data messages now.
        case channelWanted(Bool)
        /// Asks something of the direct channel; `size` is that of the message, in bytes.
        case channelAsked(request: Int64, ChannelCommand, size: Int)
        /// The app had a data message.
        case dataHandled(id: Int64)
        /// The app knows what became of the message of this number.
        case endTaken(number: Int64)
        /// ``AppSession/nextDeadline`` is reached.
        case timePassed
    }

    /// What the session wants done, in this order.
    package enum Directive: Hashable, Sendable {
        /// Connect to the agent's socket after a pause.
        case connect(after: Duration)
        /// Close the connection.
        case disconnect
        /// Write a message to the agent.
        case send(AppMessage)
        /// Run the app's launch, then say ``Event/launchFinished``.
        case launch(state: AppState, notification: DeliveredNotification?)
        /// Tell the app that it is in this state now.
        case enter(AppState)
        /// Call the background handler, then say ``Event/backgroundHandled(id:_:)``.
        case handBackground(DeliveredNotification)
        /// Ask how to present it, then say ``Event/presentationAnswered(id:options:)`` or
        /// ``Event/presentationUnasked(id:)``.
        case askPresentation(DeliveredNotification)
        /// Hand the response over, then say ``Event/responseHandled(id:)``.
        case handResponse(DeliveredResponse)
        /// The app was opened by a notification, and nobody takes responses: the application delegate may take it.
        case offerOpening(DeliveredResponse)
        /// The person wants to see the app's own settings.
        case openSettings(DeliveredNotification?)
        /// Answer the app's request with whether it may notify.
        case answerAuthorization(request: Int64, granted: Bool)
        /// Answer the app's request with its settings.
        case answerSettings(request: Int64, NotificationSettings)
        /// Answer the service extension's request for a file.
        case answerMedia(request: Int64, MediaAnswer)
        /// Answer the app's request with what the notification centre said.
        case answerCenter(request: Int64, CenterAnswer)
        /// The request cannot be asked: no app id, or too many that wait for the agent.
        case failRequest(request: Int64)
        /// Tell the app its device token, 64 hex digits.
        case announceToken(String)
        /// Tell the app why it has no device token: a stable code, and a sentence.
        case announceRegistrationFailure(code: String, message: String)
        /// Tell whoever wants to know that notifications were deleted on the server, then say
        /// ``Event/deletionTaken(id:)``. It may come again until then.
        case tellDeletion(MessageDeletion)
        /// Have the service extension change a notification, then say ``Event/extensionAnswered(_:)``.
        case extend(DeliveredNotification)
        /// Tell the service extension that the time for this notification is almost over.
        case expire(Int64)
        /// Give the app a data message, then say ``Event/dataHandled(id:)``.
        case handData(DeliveredNotification)
        /// Tell the app whether the direct channel is open as far as the server.
        case tellChannel(isConnected: Bool)
        /// Answer the app's request of the direct channel.
        case answerChannel(request: Int64, ChannelAnswer)
        /// Tell the app what became of its message, then say ``Event/endTaken(number:)``. It may come again until then.
        case tellEnd(UpstreamEnd)
        /// Tell the person at the terminal.
        case report(String)
    }
}
