import AgentWire
import AppConnections
import DeviceModel
import DevicePorts
import DeviceStore
import InstalledApps
import Logging
import Observability
import PushModel

/// What people do with notifications, and how it reaches the app.
extension Agent {
    func handlePresenterEvent(_ event: PresenterEvent) {
        if handleQuestionEvent(event) || onRelay({ $0.answered(event) }) { return }
        do {
            try applyPresenterEvent(event)
        } catch {
            storeFailed(error)
            takeLater(event)
        }
    }

    /// How many events of the presenter wait at most for the store to be readable again.
    private static let unheardLimit = 1_000

    /// Handles an event again after a pause: nobody would tell again what a person did.
    private func takeLater(_ event: PresenterEvent) {
        guard unheard < Self.unheardLimit else { return }
        unheard += 1
        enter(after: timing.storePause) { agent in
            agent.unheard -= 1
            agent.handlePresenterEvent(event)
        }
    }

    private func applyPresenterEvent(_ event: PresenterEvent) throws {
        switch event {
        case .opened(let id, let token): try chose(id, NotificationAction.open, nil, activationToken: token)
        case .pressed(let id, let button, let token): try pressed(id, button, activationToken: token)
        case .replied(let id, let button, let text): try chose(id, button, text, activationToken: nil)
        case .dismissed(let id): try dismissed(id, by: .desktop)
        case .left(let id): enqueue(.leftScreen(id))
        case .shownAgain(let id, let handle): enqueue(.shownAgain(id, handle: handle, at: parts.now()))
        case .locked(let isLocked): learnedScreen(isLocked: isLocked)
        }
    }

    private func chose(_ id: NotificationID, _ action: String, _ text: String?, activationToken: String?) throws {
        // The notification may be in the batch that is not committed yet.
        flush()
        guard let notification = try store.read({ try $0.notification(id) }) else { return }
        answered(notification, action, text, activationToken: activationToken)
    }

    /// A button was pressed. One that asks for text opens a window for it, since this desktop could not ask.
    private func pressed(_ id: NotificationID, _ button: String, activationToken: String?) throws {
        flush()
        guard let notification = try store.read({ try $0.notification(id) }) else { return }
        let shown = presentation(of: notification)
        guard shown.buttons.first(where: { $0.identifier == button })?.reply != nil else {
            return answered(notification, button, nil, activationToken: activationToken)
        }
        enqueue(.leftScreen(id))
        parts.replyWindow.ask(ReplyQuestion(appName: shown.appName)) { [weak self] answer in
            self?.enter { $0.replied(to: notification, button, answer, activationToken: activationToken) }
        }
    }

    /// A window that was closed is no answer: the notification stays in the list.
    private func replied(
        to notification: WaitingNotification, _ button: String, _ answer: ReplyAnswer, activationToken: String?
    ) {
        switch answer {
        case .text(let text): answered(notification, button, text, activationToken: activationToken)
        case .cancelled: break
        case .unavailable(let reason):
            logger.warning(
                "A person wanted to reply, and no window could be opened; the app gets an empty reply.",
                metadata: [LogKey.notification: "\(notification.id)", LogKey.error: "\(reason)"])
            answered(notification, button, "", activationToken: activationToken)
        }
    }

    /// Takes an answer. On a locked screen nobody knows who gave it: where its action requires authentication, it waits
    /// in the store until the screen is unlocked.
    private func answered(
        _ notification: WaitingNotification, _ action: String, _ text: String?, activationToken: String?
    ) {
        let options = registry.options(ofAction: action, of: notification)
        guard surroundings.isScreenLocked, options & NotificationActionDescription.authenticationRequired != 0
        else {
            return chose(notification, action, text, activationToken: activationToken)
        }
        logger.info(
            "An answer waits until the screen is unlocked.", metadata: [LogKey.notification: "\(notification.id)"])
        enqueue(
            .tapped(
                notification.id, action: action, text: text, activationToken: activationToken, isHeld: true,
                at: parts.now()))
    }

    /// A person chose an action, on the desktop or elsewhere.
    func chose(
        _ notification: WaitingNotification, _ action: String, _ text: String?, activationToken: String?,
        by answerer: Answerer = .desktop
    ) {
        if tellTerminal(notification, action, text) {
            return enqueue(.unlisted(app: notification.app, identifiers: [notification.identifier]))
        }
        enqueue(
            .tapped(
                notification.id, action: action, text: text, activationToken: activationToken, by: answerer,
                at: parts.now()))
    }

    /// A person at a terminal dismissed a notification.
    func dismissedAtTerminal(_ id: NotificationID) {
        withdraw(id)
        do { try dismissed(id, by: .terminal) } catch { storeFailed(error) }
    }

    /// A person dismissed a notification. Its app is told where its category asks for that.
    private func dismissed(_ id: NotificationID, by answerer: Answerer) throws {
        guard let notification = try store.read({ try $0.notification(id) }) else {
            return enqueue(.dismissed(id, by: answerer, at: parts.now()))
        }
        if tellTerminal(notification, NotificationAction.dismiss, nil) {
            return enqueue(.unlisted(app: notification.app, identifiers: [notification.identifier]))
        }
        let category = apps[notification.app]?.record.category(notification.says.categoryIdentifier)
        guard let category, category.options & NotificationCategory.customDismissAction != 0 else {
            return enqueue(.dismissed(id, by: answerer, at: parts.now()))
        }
        enqueue(
            .tapped(
                id, action: NotificationAction.dismiss, text: nil, activationToken: nil, by: answerer, at: parts.now()))
    }

    // MARK: Answering

    /// Gives an app a response that was just stored; starts the app where it does not run.
    func answer(_ id: NotificationID, of app: BundleID, activationToken: String?) {
        withdraw(id)
        giveResponses(to: app, activationToken: activationToken)
    }

    /// Gives an app the responses that wait for it; starts the app where it does not run.
    func giveResponses(to app: BundleID, activationToken: String?) {
        let last: WaitingResponse?
        do {
            last = try store.read { try $0.waitingResponses(app: app, after: 0, limit: 64).last }
        } catch {
            storeFailed(error)
            return enter(after: timing.storePause) { $0.giveResponses(to: app, activationToken: activationToken) }
        }
        // An app that is not installed any more takes no responses.
        guard apps[app] != nil else { return enqueue(.responsesDropped(app: app, at: parts.now())) }
        supervise(.responded(last.map(registry.effect) ?? .none, activationToken: activationToken), app)
    }
}
