import AgentProtocol
import PushCore

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
            guard context.hasScreen else { return couldNotAsk(id, "there is no screen") }
            emit(.ask(AuthorizationQuestion.presentation(id, options: options, manifest)))
        }
    }

    /// The presenter reports the outcome of a question.
    package mutating func questionShown(_ id: NotificationID, _ outcome: PresentationOutcome) {
        switch outcome {
        case .failed(let reason), .kept(let reason): couldNotAsk(id, reason)
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

    private mutating func couldNotAsk(_ id: NotificationID, _ reason: String) {
        guard let question = questions[id] else { return }
        log(
            .warning, "Nobody could be asked whether an app may send notifications; decide with `aldaba settings`.",
            [LogKey.topic: "\(question.app)", LogKey.error: "\(reason)"])
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
                answer.settle(&$0)
                $0.options = question.options
            }
            log(
                .notice, "A person answered whether an app may send notifications.",
                [LogKey.topic: "\(question.app)"])
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
