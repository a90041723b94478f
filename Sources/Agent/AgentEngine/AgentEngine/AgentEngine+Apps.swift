import AgentProtocol
import PushCore

/// Installation, changes and removal of apps.
///
/// An app is removed when its manifest is missing at two checks, since it may be missing for a moment while it is
/// rewritten. While the folder, or a file that may be the app's, cannot be read, the app is not removed. On removal its
/// queued notifications end with a reason, and the server deletes its token.
extension AgentEngine {
    /// The manifests were read. Known apps keep their state, and tokens are requested for new ones.
    ///
    /// - Throws: when the store cannot be read; the app concerned is not installed then.
    package mutating func manifestsLoaded(_ loaded: InstalledManifests, _ context: Context) throws {
        for (file, fault) in loaded.faults {
            log(.error, "A manifest cannot be used.", metadata: [LogKey.path: "\(file)", LogKey.error: "\(fault)"])
        }
        try installTerminal(context)
        for (id, manifest) in loaded.apps where apps[id]?.manifest != manifest && id != AppManifest.terminalID {
            let strings = settings.strings(manifest)
            if apps[id]?.takes(manifest, strings: strings) != true {
                try install(manifest, as: id, context)
            }
        }
        for (id, file) in loaded.files { apps[id]?.file = file }
        if loaded.mayChangeUnseen { registry.forgetManifests() }
        try lookForRemovals(loaded, context)
    }

    /// The terminal is an app whose notifications a person makes.
    private mutating func installTerminal(_ context: Context) throws {
        let id = AppManifest.terminalID
        guard apps[id] == nil else { return }
        let manifest = AppManifest(id: id, name: "aldaba", team: "", executable: "", authorization: .granted)
        apps[id] = InstalledApp(manifest: manifest, record: try context.store.record(of: id))
    }

    private mutating func install(_ manifest: AppManifest, as id: BundleID, _ context: Context) throws {
        let known = apps[id]
        let record = try known?.record ?? context.store.record(of: id)
        let registration = try context.store.registration(app: id, environment: settings.environment)
        for connection in registry.releaseConnections(of: id) {
            refuse(
                connection, code: "manifestChanged", "the manifest of \(id) has another program or team now")
        }
        apps[id] = InstalledApp(
            manifest: manifest, record: record, strings: settings.strings(manifest), replacing: known)
        emit(.link(.appInstalled(id, team: TeamID(rawValue: manifest.team))))
        if registration != .ended, known?.tokens.isEnding != true { requestToken(id) }
        emit(.rereadRequests(id))
    }

    // MARK: Removal

    private mutating func lookForRemovals(_ loaded: InstalledManifests, _ context: Context) throws {
        guard loaded.isReadable else { return }
        let known = try context.store.knownApps()
        let gone = known.union(apps.keys).subtracting(loaded.apps.keys).subtracting([AppManifest.terminalID])
        for app in gone where !loaded.mayHave(app, in: apps[app]?.file) && registry.noteMissing(app) {
            emit(.wait(timing.removalTimeout, then: .lookForApp(app)))
        }
        // Apps that have device tokens and are not installed any more.
        for (app, team) in try context.store.registeredApps(environment: settings.environment)
        where apps[app] == nil && team != nil && !loaded.mayHave(app, in: nil) {
            emit(.link(.requestTokenEnd(app)))
        }
    }

    /// Removes an app whose manifest is missing at the second look, too.
    ///
    /// - Parameter load: Reads the manifests.
    package mutating func lookForApp(_ app: BundleID, _ context: Context, load: () -> InstalledManifests) {
        guard registry.isMissing(app) else { return }
        let isRegistered: Bool
        do {
            isRegistered = try context.store.registeredApps(environment: settings.environment).contains {
                $0.app == app && $0.team != nil
            }
        } catch {
            fail(error)
            return emit(.wait(timing.storePause, then: .lookForApp(app)))
        }
        registry.endMissing(app)
        let loaded = load()
        guard loaded.isReadable, !loaded.mayHave(app, in: apps[app]?.file) else { return }
        closeQuestion(of: app)
        if let installed = apps[app] { part(from: installed) }
        apps[app] = nil
        settleActivities(.removed(app: app), context)
        enqueue(.appRemoved(app: app, at: context.now))
        emit(.removed(app))
        if isRegistered { emit(.link(.requestTokenEnd(app))) }
        log(.notice, "An app was removed.", metadata: [LogKey.topic: "\(app)"])
    }

