import AgentEngine
import AldabaConfiguration
import Foundation
import HubProtocol

/// The summary that a running `up` prints, for programs and for people.
struct UpSummary: Sendable {
    var plan: UpPlan
    var addresses: ServerAddresses
    var deviceToken: String
    /// The base of FCM's addresses.
    var fcm: String
    /// The file with which FCM's libraries send.
    var serviceAccount: String
    /// `false` without a session bus: the headless presenter.
    var hasScreen: Bool
    /// Whether a line for each notification follows the text.
    var showsNotifications = true
    /// The servers of several, the first one first; empty where there is one.
    var servers: [ServerAddresses] = []
    /// Process ids by child.
    var processes: [String: Int32]

    private var keyPath: String { KeyRing(folder: plan.folder.keys).path(of: plan.key) }

    /// The connection string of the demo app's hub, as Azure's clients read it; its address is that of the control API.
    var hub: String? {
        plan.hubKey.map { key in
            HubConnectionString(
                authority: ServerAddresses.authority(addresses.host, addresses.controlPort), keyName: key.name,
                key: key.primary
            ).description
        }
    }

    /// The summary as one line of JSON.
    func json() throws -> String {
        try JSONLine.of(
            Line(
                endpoints: Endpoints(
                    apns: addresses.apns, mcs: addresses.device, control: addresses.control, http: addresses.http,
                    metrics: addresses.metrics,
                    console: addresses.http.map { $0 + "/" }, fcm: fcm,
                    legacy: addresses.legacy, legacyFeedback: addresses.legacyFeedback, hub: hub, hubName: DemoApp.hub),
                provider: Provider(
                    serviceAccount: serviceAccount, ca: plan.certificates.authority, key: keyPath,
                    keyId: plan.key.keyId, teamId: plan.key.teamId, topic: DemoApp.topic.rawValue),
                device: FirstDevice(
                    registrationToken: deviceToken, deviceToken: deviceToken, data: plan.folder.root,
                    socket: plan.socket, appLog: plan.folder.appLog,
                    nodes: servers.isEmpty ? nil : servers.enumerated().map { Node($0.offset, $0.element) },
                    postgres: plan.nodes?.database.postgres,
                    devices: plan.devices.map { Device(name: $0.name, data: $0.folder.root, socket: $0.socket) },
                    pids: Processes(serve: processes["serve"], agent: processes["agent"], app: processes["app"]))))
    }

    /// The members of the JSON object: those of its parts, side by side.
    private struct Line: Encodable {
        var endpoints: Endpoints
        var provider: Provider
        var device: FirstDevice

        func encode(to encoder: any Encoder) throws {
            try endpoints.encode(to: encoder)
            try provider.encode(to: encoder)
            try device.encode(to: encoder)
        }
    }

    /// The addresses of the server; what does not listen is `null`.
    private struct Endpoints: Encodable {
        var apns: String
        var mcs: String
        var control: String
        var http: String?
        var metrics: String
        /// The pages for people.
        var console: String?
        var fcm: String
        var legacy: String?
        var legacyFeedback: String?
        var hub: String?
        var hubName: String

        private enum Key: String, CodingKey {
            case apns, mcs, control, http, metrics, console, fcm, legacy, legacyFeedback, hub, hubName
        }

        func encode(to encoder: any Encoder) throws {
            var members = encoder.container(keyedBy: Key.self)
            for (key, address) in [
                (Key.apns, apns), (.mcs, mcs), (.control, control), (.metrics, metrics), (.fcm, fcm),
                (.hubName, hubName),
            ] { try members.encode(address, forKey: key) }
            for (key, address) in [
                (Key.http, http), (.console, console), (.legacy, legacy), (.legacyFeedback, legacyFeedback),
                (.hub, hub),
            ] { try members.encode(address, forKey: key) }
        }
    }

    /// The files and names by which a provider signs and trusts.
    private struct Provider: Encodable {
        var serviceAccount: String
        var ca: String
        var key: String
        var keyId: String
        var teamId: String
        var topic: String
    }

