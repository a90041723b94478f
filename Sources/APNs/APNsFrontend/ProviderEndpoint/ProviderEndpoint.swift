import NIOCore
import NIOSSL
import Networking
import PushCore
import PushServer

/// The listener of the provider API.
package final class ProviderEndpoint: Sendable {
    private let listener: HTTP2Listener

    private init(listener: HTTP2Listener) { self.listener = listener }

    /// The port of the listener.
    package var port: Int { listener.port }

    /// Binds and begins to accept.
    ///
    /// - Parameters:
    ///   - environment: The environment that this listener serves; tokens of the other are `BadDeviceToken`.
    ///   - channels: The broadcast channels of apps; `nil` for a server without them.
    ///   - onDemand: Adds unknown apps and devices; `nil` where they are refused.
    ///   - hasAppleLimits: Whether connections have the limits of Apple's.
    ///   - controls: Remembers requests and has faults, for tests; `nil` on a server that is not for development.
    /// - Throws: The socket's error, such as `EADDRINUSE`.
    package static func bind(
        _ configuration: HTTP2Listener.Configuration, environment: PushEnvironment, credentials: CredentialDirectory,
        certificates: CertificateDirectory, apps: AppDirectory, tokens: TokenDirectory,
        acceptor: any NotificationAcceptor, channels: BroadcastChannels? = nil,
        onDemand: OnDemandRegister? = nil, hasAppleLimits: Bool = false, controls: TestControls? = nil,
        on group: any EventLoopGroup
    ) async throws -> ProviderEndpoint {
        let gate = DevicePushGate(
            credentials: credentials, certificates: certificates, apps: apps, tokens: tokens, environment: environment,
            channels: channels, onDemand: onDemand, senderTime: { controls?.clock.time(ofMachine: $0) ?? $0 })
        let metrics = ProviderMetrics()
        var configuration = configuration
        configuration.leavesCertificatesToHandler = true
        if hasAppleLimits { configuration.limits.concurrentStreams = 1 }
        let refusedTokens = RefusedTokenReport(logger: configuration.logger, clock: { acceptor.now })
        let listener = try await HTTP2Listener.bind(configuration, on: group) { connection in
            ProviderConnection(
                gate: gate, acceptor: acceptor, metrics: metrics, refusedTokens: refusedTokens,
                controls: controls, limits: hasAppleLimits ? AppleLimits() : nil, connection: connection)
        }
        let address = configuration.host.contains(":") ? "[\(configuration.host)]" : configuration.host
        configuration.logger.info(
            "listening for providers", metadata: [LogKey.address: "\(address):\(listener.port)"])
        return ProviderEndpoint(listener: listener)
    }

    /// Stops accepting, responds to open requests, then closes.
    package func shutDown() async { await listener.shutDown() }
}
