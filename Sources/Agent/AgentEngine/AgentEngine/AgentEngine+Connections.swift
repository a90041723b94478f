import AgentProtocol
import PushCore

/// The connections of apps and of their companions: their start, the messages that they receive then, and their ends.
/// The connection of the role `app` is the app itself; those of other roles are its companions.
extension AgentEngine {
    /// In how many of the responses that wait for an app the one that opened it is sought.
    private static let launchResponseLimit = 64

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
        let stateByFocus = registry.stateByFocus(of: app, isScreenLocked: surroundings.isScreenLocked)
        apps[app]?.setInitialState(byFocus: stateByFocus)
        apps[app]?.tokens.connected()
        hand(.connected, to: app, context)
        giveData(.reconnected, to: app, context)
        welcome(connection, of: app, opened: answers.first { registry.effect(of: $0) != .none }?.notification)
        log(.info, "An app is connected.", [LogKey.topic: "\(app)"])
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
            [LogKey.topic: "\(sender.app)", LogKey.role: "\(sender.role.name)"])
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
            [LogKey.topic: "\(role.app)", LogKey.process: "\(newer.process)"])
        let what = role.role == .app ? role.app.rawValue : "the \(role.role.name) of \(role.app)"
        refuse(
            older, code: AgentMessage.superseded,
            "process \(newer.process) is \(what) now; this one gets nothing any more")
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
        questions.removeAskers { $0.connection == connection }
    }

    /// The connection of an app or of a companion is over.
    package mutating func disconnect(_ connection: AppConnectionID, _ context: Context) {
        guard let closed = registry.disconnect(connection), closed.role == .app else { return }
        let app = closed.app
        startReconnectTimer(of: app)
        apps[app]?.tokens.disconnected()
        hand(.disconnected, to: app, context)
        giveData(.reconnected, to: app, context)
        log(.info, "An app has gone.", [LogKey.topic: "\(app)"])
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
            tellDeletions(to: app, context)
            tellEnds(to: app, context)
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
        case .ready, .center(_, .pending), .center(_, .delivered): true
        default: false
        }
    }
}
