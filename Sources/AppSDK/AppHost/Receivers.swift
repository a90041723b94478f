import AgentProtocol

/// Presents notifications inside the app, and receives the person's responses.
@MainActor
package protocol NotificationReceiver: AnyObject {
    /// Asks how to present a notification.
    ///
    /// `answer` takes the raw `UNNotificationPresentationOptions`, on any thread. 0 means not to present it; `nil`
    /// means that there is no delegate, or that it lacks the method.
    func present(_ notification: DeliveredNotification, answer: @escaping @Sendable (UInt?) -> Void)

    /// Delivers a response. `done` may be called on any thread, with whether the response was taken.
    func respond(_ response: DeliveredResponse, done: @escaping @Sendable (Bool) -> Void)

    /// The person wants to see the app's own settings, coming from this notification.
    func openSettings(for notification: DeliveredNotification?)
}

/// Receives pushes of incoming calls: PushKit's part of the app.
@MainActor
package protocol CallPushReceiver: AnyObject {
    /// Takes the push of a call. `done` may be called on any thread.
    func receiveCall(_ notification: DeliveredNotification, done: @escaping @Sendable () -> Void)

    /// The device token, as 64 hex digits.
    func tokenChanged(_ token: String)
}

/// Receives the person's answers to incoming calls: CallKit's part of the app.
@MainActor
package protocol CallReceiver: AnyObject {
    /// Takes an answer to the notification of a call; it counts as handled when this returns.
    func respond(_ response: DeliveredResponse)
}

/// Changes notifications before they are shown, in a service extension's process.
@MainActor
package protocol ExtensionReceiver: AnyObject {
    /// Has a notification changed. `answer` may be called on any thread, and counts the first time: with what is to be
    /// shown, or ``ExtensionAnswer/unchanged``.
    func extend(_ notification: DeliveredNotification, answer: @escaping @Sendable (ExtensionAnswer) -> Void)

    /// The time for the notification of this id is almost over.
    func expire(_ notification: Int64)
}

/// A service extension's answer for one notification.
package enum ExtensionAnswer: Sendable, Hashable {
    /// This is to be shown in its place.
    case changed(NotificationContent)
    /// It is shown as it came.
    case unchanged
    /// The answer cannot be sent, and why.
    case unsendable(String)
}

/// Runs the app's life cycle.
@MainActor
package protocol ApplicationReceiver: AnyObject {
    /// Launches the app, then calls ``AppHost/finishLaunch()``.
    func launch(state: AppState, notification: DeliveredNotification?)

    /// The app is in this state now.
    func enter(_ state: AppState)

    /// Passes a notification to the background handler. `answer` may be called on any thread.
    func receiveInBackground(
        _ notification: DeliveredNotification, answer: @escaping @Sendable (BackgroundResult) -> Void)

    /// Passes the notification that opened the app to the remote notification handler. `answer` may be called on any
    /// thread, with whether there is one.
    func receiveOpening(_ notification: DeliveredNotification, answer: @escaping @Sendable (Bool) -> Void)

    /// The device token, as 64 hex digits.
    func registered(token: String)

    /// Why there is no device token: a stable code, and a sentence for people.
    func registrationFailed(code: String, message: String)
}
