import Logging
import NIOCore
import NIOPosix
import NIOSSL

/// A listening socket for HTTP/2 over TLS.
package final class HTTP2Listener: Sendable {
    /// The address and limits of a listener.
    package struct Configuration: Sendable {
        /// The IP address or host name to bind.
        package var host: String
        /// The port; `0` takes a free one, which is ``HTTP2Listener/port``.
        package var port: Int
        /// Returns the certificate for each new connection. `nil` serves HTTP/2 in plain text with prior knowledge, for
        /// tests and benchmarks.
        package var tls: (@Sendable () -> NIOSSLContext)?
        /// Whether the request handler checks a client's certificate, whoever signed it. The handshake proves only that
        /// the client has its key; everything else is checked by the user of ``HTTP2ServerConnection/peerCertificate``.
        /// It requires a context that requests certificates.
        package var leavesCertificatesToHandler = false
        /// The limits of a connection's sessions.
        package var limits = HTTP2Limits()
        /// The time after which a connection without traffic is shut down.
        package var idleTimeout: TimeAmount = .hours(1)
        /// The time after which a connection is closed on which no HTTP/2 has begun, TLS handshake included.
        package var openingTimeout: TimeAmount = .seconds(10)
        /// The time after which an incomplete request is given up: the handler responds without its body, or its stream
        /// is reset with CANCEL when its head is not complete either.
        package var requestTimeout: TimeAmount = .seconds(60)
        /// The limiter that admits connections.
        package var limiter: ConnectionLimiter
        /// The logger of the listener and its connections.
        package var logger = Logger(label: "aldaba.http2")

        /// Creates a configuration. Without a limiter 10,000 connections are admitted, from any address.
        package init(
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

    /// The port of the listener.
    package var port: Int { channel.localAddress?.port ?? 0 }

    /// The number of open connections.
    package var connections: Int { registry.count }

    /// Binds and begins to accept.
    ///
    /// - Parameter makeRequestHandler: Called on a connection's event loop when the connection is made.
    /// - Throws: The socket's error, such as `EADDRINUSE`.
    package static func bind(
        _ configuration: Configuration, on group: any EventLoopGroup,
        makeRequestHandler: @escaping @Sendable (HTTP2ServerConnection) -> any HTTP2RequestHandler
    ) async throws -> HTTP2Listener {
        let registry = HTTP2ConnectionRegistry()
        let floods = FloodLog(logger: configuration.logger)
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

    /// Stops accepting, lets open requests finish, and closes remaining connections after `grace`.
    package func shutDown(grace: TimeAmount = .seconds(5)) async {
        // A closed listener needs no further closing.
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
