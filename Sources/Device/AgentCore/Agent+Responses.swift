import AgentWire
import DeviceModel
import DevicePorts
import DeviceStore
import Logging
import Observability
import PushModel

/// What people do with notifications, and how it reaches the app.
extension Agent {
    func handlePresenterEvent(_ event: PresenterEvent) {
        if handleQuestionEvent(event) { return }
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
        case .dismissed(let id): try dismissed(id)
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
        let options = actions(of: notification.says, app: notification.app).first { $0.identifier == action }?.options
        guard surroundings.isScreenLocked, (options ?? 0) & NotificationActionDescription.authenticationRequired != 0
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
    func chose(_ notification: WaitingNotification, _ action: String, _ text: String?, activationToken: String?) {
        if tellTerminal(notification, action, text) {
            return enqueue(.unlisted(app: notification.app, identifiers: [notification.identifier]))
        }
        enqueue(
            .tapped(notification.id, action: action, text: text, activationToken: activationToken, at: parts.now()))
    }

    /// A person dismissed a notification. Its app is told where its category asks for that.
    private func dismissed(_ id: NotificationID) throws {
        guard let notification = try store.read({ try $0.notification(id) }) else {
            return enqueue(.dismissed(id, at: parts.now()))
        }
        if tellTerminal(notification, NotificationAction.dismiss, nil) {
            return enqueue(.unlisted(app: notification.app, identifiers: [notification.identifier]))
        }
        let category = apps[notification.app]?.standing.category(notification.says.categoryIdentifier)
        guard let category, category.options & NotificationCategory.customDismissAction != 0 else {
            return enqueue(.dismissed(id, at: parts.now()))
        }
        enqueue(.tapped(id, action: NotificationAction.dismiss, text: nil, activationToken: nil, at: parts.now()))
    }

    // MARK: Answering

    /// Gives an app a response that was just stored; starts the app where it does not run.
    func answer(_ id: NotificationID, of app: String, activationToken: String?) {
        withdraw(id)
        giveResponses(to: app, activationToken: activationToken)
    }

    /// Gives an app the responses that wait for it; starts the app where it does not run.
    func giveResponses(to app: String, activationToken: String?) {
        apps[app]?.activationToken = activationToken
        let last: WaitingResponse?
        do {
            last = try store.read { try $0.waitingResponses(app: app, after: 0, limit: 64).last }
        } catch {
            storeFailed(error)
            return enter(after: timing.storePause) { $0.giveResponses(to: app, activationToken: activationToken) }
        }
        let opens = last.map(opensApp) ?? false
        if apps[app]?.connection == nil { apps[app]?.nextState = opens ? .active : .background }
        // For an opened notification the app itself keeps Apple's order of calls. It does not know whether a
        // category's button brings it to the front. So the order is kept here: inactive, the response, active.
        let isBrought = opens && last?.action != NotificationAction.open
        let background = apps[app].flatMap { isBrought && !$0.isInFront ? $0.connection : nil }
        background?.send([.enter(.inactive)])
        hand(.responded, to: app)
        background?.send([.enter(.active)])
        // An app that is not installed any more takes no responses.
        guard apps[app] != nil else { return enqueue(.responsesDropped(app: app, at: parts.now())) }
        if apps[app]?.connection == nil { start(app) }
    }

    /// Whether an answer brings its app to the front: a tap does, and a button that says so.
    func opensApp(_ response: WaitingResponse) -> Bool {
        if response.action == NotificationAction.open { return true }
        let actions = actions(of: response.notification.says, app: response.notification.app)
        let options = actions.first { $0.identifier == response.action }?.options ?? 0
        return options & NotificationActionDescription.foreground != 0
    }

    /// Starts an app that does not run for notifications that wake it, where its manifest and its budget allow that.
    func wake(_ app: String) {
        guard let installed = apps[app], installed.run.isStopped,
            installed.manifest.backgroundModes.contains(AppManifest.remoteNotifications)
        else { return }
        do {
            guard try store.read({ try $0.hasWaking(app: app) }) else { return }
        } catch {
            storeFailed(error)
            return wakeLater(app, after: timing.storePause)
        }
        guard apps[app]?.budget.take(at: parts.now()) == true else {
            logger.info("An app is woken later: its budget is spent.", metadata: [LogKey.topic: "\(app)"])
            enqueue(.deferred(app: app, at: parts.now()))
            return wakeLater(app, after: installed.budget.pause(at: parts.now()))
        }
        apps[app]?.nextState = .background
        start(app)
    }

    private func wakeLater(_ app: String, after pause: Duration) {
        guard apps[app]?.isToBeWoken == false else { return }
        apps[app]?.isToBeWoken = true
        enter(after: pause) { agent in
            agent.apps[app]?.isToBeWoken = false
            agent.wake(app)
        }
    }

    /// Starts an app, unless it runs, is starting, or may be on its way back. Responses that it has not taken are given up
    /// after ``AgentTiming/launchLimit``, where it does not run by then.
    func start(_ app: String) {
        guard apps[app]?.run.isStopped == true else { return }
        if !activate(app) { launch(app) }
        enter(after: timing.launchLimit) { $0.giveUp(app) }
    }

    /// Starts an app's program.
    func launch(_ app: String) {
        guard let installed = apps[app] else { return }
        var variables = ["ALDABA_AGENT_SOCKET": configuration.socketPath, "ALDABA_APP_ID": app]
        variables["XDG_ACTIVATION_TOKEN"] = installed.activationToken
        do {
            let process = try AgentStep.startApp.take {
                try parts.launcher.launch(installed.manifest, variables: variables) { [weak self] process in
                    self?.enter { $0.ended(process, of: app) }
                }
            }
            apps[app]?.run.start(process: process)
            logger.info("An app was started.", metadata: [LogKey.topic: "\(app)"])
        } catch {
            logger.error(
                "An app could not be started.",
                metadata: [
                    LogKey.topic: "\(app)", LogKey.error: "\(error)",
                ])
        }
    }

    private func ended(_ process: Int32, of app: String) {
        guard apps[app]?.run.processEnded(process) == true else { return }
        if apps[app]?.connection == nil { apps[app]?.nextState = .active }
    }

    /// Gives up the responses of an app that is neither connected nor running.
    private func giveUp(_ app: String) {
        guard apps[app]?.run.isStopped == true else { return }
        apps[app]?.opensSettings = false
        enqueue(.responsesDropped(app: app, at: parts.now()))
    }
}
