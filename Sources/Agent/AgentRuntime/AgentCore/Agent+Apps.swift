import AgentEngine
import AgentProtocol
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
        guard registry.manifestsChanged(appFolder.mark()) else { return }
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
                        agent.decide { $0.supervise(.ended(process: process), app, $1) }
                        agent.onRelay { $0.notRunning(app) }
                    }
                }
            }
            logger.info("An app was started.", metadata: [LogKey.topic: "\(app)"])
            decide { $0.supervise(.launched(process: process), app, $1) }
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
