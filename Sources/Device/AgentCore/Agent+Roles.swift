import AgentWire
import AppConnections
import InstalledApps
import Logging
import Observability

/// The roles of connections. The connection of the role `app` is the app itself; those of other roles are its companions.
extension Agent {
    /// The app whose own connection this is; `nil` for a companion's, and for one that was not accepted.
    func app(of connection: AppConnection) -> String? {
        guard let known = registry.role(of: connection), known.role == .app else { return nil }
        return known.app
    }

    /// Refuses what a companion says after its hello: it has nothing to say.
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
        let what = role.role == .app ? role.app : "the \(role.role.name) of \(role.app)"
        older.refuse(
            code: AgentMessage.superseded,
            message: "process \(newer.peer.process) is \(what) now; this one gets nothing any more")
    }
}