    private mutating func part(from installed: InstalledApp) {
        let id = installed.manifest.id
        for connection in registry.releaseConnections(of: id) {
            refuse(connection, code: "unknownApp", "\(id) was removed from this device")
        }
        if installed.record.badge > 0 {
            emit(.badge(0, desktopEntry: installed.manifest.desktopEntry ?? id.rawValue))
        }
    }
}

/// The connections of apps and of their companions: their start, the messages that they receive then, and their ends.
/// The connection of the role `app` is the app itself; those of other roles are its companions.
extension AgentEngine {
    /// The number of an app's waiting responses that are searched for the one that opened it.
    private static let launchResponseLimit = 64

    /// A process that proved to be an app has connected: its run begins, or goes on.
    ///
    /// - Parameter run: The name of the app's run; without one, the process is the run.
    package mutating func beginRun(_ run: String?, of app: BundleID, connection: AppConnectionID, context: Context) {
        if let run { enqueue(.begun(app: app, run: run)) }
        noteUnanswered(of: app)
        guard let unanswered = apps[app]?.attempts.begin(run ?? "process \(connection.process)") else { return }
        countAttempts(unanswered, of: app, context)
    }

    /// An app, whose process has proved to be it, has connected.
    ///
    /// - Parameter run: The name of the app's run. That it has begun must be committed before.
    /// - Returns: The requests that this run has made; `nil` without a name.
    package mutating func connectApp(
        _ app: BundleID, connection: AppConnectionID, run: String?, context: Context
    ) throws -> CompletedRequests? {
        let asked = try run.map { CompletedRequests(run: $0, done: try context.store.done(app: app, run: $0)) }
        let answers = try context.store.waitingResponses(app: app, after: 0, limit: Self.launchResponseLimit)
        take(AppRole(app: app, role: .app), by: connection)
        let stateByFocus = registry.stateByFocus(of: app, isScreenLocked: screenAndQuietHours.isScreenLocked)
        apps[app]?.setInitialState(byFocus: stateByFocus)
        apps[app]?.supervisor.isKeptByOther = context.isSibling(connection.process)
        apps[app]?.tokens.connected()
        hand(.connected, to: app, context)
        giveData(.reconnected, to: app, context)
        let opening = answers.first { registry.effect(of: $0) != .none }
        if let opening { hand(.launchedFor(opening.sequence), to: app, context) }
        welcome(connection, of: app, opened: opening?.notification)
        log(.info, "An app is connected.", metadata: [LogKey.topic: "\(app)"])
        emit(.connected(app))
        return asked
    }

    /// A companion of an app, whose process has proved to be the app's, has connected. The app's own connection and
    /// state do not change.
    package mutating func connectCompanion(_ sender: AppRole, _ connection: AppConnectionID) {
        take(sender, by: connection)
        welcome(connection, of: sender.app)
        log(
            .info, "A companion of an app is connected.",
            metadata: [LogKey.topic: "\(sender.app)", LogKey.role: "\(sender.role.name)"])
    }

    private mutating func welcome(
        _ connection: AppConnectionID, of app: BundleID, opened: WaitingNotification? = nil
    ) {
        let state = apps[app].map { $0.isInFront ? .active : $0.supervisor.state } ?? .active
        send(
            [
                .welcome(
                    .init(
                        state: state, authorization: notificationSettings(of: app).authorizationStatus,
                        launchNotification: opened.map { registry.delivered($0) }))
            ], to: connection)
    }

    /// A service extension that the agent started has connected.
    package mutating func welcomeExtension(_ connection: AppConnectionID, of app: BundleID) {
        send(
            [
                .welcome(
                    .init(
                        state: .background, authorization: notificationSettings(of: app).authorizationStatus))
            ], to: connection)
    }

    /// Gives a role of an app to a connection, and closes the connection that had the role.
    private mutating func take(_ role: AppRole, by connection: AppConnectionID) {
        if let older = registry.connect(connection, as: role) { supersede(older, by: connection, as: role) }
    }

