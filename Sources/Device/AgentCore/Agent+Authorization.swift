import AgentWire
import AppConnections
import DeviceModel
import Logging
import Observability
import PushModel

/// The question whether an app may send notifications: asked once, on the desktop, and remembered.
extension Agent {
    /// What a person can answer; the raw values name the buttons.
    private enum Answer: String, CaseIterable {
        case allow
        /// Into the list only: no alerts, sounds and badges. The person may change each of these.
        case quiet
        case deny

        var label: String {
            switch self {
            case .allow: "Allow"
            case .quiet: "Deliver Quietly"
            case .deny: "Don’t Allow"
            }
        }

        func settle(_ standing: inout AppNotificationRecord) {
            standing.authorization = self == .deny ? .denied : .authorized
            guard self == .quiet else { return }
            (standing.settings.alerts, standing.settings.sounds, standing.settings.badges) = (false, false, false)
        }
    }

    private static let questionIdentifier = "aldaba.authorization"

    func askForAuthorization(_ request: Int64, options: UInt, app: String, _ connection: AppConnection) {
        guard let installed = apps[app] else { return }
        func answer(_ granted: Bool) {
            connection.send([.authorizationAnswered(request: request, granted: granted)])
        }
        noteOwnSettings(options, of: app)
        if installed.manifest.authorization != .ask { return answer(installed.manifest.authorization == .granted) }
        switch installed.standing.authorization {
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

    private func ask(_ waiting: Confirmation, options: UInt, app: String, _ manifest: AppManifest) {
        switch questions.ask(app, options: options, asker: waiting) {
        case .joined: break
        case .refused:
            waiting.connection.send([.authorizationAnswered(request: waiting.request, granted: false)])
        case .ask(let id):
            guard parts.presenter.hasScreen else { return couldNotAsk(id, "there is no screen") }
            parts.presenter.present(question(id, options: options, manifest)) { [weak self] outcome in
                self?.enter { $0.asked(id, outcome) }
            }
        }
    }

    private func asked(_ id: NotificationID, _ outcome: PresentationOutcome) {
        switch outcome {
        case .failed(let reason): couldNotAsk(id, reason)
        case .presented(let handle, _):
            guard let app = questions[id]?.app, let handle else { return }
            enqueue(.asked(app: app, handle: handle))
        }
    }

    private func question(_ id: NotificationID, options: UInt, _ manifest: AppManifest) -> Presentation {
        var question = Presentation(
            notification: id, app: manifest.id, appName: manifest.name, icon: manifest.icon,
            identifier: Self.questionIdentifier,
            title: "“\(manifest.name)” would like to send you notifications",
            body: "They may have \(Self.words(for: options)). You can change this at any time.")
        question.openLabel = "Later"
        question.buttons = Answer.allCases.map { Presentation.Button(identifier: $0.rawValue, label: $0.label) }
        question.stays = true
        question.isQuestion = true
        question.desktopEntry = manifest.desktopEntry
        return question
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
            var place = Presentation(
                notification: id, app: app, appName: app, identifier: Self.questionIdentifier, title: "", body: "")
            place.isQuestion = true
            return ShownPresentation(presentation: place, handle: handle)
        }
    }

    private static func words(for options: UInt) -> String {
        let kinds = [
            (AuthorizationOption.alert, "alerts"), (AuthorizationOption.sound, "sounds"),
            (AuthorizationOption.badge, "a number on the icon"),
        ]
        let words = kinds.filter { options & $0.0 != 0 }.map(\.1)
        guard let last = words.last else { return "alerts, sounds and a number on the icon" }
        return words.count == 1 ? last : words.dropLast().joined(separator: ", ") + " and " + last
    }

    private func couldNotAsk(_ id: NotificationID, _ reason: String) {
        guard let question = questions[id] else { return }
        logger.warning(
            "Nobody could be asked whether an app may send notifications; decide with `aldaba settings`.",
            metadata: [LogKey.topic: "\(question.app)", LogKey.error: "\(reason)"])
        settle(id, nil)
    }

    /// - Returns: Whether the event concerned a question.
    func handleQuestionEvent(_ event: PresenterEvent) -> Bool {
        switch event {
        case .pressed(let id, let button, _):
            guard questions[id] != nil else { return false }
            settle(id, Answer(rawValue: button) ?? .deny)
        case .locked, .shownAgain: return false
        case .opened(let id, _), .dismissed(let id), .left(let id), .replied(let id, _, _):
            guard questions[id] != nil else { return false }
            // The person has not decided: the app may ask again.
            settle(id, nil)
        }
        return true
    }

    /// A person decided elsewhere: the open question has its answer.
    func settleQuestion(of app: String) {
        guard let id = questions.id(of: app) else { return }
        withdraw(id)
        settle(id, nil)
    }

    private func settle(_ id: NotificationID, _ answer: Answer?) {
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
        let isGranted = apps[question.app]?.standing.authorization.allows ?? false
        for waiting in question.askers {
            waiting.connection.send([.authorizationAnswered(request: waiting.request, granted: isGranted)])
        }
    }
}
