import Machine
import PushModel

/// What one agent needs to know: where its data is, where the server is, and how patient to be.
public struct AgentConfiguration: Sendable {
    /// The agent's own folder; made with mode 0700 when it is missing.
    public var dataFolder: String
    /// Where apps connect; at most 107 bytes, a limit of Unix sockets.
    public var socketPath: String
    /// Where the server is; `nil` without one: then there are only the apps' own notifications.
    public var server: Server?
    /// A PEM file of the authorities that may sign the server's certificate; `nil` trusts the system's.
    public var certificateAuthorityFile: String?
    /// Shown to the server when this device enrols. Never logged.
    @Secret public var enrolmentKey: String?
    /// The environment for which apps get their device tokens.
    public var environment: PushEnvironment
    /// The longest first pause before the agent tries again.
    public var backOffBase: Duration
    /// No pause is longer than this; a minute at most, unless the first is longer.
    public var backOffCap: Duration
    /// The longest pause that grows of shorter ones.
    private static let longestPause = Duration.seconds(60)

    /// Checks nothing: what cannot be used is said when the agent starts.
    public init(
        dataFolder: String, socketPath: String, server: Server?,
        certificateAuthorityFile: String? = nil, enrolmentKey: String? = nil, environment: PushEnvironment,
        backOffBase: Duration = .seconds(1), backOffCap: Duration = .seconds(60)
    ) {
        self.dataFolder = dataFolder
        self.socketPath = socketPath
        self.server = server
        self.certificateAuthorityFile = certificateAuthorityFile
        self.enrolmentKey = enrolmentKey
        self.environment = environment
        self.backOffBase = backOffBase
        self.backOffCap = backOffCap
    }

    /// One server, as devices see it.
    public struct Server: Sendable, Hashable {
        /// The device channel's host, as its certificate names it.
        public var host: String
        /// The device channel's port.
        public var port: Int
        /// The control API's base URL, `https://host:8443`, without a slash at its end.
        public var controlURL: String

        /// Checks nothing: a server that cannot be reached is tried again and again.
        public init(host: String, port: Int, controlURL: String) {
            self.host = host
            self.port = port
            self.controlURL = controlURL
        }
    }

    /// Where the manifests of installed apps lie.
    public var appsFolder: String { dataFolder + "/apps" }
    /// Where the output of apps that the agent started goes.
    public var logFolder: String { dataFolder + "/log" }
    /// Where the files of notifications lie.
    var attachmentsFolder: String { dataFolder + "/attachments" }
    var backOff: BackOff {
        BackOff(base: backOffBase.milliseconds, cap: min(backOffCap, Self.longestPause).milliseconds)
    }
    var databasePath: String { dataFolder + "/agent.sqlite" }
    var lockPath: String { dataFolder + "/agent.lock" }
}

// Neither a log nor a dump of what holds it shows the enrolment key.
extension AgentConfiguration: CustomStringConvertible, CustomReflectable {
    public var description: String { "the agent of \(dataFolder)" }
    public var customMirror: Mirror {
        Mirror(
            self,
            children: [
                "dataFolder": dataFolder, "socketPath": socketPath, "server": server as Any,
                "certificateAuthorityFile": certificateAuthorityFile as Any, "environment": environment,
                "backOffBase": backOffBase, "backOffCap": backOffCap,
            ])
    }
}

/// What an agent tells whoever started it.
public enum AgentEvent: Sendable, Hashable {
    /// Apps can connect.
    case listening(socketPath: String)
    /// The device has its id.
    case enrolled(DeviceID)
    /// An app has its device token (64 hexadecimal digits); again when the token changed.
    case registered(app: String, token: String)
    case sessionOpened
    case sessionClosed(reason: String)
    case appConnected(app: String)
}
