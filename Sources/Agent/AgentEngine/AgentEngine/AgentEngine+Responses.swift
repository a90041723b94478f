import AgentProtocol
import Logging
import PushCore

/// Handling of a person's responses to notifications, and their delivery to the app.
extension AgentEngine {
    /// How many events of the presenter wait at most for the store to be readable again.
    private static let waitingEventLimit = 1_000

    /// Handles a person's action on the desktop, or a state that the desktop reports. Where the event is answered from
    /// the store (``PresenterEvent/isAnsweredFromStore``), the batch must be committed before.
    package mutating func handlePresenterEvent(_ event: PresenterEvent, _ context: Context) {
        if handleQuestionEvent(event) { return }
        do {
            try applyPresenterEvent(event, context)
        } catch {
            fail(error)
            // A person's action would not be reported again.
            guard waitingEvents < Self.waitingEventLimit else { return }
            waitingEvents += 1
            emit(.wait(timing.storePause, then: .presenterEvent(event)))
        }
    }

    private mutating func applyPresenterEvent(_ event: PresenterEvent, _ context: Context) throws {
        switch event {
        case .opened(let id, let token):
            guard let notification = try context.store.notification(id) else { return }
            answered(notification, action: NotificationAction.open, text: nil, activationToken: token, context: context)
        case .pressed(let id, let button, let token):
            try pressed(id, button: button, activationToken: token, context: context)
        case .replied(let id, let button, let text):
            guard let notification = try context.store.notification(id) else { return }
            answered(notification, action: button, text: text, activationToken: nil, context: context)
        case .dismissed(let id): try dismissed(id, by: .desktop, context)
        case .left(let id): enqueue(.leftScreen(id))
        case .shownAgain(let id, let handle): enqueue(.shownAgain(id, handle: handle, at: context.now))
        case .locked(let isLocked): screenChanged(isLocked: isLocked, context)
        }
    }

    /// A button was pressed. One that asks for text opens a window for it, since this desktop could not ask.
    private mutating func pressed(
        _ id: NotificationID, button: String, activationToken: String?, context: Context
    ) throws {
        guard let notification = try context.store.notification(id) else { return }
        let shown = presentation(of: notification, context)
        guard shown.buttons.first(where: { $0.identifier == button })?.reply != nil else {
            return answered(notification, action: button, text: nil, activationToken: activationToken, context: context)
        }
        enqueue(.leftScreen(id))
        emit(
            .askForReply(
                ReplyRequest(
                    notification: notification, button: button, appName: shown.appName,
                    activationToken: activationToken)))
    }

    /// A window for text has closed. Without an answer the notification stays in the list.
    package mutating func replied(_ request: ReplyRequest, answer: ReplyAnswer, context: Context) {
        let text: String
        switch answer {
        case .text(let typed): text = typed
        case .cancelled: return
        case .unavailable(let reason):
            log(
                .warning, "A person wanted to reply, and no window could be opened; the app gets an empty reply.",
                [LogKey.notification: "\(request.notification.id)", LogKey.error: "\(reason)"])
            text = ""
        }
        answered(
            request.notification, action: request.button, text: text, activationToken: request.activationToken,
            context: context)
    }

    /// Handles an answer. On a locked screen it is unknown who gave it: where its action requires authentication, it
    /// waits in the store until the screen is unlocked.
    private mutating func answered(
        _ notification: WaitingNotification, action: String, text: String?, activationToken: String?,
        context: Context
    ) {
        let options = registry.options(ofAction: action, of: notification)
        guard surroundings.isScreenLocked, options & NotificationActionDescription.authenticationRequired != 0
        else {
            return choose(
                notification, action: action, text: text, activationToken: activationToken, by: .desktop,
                context: context)
        }
        log(
            .info, "An answer waits until the screen is unlocked.", [LogKey.notification: "\(notification.id)"])
        enqueue(
            .tapped(
                notification.id, action: action, text: text, activationToken: activationToken, isHeld: true,
                at: context.now))
    }

    /// A person chose an action, on the desktop or elsewhere.
    mutating func choose(
        _ notification: WaitingNotification, action: String, text: String?, activationToken: String?,
        by answerer: Answerer, context: Context
    ) {
        if notifyTerminal(notification, action: action, text: text) {
            return enqueue(.unlisted(app: notification.app, identifiers: [notification.identifier]))
        }
        enqueue(
            .tapped(
                notification.id, action: action, text: text, activationToken: activationToken, by: answerer,
                at: context.now))
    }

    /// A person dismissed a notification. Its app is notified where its category asks for that.
    mutating func dismissed(_ id: NotificationID, by answerer: Answerer, _ context: Context) throws {
        guard let notification = try context.store.notification(id) else {
            return enqueue(.dismissed(id, by: answerer, at: context.now))
        }
        let category = apps[notification.app]?.record.category(notification.says.categoryIdentifier)
        let tellsApp = (category?.options ?? 0) & NotificationCategory.customDismissAction != 0
        guard notification.app == AppManifest.terminalID || tellsApp else {
            return enqueue(.dismissed(id, by: answerer, at: context.now))
        }
        choose(
            notification, action: NotificationAction.dismiss, text: nil, activationToken: nil, by: answerer,
            context: context)
    }

    /// Gives an app the responses that wait for it; starts the app where it does not run.
    mutating func giveResponses(to app: BundleID, activationToken: String?, _ context: Context) {
        let last: WaitingResponse?
        do {
            last = try context.store.waitingResponses(app: app, after: 0, limit: 64).last
        } catch {
            fail(error)
            return emit(.wait(timing.storePause, then: .giveResponses(app, token: activationToken)))
        }
        // An app that is not installed any more takes no responses.
        guard apps[app] != nil else { return enqueue(.responsesDropped(app: app, at: context.now)) }
        supervise(
            .responded(last.map(registry.effect) ?? .none, activationToken: activationToken), app: app, context: context
        )
    }
}

extension PresenterEvent {
    /// Whether the batch must be committed before the event is taken: its notification may be in it.
    package var isAnsweredFromStore: Bool {
        switch self {
        case .opened, .pressed, .replied: true
        case .dismissed, .left, .shownAgain, .locked: false
        }
    }
}
