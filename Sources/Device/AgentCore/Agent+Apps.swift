import AgentWire
import AppConnections
import DeviceModel
import InstalledApps
import Logging
import Observability
import PushModel

extension Agent {
    /// How many unanswered requests for a device token one app may have.
    private static let tokenRequestLimit = 64
    /// In how many of the responses that wait for an app the one that opened it is sought.
    private static let launchAnswers = 64

    /// Reads the manifests where any has changed. Known apps keep their state, and tokens are requested for new ones.
    ///
    /// - Throws: when the store cannot be read. The app concerned is not installed then; the manifests are read again soon.
    func loadApps() throws {
        let folder = AppFolder(path: configuration.appsFolder)
        guard registry.manifestsChanged(folder.mark()) else { return }
        do {
            try applyManifests(folder.load())
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

    private func applyManifests(_ loaded: AppFolder.Content) throws {
        for (file, fault) in loaded.faults {
            logger.error(
                "A manifest cannot be used.",
                metadata: [
                    LogKey.path: "\(file)", LogKey.error: "\(fault)",
                ])
        }
        try installShell()
        for (id, manifest) in loaded.apps where apps[id]?.manifest != manifest && id != AppManifest.terminalID {
            if apps[id]?.takes(manifest) != true { try install(manifest, as: id) }
        }
        for (id, file) in loaded.files { apps[id]?.file = file }
        if loaded.mayChangeUnseen { registry.forgetManifests() }
        try lookForRemovals(loaded)
        watchFocus()
    }

    private func install(_ manifest: AppManifest, as id: String) throws {
        let known = apps[id]
        let standing = try known?.standing ?? store.read { try $0.standing(app: id) }
        let registration = try store.read { try $0.registration(app: id, environment: configuration.environment) }
        for connection in registry.releaseConnections(of: id) {
            connection.refuse(code: "manifestChanged", message: "the manifest of \(id) has another program or team now")
        }
        apps[id] = InstalledApp(manifest: manifest, standing: standing)
        apps[id]?.run = known?.run ?? .stopped
        apps[id]?.run.disconnect()
        apps[id]?.activationToken = known?.activationToken
        onLink { $0.appInstalled(id, team: TeamID(rawValue: manifest.team)) }
        if registration != .ended { requestToken(id) }
        rescheduleRequests(id)
    }

    func received(_ messages: [AppMessage], from connection: AppConnection) {
        if !copies.append(messages, from: connection) { processMessages(messages[...], from: connection) }
    }

    /// Processes messages in order, up to one that is refused or whose files have to be copied first.
    func processMessages(_ messages: ArraySlice<AppMessage>, from connection: AppConnection) {
        for place in messages.indices {
            switch process(messages[place], from: connection) {
            case .taken: break
            case .refused: return
            case .waiting(let app):
                copies.wait(connection, of: app, with: messages[place...])
                return
            case .copying:
                _ = copies.append(messages[(place + 1)...], from: connection)
                return
            }
        }
        connection.resume()
    }

    /// How far a message was taken.
    enum Progress {
        case taken
        /// The connection ends.
        case refused
        /// Its files are being copied; what comes after it waits.
        case copying
        /// Another connection's files are being copied for this app.
        case waiting(app: String)
    }

    private func process(_ message: AppMessage, from connection: AppConnection) -> Progress {
        do {
            return try progress(of: message, from: connection)
        } catch {
            storeFailed(error)
            return .taken
        }
    }

    private func progress(of message: AppMessage, from connection: AppConnection) throws -> Progress {
        switch message {
        case .center(let number, .add(let request)) where !request.content.attachments.isEmpty:
            guard let app = app(of: connection) else { break }
            if copies.isCopying(of: app) { return .waiting(app: app) }
            return try takeFiles(of: request, number, app: app, connection) ? .copying : .taken
        case .manage(let number, .notify(let request, let waits)) where !request.content.attachments.isEmpty:
            guard registry.role(of: connection) == nil else { break }
            if copies.isCopying(of: AppManifest.terminalID) { return .waiting(app: AppManifest.terminalID) }
            return notifyWithFiles(request, number, waits: waits, connection)
        default: break
        }
        switch registry.role(of: connection) {
        case let known? where known.role == .app:
            try handleAppMessage(message, from: known.app, connection)
            return .taken
        case let known?: return takeCompanionMessage(message, from: known, connection) ? .taken : .refused
        case nil: break
        }
        switch message {
        case .hello(let version, let app, let secret, let run, let role):
            let sender = AppRole(app: app, role: role)
            return accept(connection, version: version, as: sender, secret: secret, run: run) ? .taken : .refused
        case .manage(let request, let command):
            return manage(command, request, connection) ? .taken : .refused
        default:
            connection.refuse(code: "helloExpected", message: "the first message must be hello")
            return .refused
        }
    }

    /// - Returns: Whether the connection has its role of the app from now on.
    private func accept(
        _ connection: AppConnection, version: Int, as sender: AppRole, secret: String?, run: String?
    ) -> Bool {
        guard version >= 1 else {
            connection.refuse(code: "unsupportedVersion", message: "this agent speaks version \(AgentFrame.version)")
            return false
        }
        guard run?.utf8.count ?? 0 <= RequestMark.longestRun else {
            connection.refuse(
                code: "malformed", message: "the name of a run has at most \(RequestMark.longestRun) bytes")
            return false
        }
        if case .unknown(let name) = sender.role {
            let known = ConnectionRole.known.map(\.name).joined(separator: ", ")
            connection.refuse(
                code: "unknownRole", message: "this agent knows no role \(name.prefix(64)); its roles are \(known)")
            return false
        }
        do {
            return try accept(connection, as: sender, secret: secret, run: run)
        } catch {
            storeFailed(error)
            connection.refuse(code: "storeFailed", message: "the agent's store cannot be read; try again")
            return false
        }
    }

    private func accept(_ connection: AppConnection, as sender: AppRole, secret: String?, run: String?) throws -> Bool {
        let app = sender.app
        // A manifest may be new or another, and an installed app may have been built elsewhere since.
        try loadApps()
        guard let manifest = apps[app]?.manifest else {
            connection.refuse(
                code: "unknownApp",
                message: "no app \(app) is installed; install its manifest: aldaba agent app install MANIFEST")
            return false
        }
        if let fault = fault(of: connection, as: manifest, secret) {
            logger.warning(
                "A process that is not the app was refused.",
                metadata: [
                    LogKey.topic: "\(app)", LogKey.error: "\(fault)",
                ])
            connection.refuse(code: "notThisApp", message: "this process is not \(app): \(fault)")
            return false
        }
        if sender.role == .app {
            try open(connection, of: app, run)
        } else {
            openCompanion(connection, as: sender)
        }
        return true
    }

    private func fault(of connection: AppConnection, as manifest: AppManifest, _ secret: String?) -> String? {
        let expected = manifest.provesBySecret ? AppFolder(path: configuration.appsFolder).secret(of: manifest.id) : nil
        return parts.peerCheck.fault(of: connection.peer, as: manifest, secret: secret, expected: expected)
    }

    private func open(_ connection: AppConnection, of app: String, _ run: String?) throws {
        let asked = try run.map { AskedRequests(run: $0, done: try doneRequests(of: app, run: $0)) }
        let answers = try store.read { try $0.waitingResponses(app: app, after: 0, limit: Self.launchAnswers) }
        take(AppRole(app: app, role: .app), by: connection)
        apps[app]?.asked = asked
        let firstState = stateByFocus(of: app) ?? apps[app]?.nextState ?? .active
        apps[app]?.enter(firstState)
        apps[app]?.nextState = .active
        apps[app]?.tokenRequests = []
        apps[app]?.toldToken = nil
        hand(.connected, to: app)
        connection.send([
            .welcome(
                AgentMessage.Welcome(
                    state: state(of: app), authorization: authorizationStatus(of: app),
                    launchNotification: answers.first(where: opensApp).map { delivered($0.notification) }))
        ])
        logger.info("An app is connected.", metadata: [LogKey.topic: "\(app)"])
        events(.appConnected(app: app))
    }

    /// The requests of this run that are done. The marks of earlier runs are deleted: nobody asks those requests again.
    private func doneRequests(of app: String, run: String) throws -> Set<Int64> {
        enqueue(.begun(app: app, run: run))
        flush()
        return try store.read { try $0.done(app: app, run: run) }
    }

    func closed(_ connection: AppConnection) {
        guard !copies.close(connection) else { return }
        // Nobody takes the answer to a question whose terminal has gone.
        let unasked = terminals.remove { $0.connection === connection }
        if !unasked.isEmpty { enqueue(.unlisted(app: AppManifest.terminalID, identifiers: unasked)) }
        questions.removeAskers { $0.connection === connection }
        guard let closed = registry.disconnect(connection) else { return }
        let app = closed.app
        guard closed.role == .app else { return }
        startReconnectTimer(of: app)
        apps[app]?.tokenRequests = []
        hand(.disconnected, to: app)
        logger.info("An app has gone.", metadata: [LogKey.topic: "\(app)"])
    }

    /// How often an app that ends without answering is started again for the same responses.
    private static let startLimit = 3

    /// Gives an app that may be running time to connect. After that, what waits for it is shown, and it is started where
    /// responses wait. An app that ended ``startLimit`` times with the same responses gets them when it next runs.
    func startReconnectTimer(of app: String) {
        let number = registry.awaitReconnect(of: app)
        enter(after: timing.returnLimit) { $0.reconnectTimedOut(app, number) }
    }

    private func reconnectTimedOut(_ app: String, _ number: Int) {
        guard apps[app]?.run.deadlinePassed(number) == true, let installed = apps[app] else { return }
        if installed.handOver.mayShow {
            enqueue(.leftUnhandled(app: app, conditions(of: installed), at: parts.now()))
        }
        do {
            let hasResponses = try !store.read { try $0.waitingResponses(app: app, after: 0, limit: 1) }.isEmpty
            guard hasResponses || installed.opensSettings else {
                return wake(app)
            }
        } catch {
            return storeFailed(error)
        }
        guard installed.startsForResponses < Self.startLimit else {
            apps[app]?.opensSettings = false
            return logger.warning(
                "An app ended again without answering; it is not started for that any more.",
                metadata: [LogKey.topic: "\(app)"])
        }
        apps[app]?.startsForResponses += 1
        start(app)
    }

    private func handleAppMessage(_ message: AppMessage, from app: String, _ connection: AppConnection) throws {
        switch message {
        case .ready:
            // The answers that came before it must be stored before what waits is read.
            flush()
            hand(.ready, to: app)
            handSettingsWish(to: app)
        case .handled(let id, let outcome):
            hand(.handled(NotificationID(rawValue: id), outcome), to: app)
        case .responseHandled(let response):
            apps[app]?.startsForResponses = 0
            apps[app]?.activationToken = nil
            hand(.responseHandled(response), to: app)
        case .requestAuthorization(let request, let options):
            askForAuthorization(request, options: options, app: app, connection)
        case .center(let request, let command): handleCenterCommand(command, request: request, from: app, connection)
        case .getSettings(let request): connection.send([.settings(request: request, settings(of: app))])
        case .registerForRemoteNotifications(let request): try giveToken(request, app: app, connection)
        case .unregisterForRemoteNotifications: endToken(of: app, connection)
        case .stateChanged(let state):
            // With the life cycle `always` a connected app is active, whatever it says.
            apps[app]?.enter(state)
        case .hello, .manage, .unknown:
            // A second hello changes nothing.
            break
        }
    }

    func state(of app: String) -> AppState {
        guard let installed = apps[app], !installed.isInFront else { return .active }
        return installed.state
    }

    private func giveToken(_ request: Int64, app: String, _ connection: AppConnection) throws {
        let known = try store.read { try $0.registration(app: app, environment: configuration.environment) }
        if case .token(let token) = known, apps[app]?.isTokenEnding == false {
            apps[app]?.toldToken = token
            return connection.send([.registered(request: request, token: token)])
        }
        guard link != nil else {
            return connection.send([
                .registrationFailed(
                    request: request, code: "noServer",
                    message: "this agent has no server; start it with --agent-server and --agent-control")
            ])
        }
        guard let asked = apps[app]?.tokenRequests.count, asked < Self.tokenRequestLimit else {
            return connection.send([
                .registrationFailed(
                    request: request, code: "tooManyRequests",
                    message: "\(Self.tokenRequestLimit) questions wait for an answer already")
            ])
        }
        apps[app]?.tokenRequests.append(request)
        requestToken(app)
    }

    /// Ends an app's registration. Its earlier requests for a device token are refused.
    private func endToken(of app: String, _ connection: AppConnection) {
        let requests = apps[app]?.tokenRequests ?? []
        apps[app]?.tokenRequests = []
        apps[app]?.toldToken = nil
        apps[app]?.isTokenEnding = true
        connection.send(
            requests.map {
                .registrationFailed(
                    request: $0, code: "unregistered", message: "the app ended its registration meanwhile")
            })
        requestTokenEnd(app)
    }

    /// `UNAuthorizationStatus`.
    func authorizationStatus(of app: String) -> Int {
        settings(of: app).authorizationStatus
    }

    private func settings(of app: String) -> NotificationSettings {
        apps[app].map { $0.standing.settings(under: $0.manifest.authorization) }
            ?? AppNotificationRecord().settings(under: .denied)
    }
}
