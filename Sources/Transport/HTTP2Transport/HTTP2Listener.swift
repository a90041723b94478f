import ConnectionAdmission
import Logging
import NIOCore
import NIOPosix
import NIOSSL

/// A listening socket for HTTP/2 over TLS.
public final class HTTP2Listener: Sendable {
    /// Where and how to listen.
    public struct Configuration: Sendable {
        /// The IP address or host name to bind.
        public var host: String
        /// `0` takes a free port; ``HTTP2Listener/port`` tells which.
        public var port: Int
        /// Gives the certificate of each connection that begins. `nil` serves HTTP/2 in plain text with prior knowledge:
        /// for tests and benchmarks.
        public var tls: (@Sendable () -> NIOSSLContext)?
        /// Whether a client's certificate is left to the request handler, whoever signed it. The handshake proves that the
        /// client has its key; everything else is for who serves ``HTTP2ServerConnection/peerCertificate``. It takes a
        /// context that asks for certificates.
        public var leavesCertificatesToHandler = false
        /// What a connection may send and hold.
        public var limits = HTTP2Limits()
        /// A connection on which nothing moves for this long is sent away.
        public var idleTimeout: TimeAmount = .hours(1)
        /// A connection on which no HTTP/2 begins for this long, TLS handshake included, is closed.
        public var openingTimeout: TimeAmount = .seconds(10)
        /// A request that is not complete for this long is given up: it is answered without its body, or its stream is
        /// reset with CANCEL when its head is not complete either.
        public var requestTimeout: TimeAmount = .seconds(60)
        /// Decides which connections are kept.
        public var limiter: ConnectionLimiter
        /// Where the listener and its connections log.
        public var logger = Logger(label: "aldaba.http2")

        /// Makes a configuration. Without a limiter 10,000 connections are admitted, from wherever they come.
        public init(
            host: String, port: Int, tls: (@Sendable () -> NIOSSLContext)?, limiter: ConnectionLimiter? = nil
        ) {
            self.host = host
            self.port = port
            self.tls = tls
            self.limiter =
                limiter
                ?? ConnectionLimiter(
                    listener: "http2",
                    ConnectionLimiter.Configuration(
                        limits: .init(total: 10_000, perAddress: 10_000, unproven: 10_000)), logger: logger)
        }
    }

    private let channel: any Channel
    private let registry: HTTP2ConnectionRegistry

    private init(channel: any Channel, registry: HTTP2ConnectionRegistry) {
        self.channel = channel
        self.registry = registry
    }

    /// The port that is listened on.
    public var port: Int { channel.localAddress?.port ?? 0 }

    /// How many connections are open.
    public var connections: Int { registry.count }

    /// Binds and begins to accept.
    ///
    /// - Parameter makeRequestHandler: Called on a connection's event loop when it is made.
    /// - Throws: what the socket says, such as `EADDRINUSE`.
    public static func bind(
        _ configuration: Configuration, on group: any EventLoopGroup,
        makeRequestHandler: @escaping @Sendable (HTTP2ServerConnection) -> any HTTP2RequestHandler
    ) async throws -> HTTP2Listener {
        let registry = HTTP2ConnectionRegistry()
        let floods = FloodReport(logger: configuration.logger)
        let channel = try await ServerBootstrap(group: group)
            .serverChannelOption(.backlog, value: 1024)
            .serverChannelOption(.socketOption(.so_reuseaddr), value: 1)
            .serverChannelInitializer { channel in
                channel.eventLoop.makeCompletedFuture {
                    try channel.pipeline.syncOperations.addHandler(
                        AcceptFailureLog(listener: "apns", logger: configuration.logger))
                }
            }
            .childChannelOption(.socketOption(.so_reuseaddr), value: 1)
            .childChannelOption(.tcpOption(.tcp_nodelay), value: 1)
            .childChannelOption(.maxMessagesPerRead, value: 4)
            .childChannelOption(
                .recvAllocator, value: AdaptiveRecvByteBufferAllocator(minimum: 1024, initial: 16384, maximum: 65536)
            )
            .childChannelInitializer { channel in
                guard configuration.limiter.admit(channel) else { return channel.close() }
                return channel.eventLoop.makeCompletedFuture {
                    let pipeline = channel.pipeline.syncOperations
                    if let tls = configuration.tls {
                        try pipeline.addHandler(
                            configuration.leavesCertificatesToHandler
                                ? NIOSSLServerHandler(
                                    context: tls(), customVerificationCallback: { $1.succeed(.certificateVerified) })
                                : NIOSSLServerHandler(context: tls()))
                    }
                    try pipeline.addHandler(IdleStateHandler(allTimeout: configuration.idleTimeout))
                    try pipeline.addHandler(
                        HTTP2ServerHandler(
                            limits: configuration.limits, registry: registry, limiter: configuration.limiter,
                            floods: floods, openingTimeout: configuration.openingTimeout,
                            requestTimeout: configuration.requestTimeout, makeRequestHandler: makeRequestHandler))
                }
            }
            .bind(host: configuration.host, port: configuration.port).get()
        return HTTP2Listener(channel: channel, registry: registry)
    }

    /// Stops accepting, lets open requests finish, and closes what is left after `grace`.
    public func shutDown(grace: TimeAmount = .seconds(5)) async {
        // A listener that is already closed has nothing more to close.
        try? await channel.close().get()
        let drained = channel.eventLoop.makePromise(of: Void.self)
        let registry = self.registry
        let timer = channel.eventLoop.scheduleTask(in: grace) { registry.closeAll() }
        registry.shutDown(drained)
        // The promise only ever succeeds: when the last connection is closed.
        try? await drained.futureResult.get()
        timer.cancel()
    }
}