    /// Ends the older connection of a role. If the process is the same, it has reconnected and left the older one
    /// behind. Another process is told not to reconnect: otherwise the two would end each other's connections for ever.
    private mutating func supersede(_ older: AppConnectionID, by newer: AppConnectionID, as role: AppRole) {
        guard older.process != newer.process else { return emit(.close(older)) }
        log(
            .warning, "A second process of an app took over.",
            metadata: [LogKey.topic: "\(role.app)", LogKey.process: "\(newer.process)"])
        let what = role.role == .app ? role.app.rawValue : "the \(role.role.name) of \(role.app)"
        let message =
            role.role == .relayService
            ? "\(InstalledApp.relayLimit) newer processes of \(role.app) relay, and no more may; this one ends as the oldest"
            : "process \(newer.process) is \(what) now; this one gets nothing any more"
        refuse(older, code: AgentMessage.superseded, message)
    }

    /// Refuses a connection in the role of a service extension whose process the agent did not start.
    package mutating func refuseUnstarted(_ connection: AppConnectionID, of app: BundleID?) {
        refuse(
            connection, code: "notThisRole",
            "the serviceExtension of \(app?.rawValue ?? "an app") has nothing to say after hello, since the agent "
                + "did not start it")
    }

    // MARK: The end

    /// Removes everything that waits for answers over a connection that has closed.
    package mutating func forgetAsker(_ connection: AppConnectionID) {
        // The answer to a question whose terminal has gone has no receiver.
        let unasked = terminals.remove { $0.connection == connection }
        if !unasked.isEmpty { enqueue(.unlisted(app: AppManifest.terminalID, identifiers: unasked)) }
        channelWaiters.remove { $0.connection == connection }
        activityObservers.remove(connection)
        activityAskers.removeAll { $0.connection == connection }
        questions.removeAskers { $0.connection == connection }
    }

    /// The connection of an app or of a companion is over.
    package mutating func disconnect(_ connection: AppConnectionID, _ context: Context) {
        guard let closed = registry.disconnect(connection), closed.role == .app else { return }
        let app = closed.app
        noteUnanswered(of: app)
        // A process of 0 is one that the agent cannot see.
        let isKnown = connection.process > 0 && apps[app]?.supervisor.isKeptByOther == false
        startReconnectTimer(of: app, leftBy: isKnown ? connection.process : nil)
        apps[app]?.tokens.disconnected()
        hand(.disconnected, to: app, context)
        giveData(.reconnected, to: app, context)
        log(.info, "An app has gone.", metadata: [LogKey.topic: "\(app)"])
    }

    /// Keeps what the connected app has not answered, until it is known whether its run is over.
    private mutating func noteUnanswered(of app: BundleID) {
        guard let installed = apps[app], let connection = installed.connection else { return }
        apps[app]?.attempts.disconnected(installed.unanswered, process: connection.process)
    }

    private mutating func countAttempts(_ unanswered: UnansweredHandovers, of app: BundleID, _ context: Context) {
        guard let installed = apps[app] else { return }
        enqueue(.runEnded(app: app, unanswered, conditions(of: installed, context), at: context.now))
    }

    /// The attempts of a run that is over are stored.
    mutating func attemptsCounted(of app: BundleID, counted: Int, givenUp: Int, _ context: Context) {
        for (count, sentence) in [
            (counted - givenUp, "An app ended while it handled what it was given; it is given that again."),
            (givenUp, "An app ended again while it handled what it was given; it is not given that any more."),
        ] where count > 0 {
            log(.warning, sentence, metadata: [LogKey.topic: "\(app)", LogKey.count: "\(count)"])
        }
        guard apps[app]?.attempts.looksForResponses == true else { return }
        apps[app]?.attempts.looksForResponses = false
        supervise(.responsesRequired, app: app, context: context)
    }

    // MARK: Messages

