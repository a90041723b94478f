import AgentEngine
import AgentProtocol
import Foundation
import Logging
import Networking
import Platform
import PushCore

/// The manifests of apps, their programs, and the focus that some follow.
extension Agent {
    private var appFolder: AppFolder { AppFolder(path: configuration.appsFolder) }

    // MARK: Manifests

    /// Reads the manifests where any has changed.
    ///
    /// - Throws: when the store cannot be read. The app concerned is not installed then; the manifests are read again
    ///   soon.
    func loadApps() throws {
        guard registry.updateFingerprint(appFolder.mark()) else { return }
        do {
            let loaded = appFolder.load()
            try decide { try $0.manifestsLoaded(loaded, $1) }
            watchFocus()
        } catch {
            registry.forgetManifests()
            loadAppsLater()
            throw error
        }
    }

    private func loadAppsLater() {
        guard registry.scheduleLook() else { return }
        enter(after: timing.storePause) { agent in
            agent.registry.beginLook()
            do {
                try agent.loadApps()
            } catch {
                agent.storeFailed(error)
            }
        }
    }

    func lookForApp(_ app: BundleID) { decide { $0.lookForApp(app, $1) { appFolder.load() } } }

    /// An app is not on this device any more.
    func removed(_ app: BundleID) {
        onRelay { $0.removed(app) }
        onLink { $0.appRemoved(app) }
        attachments.remove(app)
        parts.media?.remove(app)
    }

    // MARK: Programs

    func launch(_ app: BundleID, _ token: String?) {
        guard let manifest = apps[app]?.manifest else { return }
        var variables = ["ALDABA_AGENT_SOCKET": configuration.socketPath, "ALDABA_APP_ID": app.rawValue]
        variables["XDG_ACTIVATION_TOKEN"] = token
        do {
            let process = try AgentStep.startApp.take {
                try parts.launcher.launch(manifest, variables: variables) { [weak self] process in
                    self?.enter { agent in
                        agent.decide { $0.supervise(.ended(process: process), app: app, context: $1) }
                        agent.onRelay { $0.notRunning(app) }
                    }
                }
            }
            logger.info("An app was started.", metadata: [LogKey.topic: "\(app)"])
            decide { $0.supervise(.launched(process: process), app: app, context: $1) }
        } catch {
            logger.error(
                "An app could not be started.", metadata: [LogKey.topic: "\(app)", LogKey.error: "\(error)"])
            decide { engine, _ in engine.launchFailed(app) }
            onRelay { $0.notRunning(app) }
        }
    }

    /// Starts an app that another device asks for, unless it runs.
    func launchForRelay(_ app: BundleID) { decide { engine, _ in engine.startForRelay(app) } }

    // MARK: The focus

    /// Begins to watch the focus, once there is an app that follows it.
    private func watchFocus() {
        guard registry.wantsFocus else { return }
        registry.focus = .on([])
        guard let source = parts.focus else { return handleFocusEvent(.ended(reason: "there is no X11 display")) }
        source.start { [weak self] event in self?.enter { $0.handleFocusEvent(event) } }
    }

    private func handleFocusEvent(_ event: FocusEvent) {
        switch event {
        case .focused(let process):
            let line = process.map { ProcessTree.line(of: $0, parent: parts.parent) } ?? []
            decide { engine, _ in engine.focusChanged(.on(line)) }
        case .ended(let reason):
            logger.warning(
                "Nobody tells which window has the focus; apps with the life cycle focus are where they say.",
                metadata: [LogKey.error: "\(reason)"])
            decide { engine, _ in engine.focusChanged(.on([])) }
            registry.focus = .unknown
        }
    }
}

/// The presenter, and what else a person sees: windows for replies, and stills of movies.
extension Agent {
    /// Waits a short time for the desktop to report whether the screen is locked: what appears depends on it.
    func loadScreenState() async {
        enter(after: timing.lockTimeout) { $0.endScreenWait() }
        await withCheckedContinuation { continuation in
            if engine.screenAndQuietHours.isScreenKnown { continuation.resume() } else { screenWaiter = continuation }
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
                    agent.decide { $0.presented(notification, outcome: outcome, again: again, context: $1) }
                    if case .presented(_?, _) = outcome { agent.addStill(to: notification) }
                }
            }
        }
    }

    /// Has the still of a movie made for a notification on the screen.
    private func addStill(to notification: WaitingNotification) {
        guard let attachment = PresentationComposer.visible(of: notification.effectiveContent),
            parts.stills.canMake(of: attachment.path),
            !FileManager.default.fileExists(atPath: PresentationComposer.still(of: attachment))
        else { return }
        parts.stills.make(of: attachment.path, at: PresentationComposer.still(of: attachment)) { [weak self] isMade in
            if isMade { self?.enter { $0.decide { $0.stillMade(of: notification.id, $1) } } }
        }
    }

    func askForReply(_ request: ReplyRequest) {
        parts.replyWindow.ask(request.question) { [weak self] answer in
            self?.enter { $0.decide { $0.replied(request, answer: answer, context: $1) } }
        }
    }
}
