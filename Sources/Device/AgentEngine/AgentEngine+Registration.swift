import AgentWire
import AppConnections
import DeviceModel
import InstalledApps
import Observability
import PushModel

/// The device tokens of apps: what apps ask, and what they are told. `DeviceTokenRequests` decides who is answered.
extension AgentEngine {
    mutating func giveToken(
        _ request: Int64, app: BundleID, _ connection: AppConnection, _ context: Context
    ) throws {
        var known: String?
        if case .token(let token) = try context.store.registration(app: app, environment: settings.environment) {
            known = token
        }
        let hasServer = settings.hasServer
        switch apps[app]?.tokens.ask(request, known: known, hasServer: hasServer) {
        case .known(let token)?: send([.registered(request: request, token: token)], to: connection)
        case .noServer?:
            refuseToken(
                [request], connection, code: "noServer",
                "this agent has no server; start it with --agent-server and --agent-control")
        case .tooMany?, nil:
            refuseToken(
                [request], connection, code: "tooManyRequests",
                "\(DeviceTokenRequests.limit) questions wait for an answer already")
        case .waits?: requestToken(app)
        }
    }

    private mutating func refuseToken(
        _ requests: [Int64], _ connection: AppConnection, code: String, _ message: String
    ) {
        send(requests.map { .registrationFailed(request: $0, code: code, message: message) }, to: connection)
    }

    /// Ends an app's registration. Its earlier requests for a device token are refused.
    mutating func endToken(of app: BundleID, _ connection: AppConnection) {
        refuseToken(
            apps[app]?.tokens.end() ?? [], connection, code: "unregistered",
            "the app ended its registration meanwhile")
        emit(.link(.requestTokenEnd(app)))
    }

    mutating func requestToken(_ app: BundleID) {
        // The terminal's own notifications never come from a provider.
        if app != AppManifest.terminalID { emit(.link(.requestToken(app))) }
    }

    // MARK: What the server answers

    /// An app has its device token.
    package mutating func tokenReceived(_ token: String, app: BundleID) {
        let answers = apps[app]?.tokens.received(token) ?? []
        tell(app, answers.map { .registered(request: $0, token: token) })
        log(.notice, "An app has its device token.", [LogKey.topic: "\(app)"])
        emit(.registered(app, token: token))
    }

    /// The server has forgotten an app's device token.
    package mutating func tokenEnded(app: BundleID) { apps[app]?.tokens.ended() }

    /// The server will not give the app a token; where its register is the reason, the link goes on asking.
    ///
    /// - Parameter isUnknown: Whether the register has no app of this name and team.
    package mutating func tokenRefused(app: BundleID, code: String, isUnknown: Bool) {
        let requests = apps[app]?.tokens.refused() ?? []
        let team = apps[app].map { "\($0.manifest.team)" } ?? ""
        let sentence =
            isUnknown
            ? "the server's register has no app \(app) of the team \(team). Add it there with `aldaba app create \(app) "
                + "--team \(team)`, or name its team in the app's manifest; it is registered within a minute then"
            : "the server answered \(code)"
        if let connection = apps[app]?.connection { refuseToken(requests, connection, code: code, sentence) }
    }
}
