import AgentWire
import ConnectionAdmission
import Machine
import PushModel

/// The settings of one agent: where its data is, where the server is, and how long it pauses between attempts.
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
    /// Private addresses from which files for notifications may be fetched; public ones are always allowed.
    public var mediaNetworks: [AddressRange] = []
    /// The bus of the service that finds this person's other devices in the same network, for connections beside the server; `nil`
    /// for none: then nothing listens and nothing is announced.
    public var nearbyBusAddress: String?
    /// The upper bound of the first pause before the agent tries again; pauses are drawn at random.
    public var backOffBase: Duration
    /// The upper bound of all pauses, which double up to it. More than a minute counts as a minute; less than the first
    /// pause's bound counts as that bound.
    public var backOffCap: Duration
    /// The greatest ``backOffCap`` that counts.
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
    /// The settings without the enrolment key, so that `dump` shows no secret.
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
    case registered(app: BundleID, token: String)
    /// The server took the login: the session is open.
    case sessionOpened
    /// A session was lost or could not be opened, and why, in words; the agent tries again.
    case sessionClosed(reason: String)
    /// The app of this bundle id is connected.
    case appConnected(app: BundleID)
}
