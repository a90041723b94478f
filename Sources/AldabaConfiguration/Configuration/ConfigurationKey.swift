/// The programs that read configuration.
package enum ConfiguredProgram: String, Sendable, CaseIterable {
    /// `aldaba serve`.
    case serve
    /// `aldaba agent`.
    case agent
    /// Runs the other two, and gives them what it is given.
    case up

    /// Whether a key can be given as a flag of the program. `up` chooses by itself how its agent finds its server.
    package func takes(_ key: ConfigurationKey) -> Bool {
        switch self {
        case .serve, .agent: key.row.programs.contains(self)
        case .up:
            key.row.programs.contains(.serve)
                || [.presenter, .presenterHook, .position, .mediaNetworks, .relayLAN, .reconnectAfter].contains(key)
        }
    }
}

/// The kind of value that a key takes.
package enum ConfigurationType: Sendable, Equatable {
    /// Any text that is not empty.
    case text
    /// A path of a file or folder; relative ones count from the current folder.
    case path
    /// `0 ... 65535`; 0 lets the system choose.
    case port
    /// `host:port`.
    case address
    /// An IP address of version 4 or 6, without brackets.
    case ipAddress
    /// An address that begins with `https://`, since secrets are sent there.
    case secureURL
    /// Yes or no.
    case flag
    /// A whole number in the range.
    case number(ClosedRange<Int>)
    /// A choice among these words.
    case choice([String])
    /// A position source, as ``PositionChoice`` reads it.
    case position
    /// Names of the server, separated by commas; see ``ServerNames``.
    case serverNames
    /// Addresses and ranges of them, separated by commas; see ``AddressRange``.
    case addressRanges

    /// The description of the kind in help and documentation.
    package var words: String {
        switch self {
        case .text: "text"
        case .path: "path"
        case .port: "port, 0 to 65535 (0: a free one)"
        case .address: "host:port"
        case .ipAddress: "an IP address, such as 127.0.0.1, ::1 or 0.0.0.0"
        case .secureURL: "an address https://host:port"
        case .flag: "true or false"
        case .number(let range): "whole number, \(range.lowerBound) to \(range.upperBound)"
        case .choice(let choices): choices.joined(separator: ", ")
        case .addressRanges: "addresses or ranges like 10.0.0.0/8, separated by commas; none"
        case .position: "geoclue, file:PATH, command:COMMAND, none"
        case .serverNames: "hosts, or host:port, separated by commas"
        }
    }
}