    /// Performs a message of an app, or of a companion in its name.
    ///
    /// - Throws: when the store cannot be read.
    package mutating func perform(
        _ message: AppMessage, from app: BundleID, connection: AppConnectionID, context: Context
    ) throws {
        switch message {
        case .ready:
            hand(.ready, to: app, context)
            supervise(.ready, app: app, context: context)
            sendDeletions(to: app, context)
            sendUpstreamEnds(to: app, context)
        case .handled(let id, let outcome): hand(.handled(NotificationID(rawValue: id), outcome), to: app, context)
        case .responseHandled(let response):
            supervise(.responseHandled, app: app, context: context)
            hand(.responseHandled(WaitingResponse.Place(rawValue: response)), to: app, context)
        case .deletionTaken(let deletion): enqueue(.deletionTaken(NotificationID(rawValue: deletion), app: app))
        case .requestAuthorization(let request, let options):
            askForAuthorization(request, options: options, app: app, connection: connection, context: context)
        case .center(let request, let command):
            handleCenterCommand(command, request: request, from: app, connection: connection, context: context)
        case .getSettings(let request): giveSettings(request, of: app, to: connection)
        case .registerForRemoteNotifications(let request):
            try giveToken(request, app: app, connection: connection, context: context)
        case .unregisterForRemoteNotifications(let request): endToken(request, of: app, connection)
        // With the life cycle `always` a connected app is active, whatever it declares.
        case .stateChanged(let state): apps[app]?.enter(state)
        case .fetch(let request, _):
            let failure = MediaFailure(.refusedURL, "files are fetched for an app's service extension, not for the app")
            send([.fetched(request: request, .failed(failure))], to: connection)
        case .open(let request, let url, let isTrial):
            guard apps[app]?.manifest.opens(url) != true else {
                return send([.opened(request: request, .own)], to: connection)
            }
            emit(.open(url, isTrial: isTrial, Confirmation(connection: connection, request: request)))
        case .activity(let command): try handle(command, from: app, connection: connection, context: context)
        case .channel(let command): handleChannelCommand(command, from: app, connection: connection, context: context)
        // A second hello changes nothing.
        case .hello, .manage, .extended, .extensionFailed, .relay, .unknown: break
        }
    }

    /// Sends an app's notification settings.
    package mutating func giveSettings(_ request: Int64, of app: BundleID, to connection: AppConnectionID) {
        send([.settings(request: request, notificationSettings(of: app))], to: connection)
    }
}

extension AppMessage {
    /// Whether the batch must be committed before an app's message is taken: it is answered from the store.
    package var isAnsweredFromStore: Bool {
        switch self {
        case .ready, .activity, .center(_, .pending), .center(_, .delivered): true
        default: false
        }
    }
}

/// Apps that are started, woken and waited for, and those that follow the focus. `AppSupervisor` decides.
extension AgentEngine {
    /// Gives an app that may be running time to connect. After that, what waits for it is shown, and it is started
    /// where responses wait.
    ///
    /// - Parameter process: The process that had the app's connection; once that has ended, the app is not waited for.
    package mutating func startReconnectTimer(of app: BundleID, leftBy process: Int32? = nil) {
        let deadline = registry.awaitReconnect(of: app)
        if let process { lookForEnd(of: process, app: app, deadline: deadline) }
        emit(.wait(timing.returnLimit, then: .supervise(.returnLimitPassed(deadline: deadline), app)))
    }

    private mutating func lookForEnd(of process: Int32, app: BundleID, deadline: Int) {
        emit(.wait(timing.endPause, then: .supervise(.endLookDue(deadline: deadline, process: process), app)))
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
                    hasActivator: settings.hasActivator, now: context.now, isRunning: context.isRunning)
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
            if let unanswered = apps[app]?.attempts.absent(isRunning: context.isRunning) {
                // What waits for the app is known once its attempts are stored.
                apps[app]?.attempts.looksForResponses = true
                countAttempts(unanswered, of: app, context)
                return nil
            }
            let page = try context.store.waitingResponses(app: app, after: 0, limit: 1)
            return .responsesRead(areWaiting: !page.isEmpty)
        case .readWaking: return readWaking(app, context)
        case .enter(let state): sendMessages(to: app, [.enter(state)])
        case .handResponses: hand(.responded, to: app, context)
        case .openSettings: sendMessages(to: app, [.openSettings(nil)])
        case .activate(let token):
            guard let installed = apps[app] else { return nil }
            emit(.activate(app, AppActivation(busName: installed.manifest.busName, token: token)))
        case .awaitActivation(let reason):
            emit(.wait(timing.returnLimit, then: .supervise(.activationLimitPassed(reason: reason), app)))
        case .awaitReturn: startReconnectTimer(of: app)
        case .lookForEnd(let deadline, let process): lookForEnd(of: process, app: app, deadline: deadline)
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
    package mutating func focusChanged(_ focus: WindowFocus) {
        registry.focus = focus
        followWindowFocus()
    }

    /// Notifies the apps that follow the focus of their states, where these have changed.
    mutating func followWindowFocus() {
        for (connection, state) in registry.followWindowFocus(isScreenLocked: screenAndQuietHours.isScreenLocked) {
            send([.enter(state)], to: connection)
        }
    }
}
