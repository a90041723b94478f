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
            waitingEvents.areLost = false
        } catch {
            fail(error)
            // A person's action would not be reported again.
            guard waitingEvents.count < Self.waitingEventLimit else {
                defer { waitingEvents.areLost = true }
                if waitingEvents.areLost { return }
                return log(
                    .error, "A person's action is lost: \(Self.waitingEventLimit) wait for the store to be readable.")
            }
            waitingEvents.count += 1
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
        guard let pressed = shown.buttons.first(where: { $0.identifier == button }), let reply = pressed.reply else {
            return answered(notification, action: button, text: nil, activationToken: activationToken, context: context)
        }
        enqueue(.leftScreen(id))
        emit(
            .askForReply(
                ReplyRequest(
                    notification: notification, button: button,
                    question: ReplyQuestion(appName: shown.appName, label: pressed.label, reply: reply),
                    activationToken: activationToken)))
    }

    /// A window for text has closed. Without an answer the notification stays in the list. Without a window the screen
    /// shows the command with which a terminal replies.
    package mutating func replied(_ request: ReplyRequest, answer: ReplyAnswer, context: Context) {
        switch answer {
        case .text(let text):
            answered(
                request.notification, action: request.button, text: text, activationToken: request.activationToken,
                context: context)
        case .cancelled: break
        case .unavailable(let reason):
            log(
                .warning,
                "A person wanted to reply, and no window could be opened; reply with `aldaba notifications act`.",
                metadata: [LogKey.notification: "\(request.notification.id)", LogKey.error: "\(reason)"])
            emit(.ask(request.hint(over: presentation(of: request.notification, context), reason: reason)))
        }
    }

    /// Handles an answer. On a locked screen it is unknown who gave it: where its action requires authentication, it
    /// waits in the store until the screen is unlocked.
    private mutating func answered(
        _ notification: WaitingNotification, action: String, text: String?, activationToken: String?,
        context: Context
    ) {
        let options = registry.options(ofAction: action, of: notification)
        guard screenAndQuietHours.isScreenLocked, options & NotificationActionDescription.authenticationRequired != 0
        else {
            return choose(
                notification, action: action, text: text, activationToken: activationToken, by: .desktop,
                context: context)
        }
        log(
            .info, "An answer waits until the screen is unlocked.",
            metadata: [LogKey.notification: "\(notification.id)"])
        enqueue(
            .tapped(
                notification.id, action: action, text: text, activationToken: activationToken, isHeld: true,
                at: context.now))
    }

    /// A person chose an action, on the desktop or elsewhere.
    mutating func choose(
        _ notification: WaitingNotification, action: String, text: String?, activationToken: String?,
        by answerer: AnswerSource, context: Context
    ) {
        if notifyTerminal(notification, action: action, text: text) {
            return enqueue(.unlisted(app: notification.app, identifiers: [notification.identifier]))
        }
        enqueue(
            .tapped(
                notification.id, action: action, text: text, activationToken: activationToken, by: answerer,
                at: context.now))
        // A response takes a notification off the screen; an activity stays there.
        showActivities(of: notification.app, context) { $0.identifier == notification.identifier }
    }

    /// A person dismissed a notification. Its app is notified where its category asks for that.
    mutating func dismissed(_ id: NotificationID, by answerer: AnswerSource, _ context: Context) throws {
        guard let notification = try context.store.notification(id) else {
            return enqueue(.dismissed(id, by: answerer, at: context.now))
        }
        if let activity = LiveActivityRecord.id(ofIdentifier: notification.identifier) {
            settleActivities(.dismissed(id: activity, app: notification.app), context)
            return enqueue(.dismissed(id, by: answerer, at: context.now))
        }
        let category = apps[notification.app]?.record.category(notification.effectiveContent.categoryIdentifier)
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

/// The question whether an app may send notifications: asked once, on the desktop, and remembered.
extension AgentEngine {
    mutating func askForAuthorization(
        _ request: Int64, options: UInt, app: BundleID, connection: AppConnectionID, context: Context
    ) {
        noteOwnSettings(options, of: app)
        guard let installed = apps[app] else { return }
        let asker = Confirmation(connection: connection, request: request)
        if installed.manifest.authorization != .ask {
            return answer([asker], isGranted: installed.manifest.authorization == .granted)
        }
        switch installed.record.authorization {
        case .authorized:
            // A person is asked once: options that the app asks for later are granted too.
            change(app) { $0.options |= options }
            answer([asker], isGranted: true)
        case .denied: answer([asker], isGranted: false)
        case .notDetermined where options & AuthorizationOption.provisional != 0:
            change(app) {
                $0.authorization = .provisional
                $0.options = options
            }
            answer([asker], isGranted: true)
        case .provisional where options & AuthorizationOption.provisional != 0: answer([asker], isGranted: true)
        case .notDetermined, .provisional:
            ask(asker, options: options, app: app, manifest: installed.manifest, context: context)
        }
    }

    private mutating func answer(_ askers: [Confirmation], isGranted: Bool, reason: String? = nil) {
        for asker in askers {
            send(
                [.authorizationAnswered(request: asker.request, granted: isGranted, reason: reason)],
                to: asker.connection)
        }
    }

    private mutating func ask(
        _ asker: Confirmation, options: UInt, app: BundleID, manifest: AppManifest, context: Context
    ) {
        switch questions.ask(app, options: options, asker: asker) {
        case .joined: break
        case .refused: answer([asker], isGranted: false)
        case .ask(let id):
            guard context.hasScreen else { return couldNotAsk(id, reason: "there is no screen") }
            emit(.ask(AuthorizationQuestion.presentation(id, options: options, manifest)))
        }
    }

    /// The presenter reports the outcome of a question.
    package mutating func questionShown(_ id: NotificationID, _ outcome: PresentationOutcome) {
        switch outcome {
        case .failed(let reason), .kept(let reason): couldNotAsk(id, reason: reason)
        case .presented(let handle, _):
            guard let app = questions[id]?.app, let handle else { return }
            enqueue(.asked(app: app, handle: handle))
        }
    }

    /// The questions that an earlier run left on the screen, whose answers have no receiver. Each is removed from the
    /// screen, unless its app asks again soon: then the new question replaces it.
    package mutating func inheritedQuestions(_ context: Context) throws -> [ShownPresentation] {
        try context.store.questions().map { app, handle in
            let id = questions.nextID()
            emit(.wait(timing.returnLimit, then: .forgetQuestion(id, app)))
            return ShownPresentation(presentation: AuthorizationQuestion.place(id, app: app), handle: handle)
        }
    }

    mutating func forgetQuestion(_ id: NotificationID, of app: BundleID) {
        withdraw([id])
        if questions.id(of: app) == nil { enqueue(.asked(app: app, handle: nil)) }
    }

    /// Removes all questions from the screen at the agent's end, since their answers would have no receiver.
    package mutating func withdrawQuestions() {
        for (id, question) in questions.all {
            withdraw([id])
            enqueue(.asked(app: question.app, handle: nil))
        }
    }

    private mutating func couldNotAsk(_ id: NotificationID, reason: String) {
        guard let question = questions[id] else { return }
        log(
            .warning, "Nobody could be asked whether an app may send notifications; decide with `aldaba settings`.",
            metadata: [LogKey.topic: "\(question.app)", LogKey.error: "\(reason)"])
        settleQuestion(
            id, nil,
            reason: "nobody could be asked, since \(reason); a person allows it with `aldaba settings \(question.app) "
                + "allowed=yes`, or its manifest with \"authorization\": \"granted\"")
    }

    /// - Returns: Whether the event concerned a question.
    mutating func handleQuestionEvent(_ event: PresenterEvent) -> Bool {
        switch event {
        case .pressed(let id, let button, _):
            guard questions[id] != nil else { return false }
            settleQuestion(id, AuthorizationQuestion.Answer(rawValue: button) ?? .deny)
        case .locked, .shownAgain: return false
        case .opened(let id, _), .dismissed(let id), .left(let id), .replied(let id, _, _):
            guard questions[id] != nil else { return false }
            // The person has not decided: the app may ask again.
            settleQuestion(id, nil)
        }
        return true
    }

    /// A person decided elsewhere: the open question has its answer.
    mutating func closeQuestion(of app: BundleID) {
        guard let id = questions.id(of: app) else { return }
        withdraw([id])
        settleQuestion(id, nil)
    }

    private mutating func settleQuestion(
        _ id: NotificationID, _ answer: AuthorizationQuestion.Answer?, reason: String? = nil
    ) {
        guard let question = questions.close(id) else { return }
        enqueue(.asked(app: question.app, handle: nil))
        if let answer {
            change(question.app) {
                answer.apply(to: &$0)
                $0.options = question.options
            }
            log(
                .notice, "A person answered whether an app may send notifications.",
                metadata: [LogKey.topic: "\(question.app)"])
        }
        let isGranted = apps[question.app]?.record.authorization.allows ?? false
        self.answer(question.askers, isGranted: isGranted, reason: isGranted ? nil : reason)
    }

    /// Notes whether an app shows settings of its own, as each of its requests for authorization states. The person is
    /// not asked about that.
    private mutating func noteOwnSettings(_ options: UInt, of app: BundleID) {
        change(app) {
            $0.options &= ~AuthorizationOption.providesAppNotificationSettings
            $0.options |= options & AuthorizationOption.providesAppNotificationSettings
        }
    }
}

/// Orders of a person at a terminal, and the notifications of terminals. `ManagementCommandHandler` has examined both.
extension AgentEngine {
    /// Does what a person at a terminal orders.
    ///
    /// - Returns: Whether it is answered when it is durable; else at once.
    package mutating func execute(_ order: ManagementOrder, _ context: Context) -> Bool {
        switch order {
        case .cancel(let identifiers, let app): enqueue(.unscheduled(app: app, identifiers: identifiers))
        case .act(let notification, let action, let text):
            withdraw([notification.id])
            choose(notification, action: action, text: text, activationToken: nil, by: .terminal, context: context)
            return false
        case .dismiss(let id):
            withdraw([id])
            do { try dismissed(id, by: .terminal, context) } catch { fail(error) }
            return false
        case .setQuietHours(let hours, let text):
            screenAndQuietHours.quietHours = hours
            enqueue(.preference(name: QuietHours.name, value: text))
        case .settle(let record, let app, let isDecision):
            change(app) { $0 = record }
            if isDecision { closeQuestion(of: app) }
        case .enter(let app, let state):
            sendMessages(to: app, [.enter(state)])
            return false
        case .openSettings(let app):
            supervise(.settingsWished, app: app, context: context)
            return false
        }
        return true
    }

    /// The conditions for a notification from a terminal; `nil` until the terminal's own app is installed.
    package func notifyConditions(
        of request: NotificationRequest, _ context: Context
    ) throws -> NotifyConditions? {
        guard let terminal = apps[AppManifest.terminalID] else { return nil }
        return NotifyConditions(
            presentation: conditions(of: terminal, context), isFull: terminals.isFull,
            triggerFault: try request.trigger.flatMap {
                try fault(of: $0, of: request.identifier, app: AppManifest.terminalID, context)
            })
    }

    /// Shows a notification of the terminal's, or has it wait for its time or place.
    ///
    /// - Parameter waits: Whether the terminal waits for what a person does.
    package mutating func notify(
        _ request: NotificationRequest, terminal: Confirmation, waits: Bool, context: Context
    ) {
        if request.trigger == nil {
            failTerminal(request.identifier, "a later notification took its place")
            if waits { terminals.wait(terminal, for: request.identifier) }
        }
        addRequest(request, as: nil, app: AppManifest.terminalID, context)
    }

    /// Notifies the terminal that waits for an answer that there will be none.
    mutating func failTerminal(_ identifier: String, _ reason: String) {
        guard let waiter = terminals.end(identifier) else { return }
        // A question without a terminal that waits must not appear later.
        enqueue(.unlisted(app: AppManifest.terminalID, identifiers: [identifier]))
        send([.managed(request: waiter.request, .failed(message: reason))], to: waiter.connection)
    }

    /// Sends the terminal that waits the action of the person.
    ///
    /// - Returns: Whether the notification was a terminal's.
    mutating func notifyTerminal(_ notification: WaitingNotification, action: String, text: String?) -> Bool {
        guard notification.app == AppManifest.terminalID else { return false }
        if let waiter = terminals.end(notification.identifier) {
            send([.managed(request: waiter.request, .answered(action: action, text: text))], to: waiter.connection)
        }
        return true
    }
}
