import AgentProtocol
import PushCore

/// The device tokens of apps: the apps' requests, and the answers. `DeviceTokenRequests` decides which requests are
/// answered.
extension AgentEngine {
    mutating func giveToken(
        _ request: Int64, app: BundleID, connection: AppConnectionID, context: Context
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
                [request], connection: connection, code: "noServer",
                message: "this agent has no server; start it with --agent-server and --agent-control")
        case .tooMany?, nil:
            refuseToken(
                [request], connection: connection, code: "tooManyRequests",
                message: "\(DeviceTokenRequests.limit) questions wait for an answer already")
        case .waits?: requestToken(app)
        case .waitsForEnd?: break
        }
    }

    private mutating func refuseToken(
        _ requests: [Int64], connection: AppConnectionID, code: String, message: String
    ) {
        send(requests.map { .registrationFailed(request: $0, code: code, message: message) }, to: connection)
    }

    /// Ends an app's registration; answered when the server has done it, or it is known that it has not. The app's
    /// earlier requests for a device token are refused.
    mutating func endToken(_ request: Int64, of app: BundleID, _ connection: AppConnectionID) {
        let asker = Confirmation(connection: connection, request: request)
        guard settings.hasServer else {
            return refuse(asker, code: ChannelFault.offline, "this agent has no server")
        }
        guard let refused = apps[app]?.tokens.end(request) else {
            return refuse(
                asker, code: ChannelFault.tooMany, "\(DeviceTokenRequests.limit) requests of this kind wait already")
        }
        refuseToken(
            refused, connection: connection, code: "unregistered", message: "the app ended its registration meanwhile")
        emit(.link(.requestTokenEnd(app)))
    }

    mutating func requestToken(_ app: BundleID) {
        // The terminal's own notifications never come from a provider.
        if app != AppManifest.terminalID { emit(.link(.requestToken(app))) }
    }

    // MARK: Answers of the server

    /// An app has its device token.
    package mutating func tokenReceived(_ token: String, app: BundleID) {
        let answers = apps[app]?.tokens.received(token) ?? []
        tell(app, answers.map { .registered(request: $0, token: token) })
        log(.notice, "An app has its device token.", [LogKey.topic: "\(app)"])
        emit(.registered(app, token: token))
    }

    /// The server has forgotten an app's device token.
    package mutating func tokenEnded(app: BundleID) {
        guard let end = apps[app]?.tokens.ended() else { return }
        tell(app, end.requests.map { .channel(.accepted(request: $0)) })
        if end.isTokenWanted { requestToken(app) }
    }

    /// The server has not forgotten an app's device token: its code, with which it refuses that, or `nil` where it
    /// could not be asked. The link then goes on asking, unless the app wants a token again.
    package mutating func tokenNotEnded(app: BundleID, code: String?) {
        guard let end = apps[app]?.tokens.notEnded(isRefused: code != nil) else { return }
        let sentence =
            code.map { "the server answered \($0)" }
            ?? "the server cannot be reached; it is asked again as long as the agent runs and the app wants no token"
        tell(
            app,
            end.requests.map {
                .channel(.refused(request: $0, code: code ?? ChannelFault.offline, message: sentence))
            })
        if end.isTokenWanted { requestToken(app) }
    }

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
        if let connection = apps[app]?.connection {
            refuseToken(requests, connection: connection, code: code, message: sentence)
        }
    }
}
