import CommandCore
import DeviceStore
import Foundation

/// What a running `up` tells: for programs, and for people.
struct UpSummary: Sendable {
    var plan: UpPlan
    var addresses: ServerAddresses
    var deviceToken: String
    /// `false` without a session bus: the headless presenter.
    var hasScreen: Bool
    /// Process ids by child.
    var processes: [String: Int32]

    private var keyPath: String { KeyRing(folder: plan.folder.keys).path(of: plan.key) }

    /// One line of JSON.
    func json() throws -> String {
        try JSONLine.of(
            Line(
                apns: addresses.apns, mcs: addresses.device, http: addresses.http, metrics: addresses.metrics,
                ca: plan.certificates.authority, key: keyPath, keyId: plan.key.keyId, teamId: plan.key.teamId,
                topic: DemoApp.topic.rawValue, deviceToken: deviceToken, data: plan.folder.root,
                appLog: plan.folder.appLog,
                pids: Processes(serve: processes["serve"], agent: processes["agent"], app: processes["app"])))
    }

    private struct Line: Encodable {
        var apns: String
        var mcs: String
        var http: String?
        var metrics: String
        var ca: String
        var key: String
        var keyId: String
        var teamId: String
        var topic: String
        var deviceToken: String
        var data: String
        var appLog: String
        var pids: Processes
    }

    /// Children by name; one that does not run is `null`.
    private struct Processes: Encodable {
        var serve: Int32?
        var agent: Int32?
        var app: Int32?

        private enum Key: String, CodingKey { case serve, agent, app }

        func encode(to encoder: any Encoder) throws {
            var members = encoder.container(keyedBy: Key.self)
            try members.encode(serve, forKey: .serve)
            try members.encode(agent, forKey: .agent)
            try members.encode(app, forKey: .app)
        }
    }

    /// What runs where, and what to try next; each line works when pasted.
    func text() -> String {
        let aldaba = Self.quoted(plan.shortExecutable)
        let data = Self.quoted(plan.folder.root)
        let id = UUID().uuidString.lowercased()
        return """
            Aldaba is up. Ctrl-C ends everything; the data stays in \(plan.folder.root).

              provider API    \(addresses.apns)
              device channel  \(addresses.device) (TLS)
              control API     \(addresses.control)\(addresses.http.map { " and \($0)" } ?? "")
              metrics         \(addresses.metrics)/metrics
              provider key    \(keyPath) (key \(plan.key.keyId), team \(plan.key.teamId))
              certificates    \(plan.certificates.authority)
              demo app        \(DemoApp.topic) with device token \(deviceToken)
              screen          \(hasScreen ? "the desktop's" : "none: there is no session bus, so notifications are kept and not shown")

            Try next, in another terminal:

            \(aldaba) send --data \(data) --key-id \(plan.key.keyId) --topic \(DemoApp.topic) --token \(deviceToken) \
            --title 'Buy milk' --body 'Sent by aldaba'

            curl --http2 --include --cacert \(Self.quoted(plan.certificates.authority)) \
            -H "authorization: bearer $(\(aldaba) key token --data \(data) --key-id \(plan.key.keyId))" -H 'apns-topic: \(DemoApp.topic)' \
            -H 'apns-push-type: alert' -H 'apns-id: \(id)' \
            -d '{"aps":{"alert":{"title":"Buy bread","body":"Sent by curl"}},"todo":"Buy bread"}' \
            \(addresses.apns)/3/device/\(deviceToken)

            And what became of the second one:

            \(addresses.http ?? addresses.control)/v1/notifications/\(id)
            """
    }

    /// A word that the shell takes as it is.
    private static func quoted(_ word: String) -> String {
        let plain = word.allSatisfy { $0.isASCII && ($0.isLetter || $0.isNumber || "/._-+:".contains($0)) }
        return plain ? word : "'" + word.replacing("'", with: "'\\''") + "'"
    }
}
