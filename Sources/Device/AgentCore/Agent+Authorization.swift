import AgentWire
import AppConnections
import DeviceModel
import Logging
import Observability
import PresentationPlanning
import PushModel

/// The question whether an app may send notifications: asked once, on the desktop, and remembered.
extension Agent {
    func askForAuthorization(_ request: Int64, options: UInt, app: BundleID, _ connection: AppConnection) {
        guard let installed = apps[app] else { return }
        func answer(_ granted: Bool) {
            connection.send([.authorizationAnswered(request: request, granted: granted)])
        }
        noteOwnSettings(options, of: app)
        if installed.manifest.authorization != .ask { return answer(installed.manifest.authorization == .granted) }
        switch installed.record.authorization {
        case .authorized:
            // A person is asked once: options that the app asks for later are granted too.
            change(app) { $0.options |= options }
            answer(true)
        case .denied: answer(false)
        case .notDetermined where options & AuthorizationOption.provisional != 0:
            change(app) {
                $0.authorization = .provisional
                $0.options = options
            }
            answer(true)
        case .provisional where options & AuthorizationOption.provisional != 0: answer(true)
        case .notDetermined, .provisional:
            ask(Confirmation(connection: connection, request: request), options: options, app: app, installed.manifest)
        }
    }

    private func ask(_ waiting: Confirmation, options: UInt, app: BundleID, _ manifest: AppManifest) {
        switch questions.ask(app, options: options, asker: waiting) {
        case .joined: break
        case .refused:
            waiting.connection.send([.authorizationAnswered(request: waiting.request, granted: false)])
        case .ask(let id):
            guard parts.presenter.hasScreen else { return couldNotAsk(id, "there is no screen") }
            parts.presenter.present(AuthorizationQuestion.presentation(id, options: options, manifest)) {
                [weak self] outcome in
                self?.enter { $0.asked(id, outcome) }
            }
        }
    }

    private func asked(_ id: NotificationID, _ outcome: PresentationOutcome) {
        switch outcome {
        case .failed(let reason), .kept(let reason): couldNotAsk(id, reason)
        case .presented(let handle, _):
            guard let app = questions[id]?.app, let handle else { return }
            enqueue(.asked(app: app, handle: handle))
        }
    }

    /// The questions that an earlier run left on the screen. Nobody takes their answers. Each leaves the screen, unless its
    /// app asks again soon: the new question takes its place.
    func inheritedQuestions() throws -> [ShownPresentation] {
        try store.read { try $0.questions() }.map { app, handle in
            let id = questions.nextID()
            enter(after: timing.returnLimit) { agent in
                agent.withdraw(id)
                if agent.questions.id(of: app) == nil {
                    agent.enqueue(.asked(app: app, handle: nil))
                }
            }
            return ShownPresentation(presentation: AuthorizationQuestion.place(id, app: app), handle: handle)
        }
    }

    private func couldNotAsk(_ id: NotificationID, _ reason: String) {
        guard let question = questions[id] else { return }
        logger.warning(
            "Nobody could be asked whether an app may send notifications; decide with `aldaba settings`.",
            metadata: [LogKey.topic: "\(question.app)", LogKey.error: "\(reason)"])
        settle(
            id, nil,
            reason: "nobody could be asked, since \(reason); a person allows it with `aldaba settings \(question.app) "
                + "allowed=yes`, or its manifest with \"authorization\": \"granted\"")
    }

    /// - Returns: Whether the event concerned a question.
    func handleQuestionEvent(_ event: PresenterEvent) -> Bool {
        switch event {
        case .pressed(let id, let button, _):
            guard questions[id] != nil else { return false }
            settle(id, AuthorizationQuestion.Answer(rawValue: button) ?? .deny)
        case .locked, .shownAgain: return false
        case .opened(let id, _), .dismissed(let id), .left(let id), .replied(let id, _, _):
            guard questions[id] != nil else { return false }
            // The person has not decided: the app may ask again.
            settle(id, nil)
        }
        return true
    }

    /// A person decided elsewhere: the open question has its answer.
    func settleQuestion(of app: BundleID) {
        guard let id = questions.id(of: app) else { return }
        withdraw(id)
        settle(id, nil)
    }

    private func settle(_ id: NotificationID, _ answer: AuthorizationQuestion.Answer?, reason: String? = nil) {
        guard let question = questions.close(id) else { return }
        enqueue(.asked(app: question.app, handle: nil))
        if let answer {
            change(question.app) {
                answer.settle(&$0)
                $0.options = question.options
            }
            logger.notice(
                "A person answered whether an app may send notifications.",
                metadata: [LogKey.topic: "\(question.app)"])
        }
        let isGranted = apps[question.app]?.record.authorization.allows ?? false
        for waiting in question.askers {
            waiting.connection.send([
                .authorizationAnswered(request: waiting.request, granted: isGranted, reason: isGranted ? nil : reason)
            ])
        }
    }

    /// Notes whether an app shows settings of its own, as it says with each request for authorization. The person is not
    /// asked about that.
    private func noteOwnSettings(_ options: UInt, of app: BundleID) {
        change(app) {
            $0.options &= ~AuthorizationOption.providesAppNotificationSettings
            $0.options |= options & AuthorizationOption.providesAppNotificationSettings
        }
    }
}
