import AgentProtocol
import PushCore

/// The first message of a connection: the role that it asks for, and the proof of that role.
package struct AppHello: Hashable, Sendable {
    /// The role that it asks for.
    package let sender: AppRole
    /// The app's secret, where it has one.
    @Secret package private(set) var secret: String?
    /// The name of the app's run, at most ``RequestMark/longestRun`` bytes.
    package let run: String?
}

/// The meaning of a message, by the role of the connection that sent it.
extension AppConversations {
    /// The request that a message adds; `nil` for another message, and for one that may not add.
    static func added(by message: AppMessage, _ role: AppRole?) -> AddedRequest? {
        switch (message, role) {
        case (.center(let number, .add(let request)), let sender?)
        where sender.role == .app || sender.role == .serviceExtension:
            // An extension adds in its app's name.
            AddedRequest(asker: .app(sender.app), number: number, request: request)
        case (.manage(let number, .notify(let request, let waits)), nil):
            AddedRequest(asker: .terminal(waits: waits), number: number, request: request)
        default: nil
        }
    }

    /// - Returns: `nil` for a message of which nothing follows.
    static func directive(for message: AppMessage, _ role: AppRole?) -> Directive? {
        guard let role else { return opening(message) }
        return role.role == .app
            ? directive(forAppMessage: message, role.app) : directive(forCompanionMessage: message, role)
    }

    /// The directive for a message before the role is known: a hello, or a command from a terminal.
    private static func opening(_ message: AppMessage) -> Directive {
        switch message {
        case .hello(let version, let app, let secret, let run, let role):
            fault(ofVersion: version, run: run, role)
                ?? .admit(AppHello(sender: AppRole(app: app, role: role), secret: secret, run: run))
        case .manage(let request, let command): .manage(command, request: request)
        case .relay(let packet): .relay([UInt8](packet.frame), nil)
        default: .refuse(code: "helloExpected", message: "the first message must be hello")
        }
    }

    private static func fault(ofVersion version: Int, run: String?, _ role: ConnectionRole) -> Directive? {
        guard version >= 1 else {
            return .refuse(
                code: "unsupportedVersion", message: "this agent speaks version \(AgentFrame.version)")
        }
        guard run?.utf8.count ?? 0 <= RequestMark.longestRun else {
            return .refuse(
                code: "malformed", message: "the name of a run has at most \(RequestMark.longestRun) bytes")
        }
        if case .unknown(let name) = role {
            let known = ConnectionRole.known.map(\.name).joined(separator: ", ")
            return .refuse(
                code: "unknownRole", message: "this agent knows no role \(name.prefix(64)); its roles are \(known)")
        }
        return nil
    }

    /// The directive for a message from the app itself, on its own connection.
    private static func directive(forAppMessage message: AppMessage, _ app: BundleID) -> Directive? {
        switch message {
        // A second hello changes nothing.
        case .hello, .manage, .unknown: nil
        case .relay(let packet): .relay([UInt8](packet.frame), AppRole(app: app, role: .app))
        default: .perform(message, app: app)
        }
    }

    /// The directive for a message from a companion; after its hello only a service extension or a relay service sends
    /// any.
    private static func directive(forCompanionMessage message: AppMessage, _ sender: AppRole) -> Directive? {
        switch message {
        case .hello, .unknown: nil
        case .relay(let packet) where sender.role == .relayService: .relay([UInt8](packet.frame), sender)
        case _ where sender.role == .serviceExtension: .performForExtension(message)
        default:
            .refuse(
                code: "notThisRole",
                message:
                    "the \(sender.role.name) of \(sender.app) has nothing to say after hello; the app itself does so, "
                    + "on its own connection")
        }
    }
}
