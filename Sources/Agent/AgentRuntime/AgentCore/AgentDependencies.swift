import AgentEngine
import Foundation
import LinuxDesktop
import Logging
import NIOCore
import NIOPosix
import NIOSSL
import Networking
import Platform
import PushCore
import RelayAgent
import Scheduling

/// The ports to the server.
struct ServerPorts: Sendable {
    /// Opens sessions with the server.
    var connector: any PushConnector
    var enrolment: any EnrolmentClient
}

/// The ports of the device relay.
struct RelayPorts: Sendable {
    /// Opens addresses for other devices.
    var opener: any AddressOpener = XDGOpen()
    /// The native services that the agent itself offers to other devices.
    var services: any NativeServices = NoServices()
    /// Finds the person's other devices in the networks that this one is in; `nil` where it shall not.
    var nearby: AvahiDirectory?
}

/// The ports, and the functions for time and randomness, of an agent; tests pass their own.
struct AgentDependencies: Sendable {
    var presenter: any Presenter
    /// `nil` without a server.
    var server: ServerPorts?
    var launcher: any AppLauncher
    /// Starts service extensions.
    var extensions: any ExtensionLauncher
    /// Fetches files for service extensions; `nil` without fetching.
    var media: MediaFetcher?
    var activator: (any AppActivator)?
    /// Serves apps of UnifiedPush; `nil` without a session bus.
    var distributor: (any PushDistributor)?
    var focus: (any WindowFocusSource)?
    /// The parent of a process.
    var parent: @Sendable (Int32) -> Int32? = ProcessTree.parent(of:)
    var replyWindow: any ReplyWindow
    var stills: any VideoThumbnailer
    var relayPorts = RelayPorts()
    var peerCheck: PeerCheck
    /// Rings when it is time.
    var clock: any AlarmClock
    /// Reports the machine's position; `nil` without a source.
    var positions: (any PositionSource)?
    /// Reports when the network comes back; `nil` without a source.
    var network: (any NetworkSource)?
    /// The rules of a time zone; `nil` for one that is not known here.
    var zones: @Sendable (ZoneChoice) -> ZoneRules?
    var now: @Sendable () -> Timestamp
    var sleep: @Sendable (Duration) async throws -> Void
    var random: @Sendable () -> UInt64
    /// Ends what the parts keep open.
    var close: @Sendable () async -> Void

    /// The parts of an agent outside of tests. They must be closed, so they are made last of all.
    ///
    /// - Throws: when the authorities' file cannot be read; then nothing is left open.
    static func production(
        _ configuration: AgentConfiguration, presenter: any Presenter, activator: (any AppActivator)?,
        focus: (any WindowFocusSource)?, clock: any AlarmClock, positions: (any PositionSource)?, logger: Logger
    ) throws -> AgentDependencies {
        let server = try configuration.server.map { server in
            (
                connector: try MCSPushConnector(
                    host: server.host, port: server.port,
                    certificateAuthorityFile: configuration.certificateAuthorityFile, group: Agent.ownLoops,
                    logger: logger),
                enrolment: try HTTPEnrolmentClient(
                    controlURL: server.controlURL, certificateAuthorityFile: configuration.certificateAuthorityFile,
                    enrolmentKey: configuration.enrolmentKey)
            )
        }
        let random: @Sendable () -> UInt64 = { UInt64.random(in: 0 ... .max) }
        let media = MediaFetcher(
            folder: configuration.dataFolder + "/media", networks: configuration.mediaNetworks,
            parts: .init(
                resolver: SystemHostResolver(),
                ownServer: try mediaServer(configuration, logger), sleep: LoopTimer.sleep, random: random))
        return AgentDependencies(
            presenter: presenter,
            server: server.map { ServerPorts(connector: $0.connector, enrolment: $0.enrolment) },
            launcher: ProcessLauncher(logFolder: configuration.logFolder),
            extensions: ExtensionPrograms(
                folder: configuration.dataFolder + "/extensions", logFolder: configuration.logFolder),
            media: media, activator: activator, focus: focus,
            replyWindow: ProgramReplyWindow(), stills: ThumbnailerProgram(),
            relayPorts: RelayPorts(
                opener: DesktopOpener(), services: DeviceServices(agentSocket: configuration.socketPath),
                nearby: configuration.nearbyBusAddress.map { AvahiDirectory(busAddress: $0) }), peerCheck: .system,
            clock: clock, positions: positions, network: KernelNetwork(), zones: { LocalZones.shared.rules(for: $0) },
            now: systemTime,
            sleep: LoopTimer.sleep, random: random,
            close: { _ = await (media.close(), server?.enrolment.close()) })
    }

    /// The own server's part of fetching media; `nil` without a server, and for a URL from which nothing can be fetched.
    private static func mediaServer(
        _ configuration: AgentConfiguration, _ logger: Logger
    ) throws -> MediaFetcher.OwnServer? {
        guard let server = configuration.server else { return nil }
        let tls = try TLSConfiguration.client(certificateAuthorityFile: configuration.certificateAuthorityFile)
        do { return try MediaFetcher.OwnServer(controlURL: server.controlURL, tls: tls) } catch {
            logger.warning(
                "media of the own server cannot be fetched: agent-control is no address for them",
                metadata: [LogKey.error: "\(error)"])
            return nil
        }
    }

    /// The time of the system's clock.
    @Sendable static func systemTime() -> Timestamp { Timestamp(rawValue: Int64(Date().timeIntervalSince1970 * 1000)) }

    /// The dependencies of the device relay.
    var relay: DeviceRelayParts {
        DeviceRelayParts(
            opener: relayPorts.opener, services: relayPorts.services, presenter: presenter, nearby: relayPorts.nearby,
            machine: .read(),
            now: now)
    }

    /// Whether there is a server.
    var hasServer: Bool { server != nil }

    /// The dependencies of the link to the server; `nil` without a server.
    func link(store: AgentStore) -> ServerLinkDependencies? {
        guard let server else { return nil }
        return ServerLinkDependencies(
            connector: SteppedConnector(connector: server.connector), enrolment: server.enrolment, store: store,
            network: network,
            sinceBoot: { [clock] in clock.now().sinceBoot }, sleep: sleep, random: random)
    }
}
