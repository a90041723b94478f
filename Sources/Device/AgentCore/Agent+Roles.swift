import AgentWire
import AppConnections
import InstalledApps
import Logging
import Observability

/// Connections by what they are to their apps. That of the role `app` is the app; its companions are kept apart from it.
extension Agent {
    /// The app that a connection is; `nil` for others, and for those that are only in an app's name.
    func app(of connection: AppConnection) -> String? {
        guard let known = registry.role(of: connection), known.role == .app else { return nil }
        return known.app
    }

    /// Who is not the app has nothing more to say.
    ///
    /// - Returns: Whether the connection goes on.
    func takeCompanionMessage(_ message: AppMessage, from sender: AppRole, _ connection: AppConnection) -> Bool {
        switch message {
        case .hello, .unknown: return true
        default:
            connection.refuse(
                code: "notThisRole",
                message:
                    "the \(sender.role.name) of \(sender.app) has nothing to say after hello; the app itself does so, "
                    + "on its own connection")
            return false
        }
    }

    /// What is not the app is kept apart from it: nothing of the app's changes.
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

    /// Ends the older connection. A process that just reconnected left it behind; another process is told that it
    /// is to stay away, or the two would take the app from each other for ever.
    private func supersede(_ older: AppConnection, by newer: AppConnection, as role: AppRole) {
        guard older.peer.process != newer.peer.process else { return older.close() }
        logger.warning(
            "A second process of an app took over.",
            metadata: [
                LogKey.topic: "\(role.app)", LogKey.process: "\(newer.peer.process)",
            ])
        let what = role.role == .app ? role.app : "the \(role.role.name) of \(role.app)"
        older.refuse(
            code: AgentMessage.superseded,
            message: "process \(newer.peer.process) is \(what) now; this one gets nothing any more")
    }
}
