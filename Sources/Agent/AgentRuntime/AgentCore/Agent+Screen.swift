import AgentEngine
import Foundation
import PushCore

/// The presenter, and what else a person sees: windows for replies, and stills of movies.
extension Agent {
    /// Waits a short time for the desktop to report whether the screen is locked: what appears depends on it.
    func learnScreen() async {
        enter(after: timing.lockTimeout) { $0.endScreenWait() }
        await withCheckedContinuation { continuation in
            if engine.surroundings.isScreenKnown { continuation.resume() } else { screenWaiter = continuation }
        }
    }

    private func endScreenWait() {
        screenWaiter?.resume()
        screenWaiter = nil
    }

    func handlePresenterEvent(_ event: PresenterEvent) {
        if onRelay({ $0.answered(event) }) { return }
        if event.isAnsweredFromStore { flush() }
        decide { $0.handlePresenterEvent(event, $1) }
        if case .locked = event { endScreenWait() }
    }

    func withdraw(_ id: NotificationID) { AgentStep.withdraw.take { parts.presenter.withdraw(id) } }

    func showQuestion(_ question: Presentation) {
        parts.presenter.present(question) { [weak self] outcome in
            self?.enter { $0.decide { engine, _ in engine.questionShown(question.notification, outcome) } }
        }
    }

    func present(_ presentation: Presentation, _ notification: WaitingNotification, again: Bool) {
        AgentStep.present.take {
            parts.presenter.present(presentation) { [weak self] outcome in
                self?.enter { agent in
                    agent.decide { $0.presented(notification, outcome, again: again, $1) }
                    if case .presented(_?, _) = outcome { agent.addStill(to: notification) }
                }
            }
        }
    }

    /// Has the still of a movie made for a notification on the screen.
    private func addStill(to notification: WaitingNotification) {
        guard let attachment = PresentationComposer.visible(of: notification.says),
            parts.stills.canMake(of: attachment.path),
            !FileManager.default.fileExists(atPath: PresentationComposer.still(of: attachment))
        else { return }
        parts.stills.make(of: attachment.path, at: PresentationComposer.still(of: attachment)) { [weak self] isMade in
            if isMade { self?.enter { $0.decide { $0.stillMade(of: notification.id, $1) } } }
        }
    }

    func askForReply(_ request: AgentEngine.ReplyRequest) {
        parts.replyWindow.ask(ReplyQuestion(appName: request.appName)) { [weak self] answer in
            self?.enter { $0.decide { $0.replied(request, answer, $1) } }
        }
    }
}
