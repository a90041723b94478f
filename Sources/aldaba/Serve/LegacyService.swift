import APNsFrontend
import AldabaConfiguration
import NIOPosix
import Networking
import PushServer
import ServiceLifecycle

/// Runs the listeners of the old binary interface.
struct LegacyService: Service, CustomStringConvertible {
    let parts: ServerParts
    let configuration: ServerConfiguration
    let budget: DescriptorBudget
    let tls: ServerCertificate
    let ports: BoundPorts
    var description: String { "old binary interface" }

    func run() async throws {
        let (port, feedbackPort) = (configuration.port(.legacyPort), configuration.port(.legacyFeedbackPort))
        // Apple manages broadcast channels on these ports today: clients that name such a host are connected with APNs.
        let isShared = configuration.serves(.sharedPort)
        let endpoint: LegacyEndpoint
        do {
            endpoint = try await LegacyEndpoint.bind(
                LegacyEndpointConfiguration(
                    host: isShared ? "127.0.0.1" : configuration.host, port: isShared ? port.map { _ in 0 } : port,
                    feedbackPort: isShared ? feedbackPort.map { _ in 0 } : feedbackPort, tls: tls.certified,
                    admission: admission(isShared: isShared),
                    environment: configuration.environment, cell: ServerParts.cell),
                LegacyEndpoint.Directories(
                    certificates: RegisteredCertificates(parts.certificates), apps: parts.apps, tokens: parts.tokens,
                    feedback: parts.store.register, onDemand: parts.onDemand),
                acceptor: parts.mailboxes, controls: parts.controls, on: MultiThreadedEventLoopGroup.singleton,
                logger: parts.logger)
        } catch { throw ServeCommand.cannotListen(configuration.host, port: port ?? feedbackPort ?? 0, error: error) }
        var listeners: [SNIListener] = []
        for (wanted, bound, known) in [
            (port, endpoint.port, ports.legacy), (feedbackPort, endpoint.feedbackPort, ports.legacyFeedback),
        ] {
            guard let wanted, let bound else { continue }
            guard isShared else {
                known.known(bound)
                continue
            }
            let listener = try await share(wanted, with: bound)
            known.known(listener.port)
            listeners.append(listener)
        }
        try? await gracefulShutdown()
        for listener in listeners { await listener.close() }
        await endpoint.shutDown()
    }

    /// The limits of the old interface. Behind a shared port, which has a limit for each address, all clients have the address
    /// of this machine.
    private func admission(isShared: Bool) -> ConnectionLimiter.Configuration {
        var admission = configuration.admission(total: budget.legacy, proof: .seconds(30))
        if isShared { admission.limits.perAddress = budget.legacy }
        return admission
    }

    /// Listens on a port for the old interface, and for the management of channels, by the names that clients ask for.
    private func share(_ port: Int, with legacy: Int) async throws -> SNIListener {
        let apns = try await ports.apns.value()
        do {
            return try await SNIListener.bind(
                host: configuration.host, port: port,
                limiter: ConnectionLimiter(
                    // The endpoint behind it demands the credential within 30 seconds.
                    listener: "legacy-shared", configuration.admission(total: budget.legacy, proof: .hours(1)),
                    logger: parts.logger), on: MultiThreadedEventLoopGroup.singleton
            ) { $0.map(VendorNames.managesChannels) == true ? apns : legacy }
        } catch { throw ServeCommand.cannotListen(configuration.host, port: port, error: error) }
    }
}

extension ServerConfiguration {
    /// Whether a listener that is off by default was asked for.
    func serves(_ key: ConfigurationKey) -> Bool { values.text(key) != nil }

    /// Whether any part of the old binary interface was asked for.
    var servesLegacy: Bool { serves(.legacyPort) || serves(.legacyFeedbackPort) }

    /// The port of a listener that is off by default; `nil` where it was not asked for.
    func port(_ key: ConfigurationKey) -> Int? { serves(key) ? values.number(key) : nil }
}
