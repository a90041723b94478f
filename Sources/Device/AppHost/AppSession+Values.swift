import AgentWire

/// A person's answer to a notification, as the agent hands it over.
package struct DeliveredResponse: Hashable, Sendable {
    package var id: Int64
    package var notification: DeliveredNotification
    package var action: String
    package var userText: String?

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
        case started
        case connected
        /// The connection ended, or could not be made. `jitter` is random, `0 ..< 1`.
        case disconnected(reason: String?, jitter: Double)
        case received(AgentMessage)
        /// The app's main function waits to be told how to launch.
        case launchBegan
        /// `didFinishLaunching` returned; or an app without that life cycle takes notifications.
        case launchFinished
        /// Whether somebody takes responses.
        case respondentChanged(exists: Bool)
        case authorizationRequested(request: Int64, options: UInt)
        case settingsRequested(request: Int64)
        /// `size` is that of the message, in bytes.
        case centerRequested(request: Int64, CenterCommand, size: Int)
        /// The app says itself where it stands.
        case stateDeclared(AppState)
        case registrationRequested(request: Int64)
        case unregistrationRequested(request: Int64)
        case backgroundHandled(id: Int64, BackgroundResult)
        /// The raw `UNNotificationPresentationOptions`; 0 means not to present.
        case presentationAnswered(id: Int64, options: UInt)
        /// Nobody is there to say how to present it.
        case presentationUnasked(id: Int64)
        case responseHandled(id: Int64)
        /// Whether the application delegate took what ``Directive/offerOpening(_:)`` offered.
        case openingAnswered(id: Int64, isTaken: Bool)
        /// ``AppSession/nextDeadline`` is reached.
        case timePassed
    }

    /// What the session wants done, in this order.
    package enum Directive: Hashable, Sendable {
        case connect(after: Duration)
        case disconnect
        case send(AppMessage)
        /// Run the app's launch, then say ``Event/launchFinished``.
        case launch(state: AppState, notification: DeliveredNotification?)
        case enter(AppState)
        case handBackground(DeliveredNotification)
        case askPresentation(DeliveredNotification)
        case handResponse(DeliveredResponse)
        /// The app was opened by a notification, and nobody takes responses: the application delegate may take it.
        case offerOpening(DeliveredResponse)
        /// The person wants to see the app's own settings.
        case openSettings(DeliveredNotification?)
        case answerAuthorization(request: Int64, granted: Bool)
        case answerSettings(request: Int64, NotificationSettings)
        case answerCenter(request: Int64, CenterAnswer)
        /// The request cannot be asked: no app id, or too many that wait for the agent.
        case failRequest(request: Int64)
        case announceToken(String)
        case announceRegistrationFailure(code: String, message: String)
        /// Tell the person at the terminal.
        case report(String)
    }
}
