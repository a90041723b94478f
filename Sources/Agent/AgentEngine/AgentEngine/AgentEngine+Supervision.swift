import AgentProtocol
import PushCore

/// Apps that are started, woken and waited for, and those that follow the focus. `AppSupervisor` decides.
extension AgentEngine {
    /// Gives an app that may be running time to connect. After that, what waits for it is shown, and it is started
    /// where responses wait.
    package mutating func startReconnectTimer(of app: BundleID) {
        let deadline = registry.awaitReconnect(of: app)
        emit(.wait(timing.returnLimit, then: .supervise(.returnLimitPassed(deadline: deadline), app)))
    }

    /// Passes an event to an app's supervisor, and follows its directives.
    package mutating func supervise(
        _ event: AppSupervisor<AppConnectionID>.Event, app: BundleID, context: Context
    ) {
        var events = [event]
        do {
            while !events.isEmpty, let installed = apps[app] {
                let conditions = AppSupervisor<AppConnectionID>.Conditions(
                    manifest: installed.manifest, mayShow: installed.delivery.mayShow,
                    hasActivator: settings.hasActivator, now: context.now)
                for directive in apps[app]?.supervisor.handle(events.removeFirst(), conditions) ?? [] {
                    if let answer = try followSupervisor(directive, app: app, context: context) {
                        events.append(answer)
                    }
                }
            }
        } catch {
            fail(error)
        }
    }

    /// - Returns: The event with which the supervisor must be answered; `nil` for none.
    private mutating func followSupervisor(
        _ directive: AppSupervisor<AppConnectionID>.Directive, app: BundleID, context: Context
    ) throws -> AppSupervisor<AppConnectionID>.Event? {
        switch directive {
        case .showUnhandled:
            guard let installed = apps[app] else { return nil }
            enqueue(.leftUnhandled(app: app, conditions(of: installed, context), at: context.now))
        case .readResponses:
            let page = try context.store.waitingResponses(app: app, after: 0, limit: 1)
            return .responsesRead(areWaiting: !page.isEmpty)
        case .readWaking: return readWaking(app, context)
        case .enter(let state): tell(app, [.enter(state)])
        case .handResponses: hand(.responded, to: app, context)
        case .openSettings: tell(app, [.openSettings(nil)])
        case .activate(let token):
            guard let installed = apps[app] else { return nil }
            emit(.activate(app, AppActivation(busName: installed.manifest.busName, token: token)))
        case .awaitActivation(let reason):
            emit(.wait(timing.returnLimit, then: .supervise(.activationLimitPassed(reason: reason), app)))
        case .awaitReturn: startReconnectTimer(of: app)
        case .launch(let token): launch(app, activationToken: token)
        case .awaitLaunch: emit(.wait(timing.launchLimit, then: .supervise(.launchLimitPassed, app)))
        case .deferWaking: enqueue(.deferred(app: app, at: context.now))
        case .wakeLater(let pause): emit(.wait(pause, then: .supervise(.wakePauseEnded, app)))
        case .dropResponses: enqueue(.responsesDropped(app: app, at: context.now))
        case .log(let notice): emit(.logSupervisor(notice, app))
        }
        return nil
    }

    /// Starts an app that another device asks for, unless it runs.
    package mutating func startForRelay(_ app: BundleID) {
        if let installed = apps[app], installed.connection == nil { launch(app, activationToken: nil) }
    }

    private mutating func launch(_ app: BundleID, activationToken: String?) {
        apps[app]?.supervisor.run.launch()
        emit(.launch(app, token: activationToken))
    }

    /// An app's program could not be started.
    package mutating func launchFailed(_ app: BundleID) { apps[app]?.supervisor.run.launchFailed() }

    private mutating func readWaking(
        _ app: BundleID, _ context: Context
    ) -> AppSupervisor<AppConnectionID>.Event {
        do {
            return .wakingRead(isWaiting: try context.store.hasWaking(app: app))
        } catch {
            fail(error)
            return .wakingUnreadable(pause: timing.storePause)
        }
    }

    // MARK: The focus

    /// The focus has moved, or cannot be observed any more.
    package mutating func focusChanged(_ focus: AppFocus) {
        registry.focus = focus
        followFocus()
    }

    /// Notifies the apps that follow the focus of their states, where these have changed.
    mutating func followFocus() {
        for (connection, state) in registry.followFocus(isScreenLocked: surroundings.isScreenLocked) {
            send([.enter(state)], to: connection)
        }
    }
}