/// Every key of the configuration. The rows in ``row`` are the one table behind flags, `ALDABA_*`,
/// `aldaba.yaml`, the help texts and the documentation.
package enum ConfigurationKey: String, Sendable, CaseIterable {
    /// The data folder of the server and the agent.
    case data

    /// Each is a setting of the server and its listeners; ``row`` has its sentence.
    case host
    case serverNames = "server-names"
    case apnsPort = "apns-port"
    case devicePort = "device-port"
    case controlPort = "control-port"
    case httpPort = "http-port"
    case metricsPort = "metrics-port"
    case metricsHost = "metrics-host"
    case legacyPort = "legacy-port"
    case legacyFeedbackPort = "legacy-feedback-port"
    case sharedPort = "shared-port"
    case appleLimits = "apple-limits"
    case connectionsPerAddress = "connections-per-address"
    case deviceLogins = "device-logins"
    case proxies
    case certificate
    case certificateKey = "certificate-key"
    case environment
    case development
    case acceptAnyCredential = "accept-any-credential"
    case acceptAnyToken = "accept-any-token"
    case testNetwork = "test-network"
    case postgres
    case nats
    case enrolmentOpen = "enrolment-open"
    case enrolmentKey = "enrolment-key"
    case enrolmentKeyFile = "enrolment-key-file"
    case mediaURL = "media-url"
    case mediaQuota = "media-quota"
    case mediaTeamQuota = "media-team-quota"
    case mediaExpiry = "media-expiry"
    case mediaBucket = "media-bucket"
    case mediaBucketRegion = "media-bucket-region"
    case mediaBucketCredentials = "media-bucket-credentials"
    case fcmQuota = "fcm-quota"
    case fcmDeviceQuota = "fcm-device-quota"
    case legacyFCM = "legacy-fcm"
    case topicQuota = "topic-quota"
    case webhookNetworks = "webhook-networks"
    case relayWakeHub = "relay-wake-hub"
    case hubBroadcastMinimum = "hub-broadcast-minimum"
    case consolePayloads = "console-payloads"
    case consoleIssuer = "console-oidc-issuer"
    case consoleClientID = "console-oidc-client-id"
    case consoleClientSecretFile = "console-oidc-client-secret-file"

    /// Each is a setting of the agent; ``row`` has its sentence.
    case agentServer = "agent-server"
    case agentControl = "agent-control"
    case agentCA = "agent-ca"
    case agentSocket = "agent-socket"
    case presenter
    case presenterHook = "presenter-hook"
    case position
    case mediaNetworks = "media-networks"
    case relayLAN = "relay-lan"
    case reconnectAfter = "reconnect-after"
    case agentMetricsPort = "agent-metrics-port"

    /// The least important level that is logged.
    case logLevel = "log-level"
    /// The form of the log's lines.
    case logFormat = "log-format"

    /// A row of the table.
    package struct Row: Sendable {
        /// The type of the key's values.
        package var type: ConfigurationType
        /// The default as text; `nil` when there is none.
        package var defaultText: String?
        /// Whether the value must never be shown.
        package var secret = false
        /// The programs that the setting applies to.
        package var programs: [ConfiguredProgram]
        /// A sentence on the effect of the key.
        package var sentence: String
    }

    /// The default under `up`, where it is another.
    package var defaultOfUp: String? {
        switch self {
        case .environment: "sandbox"
        case .development: "true"
        default: nil
        }
    }

    /// The name of the key's environment variable.
    package var environmentName: String {
        "ALDABA_" + rawValue.uppercased().replacing("-", with: "_")
    }

    /// The key's row of the table.
    package var row: Row {
        switch self {
        case .data:
            Row(
                type: .path, programs: [.serve, .agent],
                sentence: "The data folder; without it $XDG_STATE_HOME/aldaba, else ~/.local/state/aldaba.")
        case .host, .serverNames, .apnsPort, .devicePort, .controlPort, .httpPort, .metricsPort, .metricsHost,
            .legacyPort,
            .legacyFeedbackPort, .sharedPort, .appleLimits, .connectionsPerAddress, .deviceLogins, .proxies:
            listenerRow
        case .certificate, .certificateKey, .environment, .development, .acceptAnyCredential, .acceptAnyToken,
            .testNetwork, .postgres, .nats, .enrolmentOpen, .enrolmentKey, .enrolmentKeyFile, .fcmQuota,
            .fcmDeviceQuota, .legacyFCM,
            .topicQuota,
            .webhookNetworks, .relayWakeHub,
            .hubBroadcastMinimum:
            serverRow
        case .agentServer, .agentControl, .agentCA, .agentSocket, .presenter, .presenterHook, .position,
            .mediaNetworks, .relayLAN, .reconnectAfter, .agentMetricsPort:
            agentRow
        case .mediaURL, .mediaQuota, .mediaTeamQuota, .mediaExpiry, .mediaBucket, .mediaBucketRegion,
            .mediaBucketCredentials:
            mediaRow
        case .consolePayloads, .consoleIssuer, .consoleClientID, .consoleClientSecretFile: consoleRow
        case .logLevel:
            Row(
                type: .choice(["trace", "debug", "info", "notice", "warning", "error", "critical"]),
                defaultText: "info", programs: [.serve, .agent],
                sentence: "The least important level that is logged to standard error.")
        case .logFormat:
            Row(
                type: .choice(["text", "json"]), defaultText: "text", programs: [.serve, .agent],
                sentence: "The form of the log's lines: text for people, or one JSON object a line for programs.")
        }
    }

    private var listenerRow: Row {
        func port(_ number: String, _ sentence: String) -> Row {
            Row(type: .port, defaultText: number, programs: [.serve], sentence: sentence)
        }
        return switch self {
        case .apnsPort: port("2197", "The APNs provider API: https, HTTP/2.")
        case .devicePort: port("5228", "The device channel: MCS over TLS.")
        case .controlPort: port("8443", "Enrolment and timelines: https.")
        case .httpPort: port("8080", "The same as control-port without TLS, on loopback; only with development.")
        case .metricsPort: port("9090", "Metrics, health and readiness: http on metrics-host.")
        case .serverNames:
            Row(
                type: .serverNames, programs: [.serve],
                sentence: "The names by which providers and apps reach control-port, with a port where it is another "
                    + "than control-port and 443; what FCM's, Web Push's and the hub's credentials say that they are meant "
                    + "for must be one of them. Without it those of the certificate. This machine's own and that of "
                    + "media-url count as well.")
        case .metricsHost:
            Row(
                type: .ipAddress, defaultText: "127.0.0.1", programs: [.serve],
                sentence: "The address that metrics-port binds; whoever reaches it reads without a "
                    + "credential how many devices and notifications there are.")
        case .legacyPort:
            Row(
                type: .port, programs: [.serve],
                sentence: "Apple's old binary interface, with client certificates; Apple's port was 2195. Without it "
                    + "nothing listens.")
        case .legacyFeedbackPort:
            Row(
                type: .port, programs: [.serve],
                sentence: "Its feedback service; Apple's port was 2196. Without it nothing listens.")
        case .sharedPort:
            Row(
                type: .port, programs: [.serve],
                sentence:
                    "One port for TLS clients that find the server under Apple's and Google's names: a connection for "
                    + "a name of Apple's goes to apns-port, any other to control-port. Without it nothing listens.")
        case .appleLimits:
            Row(
                type: .flag, defaultText: "false", programs: [.serve],
                sentence:
                    "Whether connections to apns-port have Apple's limits: one stream until a request is accepted "
                    + "and after each error, no new provider token within 20 minutes, and an end after many errors.")
        case .connectionsPerAddress:
            Row(
                type: .number(1...1_000_000), defaultText: "4096", programs: [.serve],
                sentence: "How many connections one address may have on each TLS listener; an IPv6 /64 counts as one.")
        case .deviceLogins:
            Row(
                type: .number(1...1_000_000), defaultText: "1000", programs: [.serve],
                sentence:
                    "How many devices may log in within a second, after a burst of ten times as many; the others are "
                    + "told when to come again, before TLS where they can be. The default suits two processors.")
        case .proxies:
            Row(
                type: .addressRanges, defaultText: "127.0.0.0/8,::1", programs: [.serve],
                sentence: "Addresses behind which are many, which connections-per-address does not bound.")
        default:
            Row(
                type: .ipAddress, defaultText: "127.0.0.1", programs: [.serve],
                sentence: "The address that the TLS listeners bind, an IP address; 0.0.0.0 for all of IPv4.")
        }
    }

    private var serverRow: Row {
        switch self {
        case .certificate:
            Row(
                type: .path, programs: [.serve],
                sentence: "The server's certificate chain, PEM; without it certificates/server.pem in the data folder. "
                    + "Read again within half a minute of a change, and at once on SIGHUP.")
        case .certificateKey:
            Row(
                type: .path, programs: [.serve],
                sentence: "The certificate's private key, PEM; without it certificates/server-key.pem in the data "
                    + "folder.")
        case .environment:
            Row(
                type: .choice(["sandbox", "production"]), defaultText: "production", programs: [.serve, .agent],
                sentence: "Which device tokens the APNs listener takes, and which the agent asks for.")
        case .development:
            Row(
                type: .flag, defaultText: "false", programs: [.serve],
                sentence: "Loopback development: plain http on loopback without tokens, and open enrolment.")
        case .acceptAnyCredential:
            Row(
                type: .flag, defaultText: "false", programs: [.serve],
                sentence:
                    "Whether unknown provider keys, service accounts, projects and apps are accepted as they come, "
                    + "with their signatures unchecked; for tests, only with development.")
        case .acceptAnyToken:
            Row(
                type: .flag, defaultText: "false", programs: [.serve],
                sentence:
                    "Whether an unknown device token is that of a new device, which acknowledges what it gets; for "
                    + "tests, only with development.")
        case .testNetwork:
            Row(
                type: .flag, defaultText: "false", programs: [.serve],
                sentence: "Whether development goes with a host beyond loopback, and http-port binds host too; for a "
                    + "container in a network of a test's own.")
        case .postgres:
            Row(
                type: .text, secret: true, programs: [.serve],
                sentence:
                    "The address of a PostgreSQL database that has what server.sqlite, hub.sqlite and relay.sqlite have otherwise: "
                    + "postgresql://USER@HOST/DATABASE. A password belongs in the file that PGPASSFILE names."
            )
        case .nats:
            Row(
                type: .text, secret: true, programs: [.serve],
                sentence:
                    "The addresses of NATS servers, for several servers that use one PostgreSQL database: "
                    + "nats://HOST:4222 or tls://HOST:4222, separated by commas.")
        case .enrolmentOpen:
            Row(
                type: .flag, defaultText: "false", programs: [.serve],
                sentence: "Whether a new device may enrol without the enrolment key.")
        case .relayWakeHub:
            Row(
                type: .text, programs: [.serve],
                sentence: "The hub by whose credentials phones are woken for relaying; without it none are.")
        case .fcmQuota:
            Row(
                type: .number(1...100_000_000), defaultText: "600000", programs: [.serve],
                sentence: "How many messages a project may send in a minute by FCM's API.")
        case .fcmDeviceQuota:
            Row(
                type: .number(0...100_000_000), defaultText: "0", programs: [.serve],
                sentence: "How many messages one device may be sent in a minute by FCM's API. FCM itself has 240; with "
                    + "it come its limits for an hour and for collapse keys. 0 for no such limit.")
        case .legacyFCM:
            Row(
                type: .flag, defaultText: "false", programs: [.serve],
                sentence: "Whether FCM's legacy HTTP API is offered, which Google ended in 2024: POST /fcm/send with "
                    + "keys of `aldaba service-account server-key`.")
        case .topicQuota:
            Row(
                type: .number(1...100_000_000), defaultText: "3000", programs: [.serve],
                sentence: "How many requests of a project may add or remove topic subscriptions in a second.")
        case .webhookNetworks:
            Row(
                type: .addressRanges, programs: [.serve],
                sentence: "Private addresses to which webhooks and the hub's pushes may be sent, also by plain http; "
                    + "without it none. With development this machine's own are among them.")
        case .hubBroadcastMinimum:
            Row(
                type: .number(1...100_000_000), defaultText: "512", programs: [.serve],
                sentence: "From how many of this server's own devices on, that get the same payload of a hub's send, "
                    + "they are handed over as one. Each time every connected device is looked at.")
        case .enrolmentKeyFile:
            Row(
                type: .path, programs: [.serve, .agent],
                sentence: "A file with the enrolment key in one line, of this user or of root.")
        default:
            Row(
                type: .text, secret: true, programs: [.serve, .agent],
                sentence: "The key that a new device shows to enrol; in a flag every user of the machine can read it.")
        }
    }

    private var consoleRow: Row {
        switch self {
        case .consolePayloads:
            Row(
                type: .choice(["everybody", "reader", "sender", "admin", "owner"]), defaultText: "everybody",
                programs: [.serve],
                sentence:
                    "Who sees in the console what notifications say: everybody who logs in, or from which role on.")
        case .consoleIssuer:
            Row(
                type: .text, programs: [.serve],
                sentence: "The address of an OpenID provider by which people may log in to the console, as its "
                    + "configuration has it as issuer; https. Without it people log in by password alone.")
        case .consoleClientID:
            Row(
                type: .text, programs: [.serve],
                sentence:
                    "The id that the provider of console-oidc-issuer gave to the console; its redirect address is "
                    + "https://NAME/console/login/callback.")
        default:
            Row(
                type: .path, programs: [.serve],
                sentence:
                    "A file with the secret that belongs to console-oidc-client-id in one line, of this user or of "
                    + "root; without it the console is a public client, which PKCE protects.")
        }
    }

    private var mediaRow: Row {
        switch self {
        case .mediaURL:
            Row(
                type: .secureURL, programs: [.serve],
                sentence: "The address by which devices reach control-port, for the files of notifications and the "
                    + "subscriptions of browsers; without it host and control-port.")
        case .mediaQuota:
            Row(
                type: .number(1...1_048_576), defaultText: "1024", programs: [.serve],
                sentence: "How many MiB the files of notifications may take in all.")
        case .mediaTeamQuota:
            Row(
                type: .number(1...1_048_576), programs: [.serve],
                sentence:
                    "How many MiB of media-quota the files of one team may take; without it half, so that no team takes "
                    + "what others need.")
        case .mediaBucket:
            Row(
                type: .text, programs: [.serve],
                sentence:
                    "The address of a bucket of an S3-compatible object store that has the files of several servers too: "
                    + "https://HOST/BUCKET or https://BUCKET.HOST.")
        case .mediaBucketRegion:
            Row(
                type: .text, defaultText: "us-east-1", programs: [.serve],
                sentence: "The region for which requests to media-bucket are signed.")
        case .mediaBucketCredentials:
            Row(
                type: .path, programs: [.serve],
                sentence:
                    "A file with the access key of media-bucket, of this user or of root: aws_access_key_id = ID and "
                    + "aws_secret_access_key = SECRET. It is read for each request.")
        default:
            Row(
                type: .number(1...8760), defaultText: "720", programs: [.serve],
                sentence: "For how many hours a notification's file is kept after it was last uploaded.")
        }
    }

    private var agentRow: Row {
        switch self {
        case .agentServer:
            Row(
                type: .address, programs: [.agent],
                sentence: "The server's device channel; without it the server whose addresses stand in the data folder."
            )
        case .agentControl:
            Row(
                type: .secureURL, programs: [.agent],
                sentence: "The address of the server's control API; without it as agent-server.")
        case .agentCA:
            Row(
                type: .path, programs: [.agent],
                sentence: "The certificates the agent trusts, PEM; without it certificates/ca.pem in the data folder "
                    + "where there is one, else the system's.")
        case .agentSocket:
            Row(
                type: .path, programs: [.agent],
                sentence: "The socket that apps connect to; without it $XDG_RUNTIME_DIR/aldaba/agent.sock, else in the "
                    + "data folder.")
        case .presenter:
            Row(
                type: .choice(["auto", "desktop", "headless"]), defaultText: "auto", programs: [.agent],
                sentence: "How notifications are shown: auto takes the desktop when there is a session bus.")
        case .presenterHook:
            Row(
                type: .path, programs: [.agent],
                sentence:
                    "A program that is run for each notification where there is no screen, with a JSON object on its "
                    + "standard input.")
        case .position:
            Row(
                type: .position, defaultText: "geoclue", programs: [.agent],
                sentence: "Who tells where this machine is, for notifications that wait for a place.")
        case .mediaNetworks:
            Row(
                type: .addressRanges, programs: [.agent],
                sentence: "Private addresses from which pictures of notifications may be fetched; without it none.")
        case .relayLAN:
            Row(
                type: .flag, defaultText: "false", programs: [.agent],
                sentence:
                    "Connect directly with your other devices in the same private network: announced by Avahi, on a "
                    + "free TCP port.")
        case .agentMetricsPort:
            Row(
                type: .port, programs: [.agent],
                sentence: "The agent's own metrics: http on loopback. Without it nothing listens, and the agent at "
                    + "rest never wakes.")
        default:
            Row(
                type: .number(10...600_000), defaultText: "1000", programs: [.agent],
                sentence: "Milliseconds before the agent's first attempt to reconnect; later ones double.")
        }
    }
}
