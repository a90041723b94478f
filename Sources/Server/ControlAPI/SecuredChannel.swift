import ConnectionAdmission
import HummingbirdCore
import Logging
import NIOCore
import NIOSSL

/// HTTP/1.1 over TLS, whose certificate is asked for with every connection, on the connections that are admitted.
struct SecuredChannel: ServerChildChannel, HTTPChannelHandler {
    private let base: HTTP1Channel
    private let tls: @Sendable () -> NIOSSLContext
    private let limiter: ConnectionLimiter

    init(_ base: HTTP1Channel, tls: @escaping @Sendable () -> NIOSSLContext, limiter: ConnectionLimiter) {
        self.base = base
        self.tls = tls
        self.limiter = limiter
    }

    var responder: HTTPChannelHandler.Responder { base.responder }

    func setup(channel: any Channel, logger: Logger) -> EventLoopFuture<HTTP1Channel.Value> {
        channel.eventLoop.makeCompletedFuture {
            guard limiter.admit(channel) else { throw ChannelError.operationUnsupported }
            try channel.pipeline.syncOperations.addHandler(NIOSSLServerHandler(context: tls()))
        }.flatMap { base.setup(channel: channel, logger: logger) }
    }

    func handle(value: HTTP1Channel.Value, logger: Logger) async { await base.handle(value: value, logger: logger) }
}