    /// The tokens of the demo app, the devices and the processes.
    private struct FirstDevice: Encodable {
        var registrationToken: String
        var deviceToken: String
        var data: String
        var socket: String
        var appLog: String
        var nodes: [Node]?
        var postgres: String?
        var devices: [Device]
        var pids: Processes
    }

    /// A server of several.
    private struct Node: Encodable {
        var name: String
        var pid: Int32
        var apns: String
        var mcs: String
        var control: String
        var metrics: String

        init(_ index: Int, _ addresses: ServerAddresses) {
            (name, pid) = (UpNodes.name(index + 1), addresses.process)
            (apns, mcs, control, metrics) = (addresses.apns, addresses.device, addresses.control, addresses.metrics)
        }
    }

    /// A device of the summary; the first one is the data folder's own.
    private struct Device: Encodable {
        var name: String
        var data: String
        var socket: String
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

    /// The summary as text: the addresses, and commands to try next; each line works when pasted.
    func text() -> String {
        let aldaba = Self.quoted(plan.shortExecutable)
        let data = Self.quoted(plan.folder.root)
        let id = UUID().uuidString.lowercased()
        return """
            Aldaba is up. Ctrl-C ends everything; the data stays in \(plan.folder.root).
            \(addresses.http.map { "\n  console: \($0)/\n" } ?? "")
              provider API    \(addresses.apns)
              device channel  \(addresses.device) (TLS)
              control API     \(addresses.control)\(addresses.http.map { " and \($0)" } ?? "")
              metrics         \(addresses.metrics)/metrics
              provider key    \(keyPath) (key \(plan.key.keyId), team \(plan.key.teamId))
              FCM             \(fcm) with the service account \(serviceAccount)
              certificates    \(plan.certificates.authority)
              demo app        \(DemoApp.topic) with device token \(deviceToken)
            \(nodesText)  screen          \(hasScreen ? "the desktop's" : "none: there is no session bus; \(aldaba) notifications --data \(data) lists what came")

            For the commands of the guides, in another terminal first:

            . \(Self.quoted(plan.folder.shellVariables))

            Try next there:

            \(aldaba) send --data \(data) --key-id \(plan.key.keyId) --topic \(DemoApp.topic) --token \(deviceToken) \
            --title 'Buy milk' --body 'Sent by aldaba'

            curl --http2 --include --cacert \(Self.quoted(plan.certificates.authority)) \
            -H "authorization: bearer $(\(aldaba) key token --data \(data) --key-id \(plan.key.keyId))" -H 'apns-topic: \(DemoApp.topic)' \
            -H 'apns-push-type: alert' -H 'apns-id: \(id)' \
            -d '{"aps":{"alert":{"title":"Buy bread","body":"Sent by curl"}},"todo":"Buy bread"}' \
            \(addresses.apns)/3/device/\(deviceToken)

            And what became of the second one:

            \(addresses.http ?? addresses.control)/v1/notifications/\(id)
            \(showsNotifications ? "\nWhat the device gets from the server, a line each (--quiet shows none):\n" : "")
            """
    }

    /// The servers of several, a line each, with the key that kills one.
    private var nodesText: String {
        guard let nodes = plan.nodes else { return "" }
        let lines = servers.enumerated().map { index, server in
            "  server \(index + 1)        process \(server.process); providers \(server.apns), devices \(server.device); "
                + "press \(index + 1) to kill it"
        }
        let others = nodes.database.programs.map { "\($0.name) (process \($0.program.processID))" }
        return lines.joined(separator: "\n") + "\n  and             \(others.joined(separator: ", "))\n"
    }

    /// An argument that the shell takes unchanged.
    static func quoted(_ word: String) -> String {
        let plain = word.allSatisfy { $0.isASCII && ($0.isLetter || $0.isNumber || "/._-+:".contains($0)) }
        return plain ? word : "'" + word.replacing("'", with: "'\\''") + "'"
    }
}
