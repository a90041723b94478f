/// The programs that read configuration.
public enum ConfiguredProgram: String, Sendable, CaseIterable {
    /// `aldaba serve`.
    case serve
    /// `aldaba agent`.
    case agent
    /// Runs the other two, and gives them what it is given.
    case up

    /// Whether a key can be given as a flag of the program. `up` chooses by itself how its agent finds its server.
    public func takes(_ key: ConfigurationKey) -> Bool {
        switch self {
        case .serve, .agent: key.row.programs.contains(self)
        case .up:
            key.row.programs.contains(.serve) || [.presenter, .presenterHook, .position, .reconnectAfter].contains(key)
        }
    }
}

/// The kind of value that a key takes.
public enum ConfigurationType: Sendable, Equatable {
    /// Any text that is not empty.
    case text
    /// A path of a file or folder; relative ones count from the current folder.
    case path
    /// `0 ... 65535`; 0 lets the system choose.
    case port
    /// `host:port`.
    case address
    /// An address that begins with `https://`, since secrets are sent there.
    case secureURL
    /// Yes or no.
    case flag
    /// A whole number in the range.
    case number(ClosedRange<Int>)
    /// One of these words.
    case choice([String])
    /// What ``PositionChoice`` reads.
    case position
    /// Addresses and ranges of them, separated by commas; see ``AddressRange``.
    case addressRanges

    /// The kind in a reader's words, as it stands in help and documentation.
    public var words: String {
        switch self {
        case .text: "text"
        case .path: "path"
        case .port: "port, 0 to 65535 (0: a free one)"
        case .address: "host:port"
        case .secureURL: "an address https://host:port"
        case .flag: "true or false"
        case .number(let range): "whole number, \(range.lowerBound) to \(range.upperBound)"
        case .choice(let choices): choices.joined(separator: ", ")
        case .addressRanges: "addresses or ranges like 10.0.0.0/8, separated by commas; none"
        case .position: "geoclue, file:PATH, command:COMMAND, none"
        }
    }
}

/// Every key of the configuration. The rows in ``row`` are the one table behind flags, `ALDABA_*`,
/// `aldaba.yaml`, the help texts and the documentation.
public enum ConfigurationKey: String, Sendable, CaseIterable {
    /// The data folder of the server and the agent.
    case data

    /// Each is a setting of the server and its listeners; ``row`` has its sentence.
    case host
    case apnsPort = "apns-port"
    case devicePort = "device-port"
    case controlPort = "control-port"
    case httpPort = "http-port"
    case metricsPort = "metrics-port"
    case connectionsPerAddress = "connections-per-address"
    case proxies
    case certificate
    case certificateKey = "certificate-key"
    case environment
    case development
    case enrolmentOpen = "enrolment-open"
    case enrolmentKey = "enrolment-key"
    case enrolmentKeyFile = "enrolment-key-file"

    /// Each is a setting of the agent; ``row`` has its sentence.
    case agentServer = "agent-server"
    case agentControl = "agent-control"
    case agentCA = "agent-ca"
    case agentSocket = "agent-socket"
    case presenter
    case presenterHook = "presenter-hook"
    case position
    case reconnectAfter = "reconnect-after"

    /// The least important level that is logged.
    case logLevel = "log-level"

    /// One row of the table.
    public struct Row: Sendable {
        /// What values the key takes.
        public var type: ConfigurationType
        /// The default as text; `nil` when there is none.
        public var defaultText: String?
        /// Whether the value must never be shown.
        public var secret = false
        /// Whose setting it is.
        public var programs: [ConfiguredProgram]
        /// One sentence on what the key does.
        public var sentence: String
    }

    /// The name of the key's environment variable.
    public var environmentName: String {
        "ALDABA_" + rawValue.uppercased().replacing("-", with: "_")
    }

    /// The key's row of the table.
    public var row: Row {
        switch self {
        case .data:
            Row(
                type: .path, programs: [.serve, .agent],
                sentence: "The data folder; without it $XDG_STATE_HOME/aldaba, else ~/.local/state/aldaba.")
        case .host, .apnsPort, .devicePort, .controlPort, .httpPort, .metricsPort, .connectionsPerAddress, .proxies:
            listenerRow
        case .certificate, .certificateKey, .environment, .development, .enrolmentOpen, .enrolmentKey,
            .enrolmentKeyFile:
            serverRow
        case .agentServer, .agentControl, .agentCA, .agentSocket, .presenter, .presenterHook, .position,
            .reconnectAfter:
            agentRow
        case .logLevel:
            Row(
                type: .choice(["trace", "debug", "info", "notice", "warning", "error", "critical"]),
                defaultText: "info", programs: [.serve, .agent],
                sentence: "The least important level that is logged to standard error.")
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
        case .metricsPort: port("9090", "Metrics and health: http on loopback.")
        case .connectionsPerAddress:
            Row(
                type: .number(1...1_000_000), defaultText: "4096", programs: [.serve],
                sentence: "How many connections one address may have on each TLS listener; an IPv6 /64 counts as one.")
        case .proxies:
            Row(
                type: .addressRanges, defaultText: "127.0.0.0/8,::1", programs: [.serve],
                sentence: "Addresses behind which are many, which connections-per-address does not bound.")
        default:
            Row(
                type: .text, defaultText: "127.0.0.1", programs: [.serve],
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
        case .enrolmentOpen:
            Row(
                type: .flag, defaultText: "false", programs: [.serve],
                sentence: "Whether a new device may enrol without the enrolment key.")
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
        default:
            Row(
                type: .number(10...600_000), defaultText: "1000", programs: [.agent],
                sentence: "Milliseconds before the agent's first attempt to reconnect; later ones double.")
        }
    }
}
