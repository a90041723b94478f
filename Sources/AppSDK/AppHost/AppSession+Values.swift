import AgentProtocol

/// A person's answer to a notification, as the agent delivers it.
package struct DeliveredResponse: Hashable, Sendable {
    /// The response's own id, which the app confirms; not the notification's.
    package var id: Int64
    /// The notification that was answered.
    package var notification: DeliveredNotification
    /// The identifier of the action that was chosen, or one of ``NotificationAction``.
    package var action: String
    /// The text that the person wrote, where the action asks for text.
    package var userText: String?

    /// Creates a response from a `respond` message.
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
    /// An event of a session.
    package enum Event: Sendable {
        /// The host begins; once, and first.
        case started
        /// The socket is connected; nothing was sent on it yet.
        case connected
        /// The connection ended, or could not be made. `jitter` is random, `0 ..< 1`.
        case disconnected(reason: String?, jitter: Double)
        /// A message from the agent arrived.
        case received(AgentMessage)
        /// The app's main function waits for the launch.
        case launchBegan
        /// `didFinishLaunching` returned; or an app without that life cycle takes notifications.
        case launchFinished
        /// The app has, or no longer has, a receiver of responses.
        case respondentChanged(exists: Bool)
        /// The app has a receiver of the person's answers to calls.
        case callsReceived
        /// The app asks for authorization; `options` is the raw value of `UNAuthorizationOptions`.
        case authorizationRequested(request: Int64, options: UInt)
        /// The app asks for its settings.
        case settingsRequested(request: Int64)
        /// `size` is that of the message, in bytes.
        case centerRequested(request: Int64, NotificationCenterCommand, size: Int)
        /// The service extension asks for a file.
        case mediaRequested(request: Int64, MediaRequest)
        /// The app has an address opened, or examined.
        case openingRequested(request: Int64, url: String, isTrial: Bool)
        /// The app declares its own state.
        case stateDeclared(AppState)
        /// The app asks for its device token.
        case registrationRequested(request: Int64)
        /// The app ends its registration, without waiting for the answer.
        case unregistrationRequested(request: Int64)
        /// The app gives its device token back, and is answered by ``Directive/answerChannel(request:_:)``.
        case tokenEndAsked(request: Int64)
        /// The background handler is done with a notification.
        case backgroundHandled(id: Int64, BackgroundResult)
        /// The raw `UNNotificationPresentationOptions`; 0 means not to present.
        case presentationAnswered(id: Int64, options: UInt)
        /// The app has no receiver that chooses how to present the notification.
        case presentationUnasked(id: Int64)
        /// The app is done with a response.
        case responseHandled(id: Int64)
        /// Whether the application delegate took what ``Directive/offerOpening(_:)`` offered.
        case openingAnswered(id: Int64, isTaken: Bool)
        /// A receiver in the app has taken the deletion of this id.
        case deletionTaken(id: Int64)
        /// The service extension is done with a notification; how, in the message for the agent.
        case extensionAnswered(AppMessage)
        /// Whether the app wants data messages now.
        case channelWanted(Bool)
        /// Asks something of the direct channel; `size` is that of the message, in bytes.
        case channelAsked(request: Int64, ChannelCommand, size: Int)
        /// The app receives the events of its Live Activities from now on, and all of them now.
        case activitiesObserved
        /// Asks something about a Live Activity; `size` is that of the message, in bytes.
        case activityAsked(request: Int64, ActivityCommand, size: Int)
        /// The app had a data message.
        case dataHandled(id: Int64)
        /// The app has received the outcome of the message of this number.
        case endTaken(number: Int64)
        /// ``AppSession/nextDeadline`` is reached.
        case timePassed
    }

    /// An action that the session asks its host to perform; actions are performed in order.
    package enum Directive: Hashable, Sendable {
        /// Connect to the agent's socket after a pause.
        case connect(after: Duration)
        /// Close the connection.
        case disconnect
        /// Write a message to the agent.
        case send(AppMessage)
        /// Run the app's launch, then send ``Event/launchFinished``.
        case launch(state: AppState, notification: DeliveredNotification?)
        /// Notify the app of its present state.
        case enter(AppState)
        /// Call the background handler, then send ``Event/backgroundHandled(id:_:)``.
        case handBackground(DeliveredNotification)
        /// Call PushKit's handler, then send ``Event/backgroundHandled(id:_:)``.
        case handCall(DeliveredNotification)
        /// Ask how to present it, then send ``Event/presentationAnswered(id:options:)`` or
        /// ``Event/presentationUnasked(id:)``.
        case askPresentation(DeliveredNotification)
        /// Deliver the response, then send ``Event/responseHandled(id:)``.
        case handResponse(DeliveredResponse)
        /// The app was opened by a notification, and has no receiver of responses: the application delegate may take
        /// it.
        case offerOpening(DeliveredResponse)
        /// The person wants to see the app's own settings.
        case openSettings(DeliveredNotification?)
        /// Answer the app's request with whether it may notify.
        case answerAuthorization(request: Int64, granted: Bool)
        /// Answer the app's request with its settings.
        case answerSettings(request: Int64, NotificationSettings)
        /// Answer the service extension's request for a file.
        case answerMedia(request: Int64, MediaAnswer)
        /// Answer the app's request to open an address.
        case answerOpening(request: Int64, OpeningAnswer)
        /// Answer the app's request with the notification center's answer.
        case answerCenter(request: Int64, CenterAnswer)
        /// The request cannot be asked: no app id, or too many that wait for the agent.
        case failRequest(request: Int64)
        /// Send the app its device token, 64 hex digits.
        case announceToken(String)
        /// Send the app the reason why it has no device token: a stable code, and a sentence.
        case announceRegistrationFailure(code: String, message: String)
        /// Report a deletion on the server to the receiver, then send ``Event/deletionTaken(id:)``. It may come again
        /// until then.
        case tellDeletion(MessageDeletion)
        /// Have the service extension change a notification, then send ``Event/extensionAnswered(_:)``.
        case extend(DeliveredNotification)
        /// Notify the service extension that the time for this notification is almost over.
        case expire(Int64)
        /// Deliver a data message to the app, then send ``Event/dataHandled(id:)``.
        case handData(DeliveredNotification)
        /// Notify the app whether the direct channel is open as far as the server.
        case tellChannel(isConnected: Bool)
        /// Answer the app's request of the direct channel.
        case answerChannel(request: Int64, ChannelAnswer)
        /// Notify the app of its Live Activities, or of the token that starts one.
        case tellActivities(ActivityEvent)
        /// Answer the app's request about a Live Activity.
        case answerActivity(request: Int64, ActivityAnswer)
        /// Report the outcome of the app's message, then send ``Event/endTaken(number:)``. It may come again until
        /// then.
        case tellEnd(UpstreamEnd)
        /// Print a message at the terminal.
        case report(String)
    }
}
