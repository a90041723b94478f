import AgentWire
import DeviceModel
import Logging
import Observability
import PushModel

/// What apps are told of their registrations.
extension Agent {
    func requestToken(_ app: String) {
        // The terminal's own notifications never come from a provider.
        guard app != AppManifest.terminalID else { return }
        onLink { $0.requestToken(app) }
    }

    func requestTokenEnd(_ app: String) { onLink { $0.requestTokenEnd(app) } }

    /// Answers every request for the device token once. An app that did not ask and knows another token is told too.
    func announce(_ token: String, app: String) {
        apps[app]?.isTokenEnding = false
        let told = apps[app]?.toldToken
        let requests = apps[app]?.tokenRequests ?? []
        apps[app]?.tokenRequests = []
        var answers = requests.map { AgentMessage.registered(request: $0, token: token) }
        if answers.isEmpty, let told, told != token { answers = [.registered(request: nil, token: token)] }
        if !answers.isEmpty { apps[app]?.toldToken = token }
        apps[app]?.connection?.send(answers)
        logger.notice("An app has its device token.", metadata: [LogKey.topic: "\(app)"])
        events(.registered(app: app, token: token))
    }

    /// The server will not give the app a token.
    func refuseToken(_ app: String, code: String) {
        let requests = apps[app]?.tokenRequests ?? []
        apps[app]?.tokenRequests = []
        let sentence = "the server answered \(code): is the app known to it, and does its manifest name its team?"
        apps[app]?.connection?.send(
            requests.map { .registrationFailed(request: $0, code: code, message: sentence) })
    }
}
