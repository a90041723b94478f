import AgentWire
import AppConnections
import DeviceLink
import DeviceModel
import Logging
import Observability
import PushModel

/// The device tokens of apps: what apps ask, and what they are told.
extension Agent {
    /// How many unanswered requests for a device token one app may have.
    private static let tokenRequestLimit = 64

    func giveToken(_ request: Int64, app: BundleID, _ connection: AppConnection) throws {
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
    func endToken(of app: BundleID, _ connection: AppConnection) {
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

    func requestToken(_ app: BundleID) {
        // The terminal's own notifications never come from a provider.
        guard app != AppManifest.terminalID else { return }
        onLink { $0.requestToken(app) }
    }

    func requestTokenEnd(_ app: BundleID) { onLink { $0.requestTokenEnd(app) } }

    /// Answers every request for the device token once. An app that did not ask and knows another token is told too.
    func announce(_ token: String, app: BundleID) {
        apps[app]?.isTokenEnding = false
        let told = apps[app]?.toldToken
        let requests = apps[app]?.tokenRequests ?? []
        apps[app]?.tokenRequests = []
        var answers = requests.map { AgentMessage.registered(request: $0, token: token) }
        let isNews = told.map { $0 != token } ?? (apps[app]?.wasRefusedToken == true)
        if answers.isEmpty, isNews { answers = [.registered(request: nil, token: token)] }
        if !answers.isEmpty { apps[app]?.toldToken = token }
        apps[app]?.wasRefusedToken = false
        apps[app]?.connection?.send(answers)
        logger.notice("An app has its device token.", metadata: [LogKey.topic: "\(app)"])
        events(.registered(app: app, token: token))
    }

    /// The server will not give the app a token; where its register is the reason, the link goes on asking.
    func refuseToken(_ app: BundleID, code: String) {
        let requests = apps[app]?.tokenRequests ?? []
        apps[app]?.tokenRequests = []
        if !requests.isEmpty { apps[app]?.wasRefusedToken = true }
        let team = apps[app].map { "\($0.manifest.team)" } ?? ""
        let sentence =
            code == ServerLink.unknownApp
            ? "the server's register has no app \(app) of the team \(team). Add it there with `aldaba app create \(app) "
                + "--team \(team)`, or name its team in the app's manifest; it is registered within a minute then"
            : "the server answered \(code)"
        apps[app]?.connection?.send(
            requests.map { .registrationFailed(request: $0, code: code, message: sentence) })
    }
}
