import HummingbirdCore
import HummingbirdHTTP2
import Logging
import NIOCore
import NIOHTTP2
import NIOSSL
import Networking
import ServiceLifecycle

/// HTTP/2 and HTTP/1.1 over TLS, as the client chooses: Google's hosts have both. For development servers; elsewhere the control
/// API has HTTP/1.1.
struct UpgradableChannel: ServerChildChannel {
    /// The time that open requests have to end when the server stops.
    private static let grace = TimeAmount.milliseconds(50)

    private let http1: DroppableChannel
    private let http2: HTTP2Channel
    private let tls: @Sendable () -> NIOSSLContext
    private let limiter: ConnectionLimiter

    /// - Parameter tls: Asked for the certificate with every connection.
    init(
        _ responder: @escaping HTTPChannelHandler.Responder, configuration: HTTP1Channel.Configuration,
        tls: @escaping @Sendable () -> NIOSSLContext, limiter: ConnectionLimiter
    ) {
        http1 = DroppableChannel(HTTP1Channel(responder: responder, configuration: configuration))
        http2 = HTTP2Channel(
            responder: responder,
            configuration: HTTP2Channel.Configuration(
                idleTimeout: .seconds(60), streamConfiguration: configuration))
        self.tls = tls
        self.limiter = limiter
    }

    /// A connection whose protocol is being negotiated.
    struct Value: ServerChildChannelValue {
        let channel: any Channel
        fileprivate let negotiated: EventLoopFuture<NIONegotiatedHTTPVersion<AcceptedConnection, HTTP2Channel.Value>>
    }

    func setup(channel: any Channel, logger: Logger) -> EventLoopFuture<Value> {
        channel.eventLoop.makeCompletedFuture {
            guard limiter.admit(channel) else { throw ChannelError.operationUnsupported }
            try channel.pipeline.syncOperations.addHandler(NIOSSLServerHandler(context: tls()))
        }.flatMap {
            channel.configureHTTP2AsyncSecureUpgrade { channel in
                http1.setup(channel: channel, logger: logger)
            } http2ConnectionInitializer: { channel in
                http2.setup(channel: channel, logger: logger)
            }
        }.map { Value(channel: channel, negotiated: $0) }
            // The server library drops a connection whose setup failed, without closing it.
            .always { if case .failure = $0 { channel.close(promise: nil) } }
    }

    func handle(value: Value, logger: Logger) async {
        switch try? await value.negotiated.get() {
        case .http1_1(let connection)?: await http1.handle(value: connection, logger: logger)
        case .http2(let connection)?:
            let channel = value.channel
            await withGracefulShutdownHandler {
                await http2.handle(value: connection, logger: logger)
            } onGracefulShutdown: {
                // An idle client may not read the GOAWAY by which it is asked to end.
                channel.eventLoop.scheduleTask(in: Self.grace) { channel.close(promise: nil) }
            }
        // A broken handshake concerns this connection alone.
        case nil: value.channel.close(promise: nil)
        }
    }
}
