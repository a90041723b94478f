import AgentWire
import AppConnections
import DeviceModel
import DevicePorts
import DeviceStore
import InstalledApps
import Logging
import Machine
import Observability
import PushModel

/// Apps that are started, woken and waited for. ``AppSupervisor`` decides; here its directives are followed.
extension Agent {
    /// Gives an app that may be running time to connect. After that, what waits for it is shown, and it is started where
    /// responses wait.
    func startReconnectTimer(of app: BundleID) {
        let deadline = registry.awaitReconnect(of: app)
        enter(after: timing.returnLimit) { $0.supervise(.returnLimitPassed(deadline: deadline), app) }
    }

    /// Passes an event to an app's supervisor, and follows its directives.
    func supervise(_ event: AppSupervisor<AppConnection>.Event, _ app: BundleID) {
        var events = [event]
        do {
            while !events.isEmpty, let installed = apps[app] {
                let conditions = AppSupervisor<AppConnection>.Conditions(
                    manifest: installed.manifest, mayShow: installed.delivery.mayShow,
                    hasActivator: parts.activator != nil, now: parts.now())
                for directive in apps[app]?.supervisor.handle(events.removeFirst(), conditions) ?? [] {
                    if let answer = try follow(directive, app) { events.append(answer) }
                }
            }
        } catch {
            storeFailed(error)
        }
    }

    /// - Returns: The event that the supervisor must be told in answer; `nil` for none.
    private func follow(
        _ directive: AppSupervisor<AppConnection>.Directive, _ app: BundleID
    ) throws -> AppSupervisor<AppConnection>.Event? {
        switch directive {
        case .showUnhandled:
            guard let installed = apps[app] else { return nil }
            enqueue(.leftUnhandled(app: app, conditions(of: installed), at: parts.now()))
        case .readResponses:
            let page = try store.read { try $0.waitingResponses(app: app, after: 0, limit: 1) }
            return .responsesRead(areWaiting: !page.isEmpty)
        case .readWaking: return readWaking(app)
        case .enter(let state): apps[app]?.connection?.send([.enter(state)])
        case .handResponses: hand(.responded, to: app)
        case .openSettings: apps[app]?.connection?.send([.openSettings(nil)])
        case .activate(let token): activate(app, token)
        case .awaitActivation(let reason):
            enter(after: timing.returnLimit) { $0.supervise(.activationLimitPassed(reason: reason), app) }
        case .awaitReturn: startReconnectTimer(of: app)
        case .launch(let token): return launch(app, token)
        case .awaitLaunch: enter(after: timing.launchLimit) { $0.supervise(.launchLimitPassed, app) }
        case .deferWaking: enqueue(.deferred(app: app, at: parts.now()))
        case .wakeLater(let pause): enter(after: pause) { $0.supervise(.wakePauseEnded, app) }
        case .dropResponses: enqueue(.responsesDropped(app: app, at: parts.now()))
        case .log(let notice): logger.log(notice, of: app)
        }
        return nil
    }

    private func readWaking(_ app: BundleID) -> AppSupervisor<AppConnection>.Event {
        do {
            return .wakingRead(isWaiting: try store.read { try $0.hasWaking(app: app) })
        } catch {
            storeFailed(error)
            return .wakingUnreadable(pause: timing.storePause)
        }
    }

    private func activate(_ app: BundleID, _ token: String?) {
        guard let installed = apps[app] else { return }
        let activation = AppActivation(busName: installed.manifest.busName, token: token)
        parts.activator?.activate(activation) { [weak self] outcome in
            self?.enter { $0.supervise(.activation(outcome), app) }
        }
    }

    private func launch(_ app: BundleID, _ token: String?) -> AppSupervisor<AppConnection>.Event? {
        guard let installed = apps[app] else { return nil }
        var variables = ["ALDABA_AGENT_SOCKET": configuration.socketPath, "ALDABA_APP_ID": app.rawValue]
        variables["XDG_ACTIVATION_TOKEN"] = token
        do {
            let process = try AgentStep.startApp.take {
                try parts.launcher.launch(installed.manifest, variables: variables) { [weak self] process in
                    self?.enter { $0.supervise(.ended(process: process), app) }
                }
            }
            logger.info("An app was started.", metadata: [LogKey.topic: "\(app)"])
            return .launched(process: process)
        } catch {
            logger.error(
                "An app could not be started.",
                metadata: [
                    LogKey.topic: "\(app)", LogKey.error: "\(error)",
                ])
            return nil
        }
    }

    /// Starts an app that another device asks for, unless it runs.
    func launchForRelay(_ app: BundleID) {
        guard let installed = apps[app], installed.connection == nil else { return }
        if let event = launch(app, nil) { supervise(event, app) }
    }

    // MARK: The focus

    /// Begins to watch the focus, once there is an app that follows it.
    func watchFocus() {
        guard registry.wantsFocus else { return }
        registry.focus = .on([])
        guard let source = parts.focus else { return handleFocusEvent(.ended(reason: "there is no X11 display")) }
        source.start { [weak self] event in self?.enter { $0.handleFocusEvent(event) } }
    }

    private func handleFocusEvent(_ event: FocusEvent) {
        switch event {
        case .focused(let process):
            registry.focus = .on(process.map { ProcessTree.line(of: $0, parent: parts.parent) } ?? [])
            followFocus()
        case .ended(let reason):
            logger.warning(
                "Nobody tells which window has the focus; apps with the life cycle focus are where they say.",
                metadata: [LogKey.error: "\(reason)"])
            registry.focus = .on([])
            followFocus()
            registry.focus = .unknown
        }
    }

    /// Tells the apps that follow the focus where they stand, where that has changed.
    func followFocus() {
        for (connection, state) in registry.followFocus(isScreenLocked: surroundings.isScreenLocked) {
            connection.send([.enter(state)])
        }
    }
}
