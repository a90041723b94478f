import ConnectionAdmission
import HummingbirdCore
import Logging
import NIOCore
import NIOSSL

/// HTTP/1.1 over TLS, whose certificate is asked for with every connection, on the connections that are admitted.
struct SecuredChannel: ServerChildChannel {
    private let base: DroppableChannel
    private let tls: @Sendable () -> NIOSSLContext
    private let limiter: ConnectionLimiter

    init(_ base: DroppableChannel, tls: @escaping @Sendable () -> NIOSSLContext, limiter: ConnectionLimiter) {
        self.base = base
        self.tls = tls
        self.limiter = limiter
    }

    func setup(channel: any Channel, logger: Logger) -> EventLoopFuture<AcceptedConnection> {
        channel.eventLoop.makeCompletedFuture {
            guard limiter.admit(channel) else { throw ChannelError.operationUnsupported }
            try channel.pipeline.syncOperations.addHandler(NIOSSLServerHandler(context: tls()))
        }.flatMap { base.setup(channel: channel, logger: logger) }
            // The server lets go of a connection that was not set up, and closes none.
            .always { if case .failure = $0 { channel.close(promise: nil) } }
    }

    func handle(value: AcceptedConnection, logger: Logger) async { await base.handle(value: value, logger: logger) }
}
