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
        let endpoint: LegacyEndpoint
        do {
            endpoint = try await LegacyEndpoint.bind(
                LegacyEndpointConfiguration(
                    host: configuration.host, port: port, feedbackPort: feedbackPort, tls: tls.certified,
                    admission: configuration.admission(total: budget.legacy, proof: .seconds(30)),
                    environment: configuration.environment, cell: ServerParts.cell),
                LegacyEndpoint.Directories(
                    certificates: RegisteredCertificates(parts.certificates), apps: parts.apps, tokens: parts.tokens,
                    feedback: parts.store.register, onDemand: parts.onDemand),
                acceptor: parts.mailboxes, controls: parts.controls, on: MultiThreadedEventLoopGroup.singleton,
                logger: parts.logger)
        } catch { throw ServeCommand.cannotListen(configuration.host, port: port ?? feedbackPort ?? 0, error: error) }
        endpoint.port.map(ports.legacy.known)
        endpoint.feedbackPort.map(ports.legacyFeedback.known)
        try? await gracefulShutdown()
        await endpoint.shutDown()
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
