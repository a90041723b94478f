import APNsFrontend
import APNsProtocol
import AldabaConfiguration
import ControlAPI
import DeviceChannel
import FCMFrontend
import FCMProtocol
import NIOPosix
import Networking
import Platform
import PushCore
import PushServer
import ServiceLifecycle

/// Runs the provider API's listener.
struct ProviderService: Service, CustomStringConvertible {
    let parts: ServerParts
    let configuration: ServerConfiguration
    let budget: DescriptorBudget
    let tls: ServerCertificate
    let bound: @Sendable (Int) -> Void
    var description: String { "provider API" }

    func run() async throws {
        let port = configuration.values.number(.apnsPort)
        let endpoint: ProviderEndpoint
        do {
            endpoint = try await ProviderEndpoint.bind(
                HTTP2Listener.Configuration(
                    host: configuration.host, port: port, tls: tls.provider,
                    limiter: ConnectionLimiter(
                        listener: "apns", configuration.admission(total: budget.providers, proof: .seconds(30)),
                        logger: parts.logger)),
                environment: configuration.environment, credentials: parts.credentials,
                certificates: parts.certificates, apps: parts.apps,
                tokens: parts.tokens, acceptor: parts.mailboxes, channels: parts.channels, onDemand: parts.onDemand,
                hasAppleLimits: configuration.values.flag(.appleLimits), controls: parts.controls,
                on: MultiThreadedEventLoopGroup.singleton)
        } catch { throw ServeCommand.cannotListen(configuration.host, port: port, error: error) }
        bound(endpoint.port)
        try? await gracefulShutdown()
        await endpoint.shutDown()
    }
}

/// Runs the device channel's listener.
struct DeviceService: Service, CustomStringConvertible {
    let parts: ServerParts
    let configuration: ServerConfiguration
    let budget: DescriptorBudget
    let tls: ServerCertificate
    let upstream: AppMessageReceiver
    let ports: BoundPorts
    let bound: @Sendable (Int) -> Void
    var description: String { "device channel" }

    func run() async throws {
        let port = configuration.values.number(.devicePort)
        var endpointConfiguration = DeviceEndpointConfiguration(host: configuration.host, port: port)
        endpointConfiguration.admission = configuration.admission(
            total: budget.devices, unproven: 16_384, proof: .seconds(15))
        endpointConfiguration.loginsPerSecond = configuration.values.number(.deviceLogins)
        endpointConfiguration.loginBurst = 10 * endpointConfiguration.loginsPerSecond
        if configuration.values.text(.nats) != nil { endpointConfiguration.stopPace = .amongOthers }
        let endpoint = DeviceEndpoint(
            configuration: endpointConfiguration,
            tls: tls.plain, gateway: parts.mailboxes,
            upstream: UpstreamRegistry(others: upstream).adding(parts.relay, for: MCSUpstream.relayCategory),
            web: parts.web, sessions: SessionListeners([parts.relay, parts.presence]),
            browsers: try parts.browserServices(configuration.values, ports),
            group: MultiThreadedEventLoopGroup.singleton,
            logger: parts.logger)
        do { bound(try await endpoint.start()) } catch {
            throw ServeCommand.cannotListen(configuration.host, port: port, error: error)
        }
        try? await gracefulShutdown()
        await endpoint.stop()
    }
}
