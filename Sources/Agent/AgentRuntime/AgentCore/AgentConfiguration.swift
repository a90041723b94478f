import AgentEngine
import AgentProtocol
import Networking
import Platform
import PushCore

/// The settings of one agent: where its data is, where the server is, and how long it pauses between attempts.
package struct AgentConfiguration: Sendable {
    /// The agent's own folder; made with mode 0700 when it is missing.
    package var dataFolder: String
    /// The path of the Unix socket to which apps connect; at most 107 bytes, a limit of Unix sockets.
    package var socketPath: String
    /// The address of the server; `nil` for none: then apps only have their own local notifications.
    package var server: Server?
    /// A PEM file of the authorities that may sign the server's certificate; `nil` trusts the system's.
    package var certificateAuthorityFile: String?
    /// Shown to the server when this device enrols. Never logged.
    @Secret package var enrolmentKey: String?
    /// The environment for which apps get their device tokens.
    package var environment: PushEnvironment
    /// Private addresses from which files for notifications may be fetched; public ones are always allowed.
    package var mediaNetworks: [AddressRange] = []
    /// The bus of the service that finds this person's other devices in the same network, for direct connections. `nil`
    /// for none: then nothing listens and nothing is announced.
    package var nearbyBusAddress: String?
    /// Whether the program that started the agent gets ``AgentEvent/reported(_:)``.
    package var reportsStates = false
    /// The upper bound of the first pause before the agent tries again; pauses are drawn at random.
    package var backOffBase: Duration
    /// The upper bound of all pauses, which double up to it. More than a minute counts as a minute; less than the first
    /// pause's bound counts as that bound.
    package var backOffCap: Duration
    /// The greatest ``backOffCap`` that counts.
    private static let longestPause = Duration.seconds(60)

    /// Creates a configuration without checking it: unusable values are reported when the agent starts.
    package init(
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

    /// The address of a server's device channel.
    package struct Server: Sendable, Hashable {
        /// The device channel's host, as its certificate names it.
        package var host: String
        /// The device channel's port.
        package var port: Int
        /// The control API's base URL, `https://host:8443`, without a slash at its end.
        package var controlURL: String

        /// Checks nothing: a server that cannot be reached is tried again and again.
        package init(host: String, port: Int, controlURL: String) {
            self.host = host
            self.port = port
            self.controlURL = controlURL
        }
    }

    /// The folder with the manifests of installed apps.
    package var appsFolder: String { dataFolder + "/apps" }
    /// The folder with the output of apps that the agent started.
    package var logFolder: String { dataFolder + "/log" }
    /// The folder with the files attached to notifications.
    var attachmentsFolder: String { dataFolder + "/attachments" }
    var backOff: BackOff {
        BackOff(base: backOffBase.milliseconds, cap: min(backOffCap, Self.longestPause).milliseconds)
    }
    var databasePath: String { dataFolder + "/agent.sqlite" }
    var lockPath: String { dataFolder + "/agent.lock" }
}

// Neither a log nor a dump of what holds it shows the enrolment key.
extension AgentConfiguration: CustomStringConvertible, CustomReflectable {
    package var description: String { "the agent of \(dataFolder)" }
    /// The settings without the enrolment key, so that `dump` shows no secret.
    package var customMirror: Mirror {
        Mirror(
            self,
            children: [
                "dataFolder": dataFolder, "socketPath": socketPath, "server": server as Any,
                "certificateAuthorityFile": certificateAuthorityFile as Any, "environment": environment,
                "backOffBase": backOffBase, "backOffCap": backOffCap,
            ])
    }
}

/// An event that an agent reports to the program that started it.
package enum AgentEvent: Sendable, Hashable {
    /// Apps can connect.
    case listening(socketPath: String)
    /// The device has its id.
    case enrolled(DeviceID)
    /// An app has its device token (64 hexadecimal digits); again when the token changed.
    case registered(app: BundleID, token: String)
    /// The server took the login: the session is open.
    case sessionOpened
    /// A session was lost or could not be opened; with the reason, for people. The agent tries again.
    case sessionClosed(reason: String)
    /// The app of this bundle id is connected.
    case appConnected(app: BundleID)
    /// The device reports states of a notification to its server, perhaps again after a lost session.
    case reported(ReportedStates)
}
