import APNsProtocol
import Logging
import NIOCore
import NIOPosix
import NIOSSL
import Networking
import PushCore
import PushServer

/// The addresses and limits of the old binary interface.
package struct LegacyEndpointConfiguration: Sendable {
    /// The IP address or host name to bind.
    package var host: String
    /// The gateway's port; 0 takes a free one, `nil` disables the gateway.
    package var port: Int?
    /// The feedback service's port; 0 takes a free one, `nil` disables the service.
    package var feedbackPort: Int?
    /// Returns the server's certificate for each connection anew; it must request a certificate from the peer.
    package var tls: @Sendable () -> NIOSSLContext
    /// The limits on the connections of both listeners together.
    package var admission: ConnectionLimiter.Configuration
    /// The environment that both serve; tokens of the other are invalid.
    package var environment: PushEnvironment
    /// The cell number in this server's device tokens.
    package var cell: UInt16
    /// The time after which a connection without traffic is closed.
    package var idleTimeout: TimeAmount = .hours(1)

    /// Creates a configuration; the other values are the properties' defaults.
    package init(
        host: String, port: Int?, feedbackPort: Int?, tls: @escaping @Sendable () -> NIOSSLContext,
        admission: ConnectionLimiter.Configuration, environment: PushEnvironment, cell: UInt16
    ) {
        self.host = host
        self.port = port
        self.feedbackPort = feedbackPort
        self.tls = tls
        self.admission = admission
        self.environment = environment
        self.cell = cell
    }
}

/// The listeners of the old binary interface: gateway and feedback service.
package final class LegacyEndpoint: Sendable {
    private let gateway: (any Channel)?
    private let feedback: (any Channel)?
    private let registry: LegacyConnectionRegistry
    private let loop: any EventLoop

    private init(
        gateway: (any Channel)?, feedback: (any Channel)?, registry: LegacyConnectionRegistry, loop: any EventLoop
    ) {
        self.gateway = gateway
        self.feedback = feedback
        self.registry = registry
        self.loop = loop
    }

    /// The port of the gateway; `nil` where it does not listen.
    package var port: Int? { gateway?.localAddress?.port }
    /// The port of the feedback service; `nil` where it does not listen.
    package var feedbackPort: Int? { feedback?.localAddress?.port }

    /// The directories that the endpoint uses.
    package struct Directories: Sendable {
        var certificates: any CertificateAuthentication
        var apps: AppDirectory
        var tokens: TokenDirectory
        var feedback: any FeedbackStore
        var onDemand: OnDemandRegister?

        /// Creates the set of directories.
        ///
        /// - Parameter onDemand: Adds unknown apps and devices; `nil` where they are refused.
        package init(
            certificates: any CertificateAuthentication, apps: AppDirectory, tokens: TokenDirectory,
            feedback: any FeedbackStore, onDemand: OnDemandRegister? = nil
        ) {
            self.onDemand = onDemand
            self.certificates = certificates
            self.apps = apps
            self.tokens = tokens
            self.feedback = feedback
        }
    }

    /// Binds and begins to accept.
    ///
    /// - Parameter controls: Remembers pushes for tests; `nil` on a server that is not for development.
    /// - Throws: The socket's error, such as `EADDRINUSE`.
    package static func bind(
        _ configuration: LegacyEndpointConfiguration, _ directories: Directories,
        acceptor: any NotificationAcceptor, controls: TestControls? = nil, on group: any EventLoopGroup,
        logger: Logger
    ) async throws -> LegacyEndpoint {
        let gate = LegacyPushGate(
            certificates: directories.certificates, apps: directories.apps, tokens: directories.tokens,
            environment: configuration.environment, onDemand: directories.onDemand)
        let report = LegacyReport(logger: logger)
        let check = CertificateCheck(
            gate: gate, limiter: ConnectionLimiter(listener: "legacy", configuration.admission, logger: logger),
            report: report)
        let metrics = LegacyMetrics()
        let intake = LegacyIntake(gate: gate, acceptor: acceptor, metrics: metrics, logger: logger, controls: controls)
        let source = FeedbackSource(
            store: directories.feedback, sealer: directories.tokens.sealer, environment: configuration.environment,
            cell: configuration.cell)
        let registry = LegacyConnectionRegistry()
        func listen(
            _ port: Int?, _ makeHandler: @escaping @Sendable (any Channel) -> any ChannelHandler
        ) async throws -> (any Channel)? {
            guard let port else { return nil }
            return try await bootstrap(
                configuration, limiter: check.limiter, group: group, logger: logger, makeHandler: makeHandler
            )
            .bind(host: configuration.host, port: port).get()
        }
        let gateway = try await listen(configuration.port) { channel in
            LegacyConnection(check: check, intake: intake, registry: registry, loop: channel.eventLoop)
        }
        do {
            let feedback = try await listen(configuration.feedbackPort) { _ in
                FeedbackConnection(check: check, source: source, metrics: metrics)
            }
            return LegacyEndpoint(gateway: gateway, feedback: feedback, registry: registry, loop: group.next())
        } catch {
            try? await gateway?.close()
            throw error
        }
    }

    private static func bootstrap(
        _ configuration: LegacyEndpointConfiguration, limiter: ConnectionLimiter, group: any EventLoopGroup,
        logger: Logger, makeHandler: @escaping @Sendable (any Channel) -> any ChannelHandler
    ) -> ServerBootstrap {
        ServerBootstrap(group: group)
            .serverChannelOption(.backlog, value: 256)
            .serverChannelOption(.socketOption(.so_reuseaddr), value: 1)
            .serverChannelInitializer { channel in
                channel.eventLoop.makeCompletedFuture {
                    try channel.pipeline.syncOperations.addHandler(AcceptFailureLog(listener: "legacy", logger: logger))
                }
            }
            .childChannelOption(.tcpOption(.tcp_nodelay), value: 1)
            .childChannelOption(.maxMessagesPerRead, value: 1)
            .childChannelOption(.allowRemoteHalfClosure, value: true)
            .childChannelInitializer { channel in
                guard limiter.admit(channel) else { return channel.close() }
                return channel.eventLoop.makeCompletedFuture {
                    let pipeline = channel.pipeline.syncOperations
                    try pipeline.addHandler(DelayedCloseHandler())
                    // Any signer is allowed in the handshake: the register determines whether the certificate is valid.
                    try pipeline.addHandler(
                        NIOSSLServerHandler(
                            context: configuration.tls(),
                            customVerificationCallback: { $1.succeed(.certificateVerified) }))
                    try pipeline.addHandler(IdleStateHandler(allTimeout: configuration.idleTimeout))
                    try pipeline.addHandler(makeHandler(channel))
                }
            }
    }

    /// Stops accepting, finishes outstanding pushes, notifies each provider, and closes remaining connections after
    /// `grace`.
    package func shutDown(grace: TimeAmount = .seconds(5)) async {
        // A listener that is already closed has nothing more to close.
        try? await gateway?.close()
        try? await feedback?.close()
        let done = loop.makePromise(of: Void.self)
        let registry = self.registry
        let timer = loop.scheduleTask(in: grace) { registry.giveUp() }
        registry.stop(done)
        // The promise only ever succeeds.
        try? await done.futureResult.get()
        timer.cancel()
    }
}
