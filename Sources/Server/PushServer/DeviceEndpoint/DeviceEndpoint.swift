import DeviceChannel
import Logging
import NIOCore
import NIOPosix
import NIOSSL
import Networking
import PushCore

/// The reason why a device endpoint does not listen.
package enum DeviceEndpointError: Error, CustomStringConvertible {
    /// The address cannot be listened on, for a reason.
    case cannotListen(host: String, port: Int, reason: String)
    /// ``DeviceEndpoint/start()`` was called twice, or after ``DeviceEndpoint/stop()``.
    case startedBefore

    package var description: String {
        switch self {
        case .cannotListen(let host, let port, let reason):
            "cannot listen for devices on \(host):\(port): \(reason)"
        case .startedBefore: "a device endpoint is started once"
        }
    }
}

/// The listener for devices, connected to a server's gateway: MCS over TLS, and for browsers Autopush's WebSocket, over TLS or,
/// from this machine and from trusted proxies, without.
package actor DeviceEndpoint {
    private enum State {
        case new
        case listening(MultiLoopListener)
        case stopped
    }

    private let configuration: DeviceEndpointConfiguration
    private let tls: @Sendable () -> NIOSSLContext
    private let group: any EventLoopGroup
    private let surroundings: DeviceConnectionContext
    private let browsers: BrowserEndpoint?
    private var state = State.new

    /// Creates an endpoint that does not listen yet; ``start()`` begins.
    ///
    /// - Parameters:
    ///   - tls: Returns the server's certificate and key, for each connection anew. Devices present no certificate.
    ///   - gateway: The server's gateway.
    ///   - upstream: The receivers of devices' upstream messages; receipts are processed in any case.
    ///   - web: The source of devices' browser registrations.
    ///   - sessions: The listener for sessions; `nil` for none.
    ///   - browsers: What connections of browsers need; `nil` for an endpoint that speaks only MCS.
    package init(
        configuration: DeviceEndpointConfiguration, tls: @escaping @Sendable () -> NIOSSLContext,
        gateway: any DeviceGateway, upstream: UpstreamRegistry = UpstreamRegistry(),
        web: any WebRegistrationSource = NoWebRegistrations(), sessions: (any SessionListener)? = nil,
        browsers: BrowserServices? = nil, group: any EventLoopGroup, logger: Logger
    ) {
        self.configuration = configuration
        self.tls = tls
        self.group = group
        let metrics = DeviceEndpointMetrics()
        surroundings = DeviceConnectionContext(
            gateway: gateway,
            upstream: upstream.adding(
                ReceiptReceiver(gateway: gateway, metrics: metrics), for: MCSUpstream.receiptsCategory),
            web: web, sessions: sessions,
            refusals: UpstreamRefusalLog(logger: logger), configuration: configuration.session,
            registry: DeviceConnectionRegistry(metrics: metrics),
            limiter: ConnectionLimiter(listener: "device", configuration.admission, logger: logger),
            calls: DeviceCallQueues(),
            logins: LoginRate(.init(perSecond: configuration.loginsPerSecond, burst: configuration.loginBurst)),
            metrics: metrics, logger: logger)
        self.browsers = browsers.map { [surroundings] in
            BrowserEndpoint(services: $0, configuration: configuration, context: surroundings)
        }
    }

    /// Begins to listen.
    ///
    /// - Returns: The port that devices can connect to.
    /// - Throws: ``DeviceEndpointError``.
    @discardableResult
    package func start() async throws -> Int {
        guard case .new = state else { throw DeviceEndpointError.startedBefore }
        state = .stopped
        let listener: MultiLoopListener
        do {
            listener = try await MultiLoopListener.listen(
                host: configuration.host, port: configuration.port, backlog: 4096, on: group, bootstrap: bootstrap)
        } catch {
            throw DeviceEndpointError.cannotListen(
                host: configuration.host, port: configuration.port, reason: "\(error)")
        }
        state = .listening(listener)
        let port = listener.port ?? configuration.port
        surroundings.logger.info(
            "listening for devices", metadata: [LogKey.address: "\(configuration.host):\(port)"])
        return port
    }

    /// Stops listening, sends Close to every device, and waits for the connections to end, at most for the
    /// configuration's grace.
    package func stop() async {
        guard case .listening(let listener) = state else { return }
        state = .stopped
        await listener.close()
        let loop = group.next()
        let allClosed = surroundings.registry.stop(configuration.stopPace, on: loop)
        let finished = loop.makePromise(of: Void.self)
        let limit = loop.scheduleTask(in: .milliseconds(configuration.longestStop)) { finished.succeed() }
        allClosed.whenComplete { _ in
            limit.cancel()
            finished.succeed()
        }
        try? await finished.futureResult.get()
        surroundings.logger.info("stopped listening for devices")
    }

    private var bootstrap: @Sendable (any EventLoop) -> ServerBootstrap {
        let initializer = DeviceChannelInitializer(tls: tls, surroundings: surroundings, browsers: browsers)
        return { Self.bootstrap(on: $0, initializer) }
    }

    private static func bootstrap(
        on loop: any EventLoop, _ initializer: DeviceChannelInitializer
    ) -> ServerBootstrap {
        ServerBootstrap(group: loop)
            .serverChannelInitializer { channel in
                channel.eventLoop.makeCompletedFuture {
                    try channel.pipeline.syncOperations.addHandler(
                        AcceptFailureLog(listener: "device", logger: initializer.surroundings.logger))
                }
            }
            .childChannelOption(ChannelOptions.socketOption(.so_keepalive), value: 1)
            .childChannelOption(ChannelOptions.tcpOption(.tcp_nodelay), value: 1)
            .childChannelOption(ChannelOptions.recvAllocator, value: MCSChannelOptions.receiveAllocator())
            .childChannelOption(ChannelOptions.maxMessagesPerRead, value: MCSChannelOptions.maximumReadsPerTurn)
            .childChannelOption(ChannelOptions.writeBufferWaterMark, value: MCSChannelOptions.writeBufferMarks)
            .childChannelInitializer { channel in
                channel.eventLoop.makeCompletedFuture { try initializer.admit(channel) }
            }
    }
}
