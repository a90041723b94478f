import AgentWire
import AppConnections
import AppConversation
import DeviceModel
import InstalledApps
import Logging
import Observability

/// The beginning of a connection: who it is, and what it is told. The connection of the role `app` is the app itself; those of
/// other roles are its companions.
extension Agent {
    /// In how many of the responses that wait for an app the one that opened it is sought.
    private static let launchResponseLimit = 64

    /// Gives a connection the role that it asks for, or refuses it.
    func admit(_ connection: AppConnection, _ hello: AppHello) -> AppConversations<AppConnection>.Event {
        do {
            return try accept(connection, hello)
        } catch {
            storeFailed(error)
            connection.refuse(code: "storeFailed", message: "the agent's store cannot be read; try again")
            return .refused
        }
    }

    private func accept(
        _ connection: AppConnection, _ hello: AppHello
    ) throws -> AppConversations<AppConnection>.Event {
        let app = hello.sender.app
        // A manifest may be new or another, and an installed app may have been built elsewhere since.
        try loadApps()
        guard let manifest = apps[app]?.manifest else {
            connection.refuse(
                code: "unknownApp",
                message: "no app \(app) is installed; install its manifest: aldaba agent app install MANIFEST")
            return .refused
        }
        if hello.sender.role == .serviceExtension, openExtension(connection, of: app) { return .admitted(nil) }
        if let fault = fault(of: connection, as: manifest, hello.secret) {
            logger.warning(
                "A process that is not the app was refused.",
                metadata: [
                    LogKey.topic: "\(app)", LogKey.error: "\(fault)",
                ])
            connection.refuse(code: "notThisApp", message: "this process is not \(app): \(fault)")
            return .refused
        }
        if hello.sender.role == .app { return .admitted(try open(connection, of: app, hello.run)) }
        openCompanion(connection, as: hello.sender)
        return .admitted(nil)
    }

    private func fault(of connection: AppConnection, as manifest: AppManifest, _ secret: String?) -> String? {
        let expected = manifest.provesBySecret ? AppFolder(path: configuration.appsFolder).secret(of: manifest.id) : nil
        return parts.peerCheck.fault(of: connection.peer, as: manifest, secret: secret, expected: expected)
    }

    private func open(_ connection: AppConnection, of app: BundleID, _ run: String?) throws -> AskedRequests? {
        let asked = try run.map { AskedRequests(run: $0, done: try doneRequests(of: app, run: $0)) }
        let answers = try store.read { try $0.waitingResponses(app: app, after: 0, limit: Self.launchResponseLimit) }
        take(AppRole(app: app, role: .app), by: connection)
        let stateByFocus = registry.stateByFocus(of: app, isScreenLocked: surroundings.isScreenLocked)
        apps[app]?.enterFirst(byFocus: stateByFocus)
        apps[app]?.tokenRequests = []
        apps[app]?.toldToken = nil
        hand(.connected, to: app)
        giveData(.reconnected, to: app)
        connection.send([
            .welcome(
                AgentMessage.Welcome(
                    state: state(of: app), authorization: authorizationStatus(of: app),
                    launchNotification: answers.first { registry.effect(of: $0) != .none }.map {
                        registry.delivered($0.notification)
                    }))
        ])
        logger.info("An app is connected.", metadata: [LogKey.topic: "\(app)"])
        events(.appConnected(app: app))
        return asked
    }

    /// The requests of this run that are done. The marks of earlier runs are deleted: nobody asks those requests again.
    private func doneRequests(of app: BundleID, run: String) throws -> Set<Int64> {
        enqueue(.begun(app: app, run: run))
        flush()
        return try store.read { try $0.done(app: app, run: run) }
    }

    /// Accepts the connection of a companion. The app's own connection and state do not change.
    func openCompanion(_ connection: AppConnection, as sender: AppRole) {
        take(sender, by: connection)
        connection.send([
            .welcome(
                AgentMessage.Welcome(
                    state: state(of: sender.app), authorization: authorizationStatus(of: sender.app)))
        ])
        logger.info(
            "A companion of an app is connected.",
            metadata: [LogKey.topic: "\(sender.app)", LogKey.role: "\(sender.role.name)"])
    }

    /// Gives a role of an app to a connection, and ends the one that had it.
    func take(_ role: AppRole, by connection: AppConnection) {
        if let older = registry.connect(connection, as: role) { supersede(older, by: connection, as: role) }
    }

    /// Ends the older connection of a role. The same process has reconnected, and left it behind. Another process is told
    /// not to connect again: otherwise the two would end each other's connections for ever.
    private func supersede(_ older: AppConnection, by newer: AppConnection, as role: AppRole) {
        guard older.peer.process != newer.peer.process else { return older.close() }
        logger.warning(
            "A second process of an app took over.",
            metadata: [
                LogKey.topic: "\(role.app)", LogKey.process: "\(newer.peer.process)",
            ])
        let what = role.role == .app ? role.app.rawValue : "the \(role.role.name) of \(role.app)"
        older.refuse(
            code: AgentMessage.superseded,
            message: "process \(newer.peer.process) is \(what) now; this one gets nothing any more")
    }

    func state(of app: BundleID) -> AppState {
        guard let installed = apps[app], !installed.isInFront else { return .active }
        return installed.supervisor.state
    }

    /// `UNAuthorizationStatus`.
    func authorizationStatus(of app: BundleID) -> Int {
        settings(of: app).authorizationStatus
    }

    func settings(of app: BundleID) -> NotificationSettings {
        apps[app].map { $0.record.settings(under: $0.manifest.authorization) }
            ?? AppNotificationRecord().settings(under: .denied)
    }
}
