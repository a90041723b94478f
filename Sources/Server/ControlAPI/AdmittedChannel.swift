import HummingbirdCore
import Logging
import NIOCore
import NIOSSL
import Networking

/// HTTP/1.1 on the connections that are admitted, over TLS where the interface has it.
struct AdmittedChannel: ServerChildChannel {
    private let base: DroppableChannel
    private let tls: (@Sendable () -> NIOSSLContext)?
    private let limiter: ConnectionLimiter

    /// - Parameter tls: Asked for the certificate with every connection; `nil` for plain HTTP.
    init(_ base: DroppableChannel, tls: (@Sendable () -> NIOSSLContext)?, limiter: ConnectionLimiter) {
        self.base = base
        self.tls = tls
        self.limiter = limiter
    }

    func setup(channel: any Channel, logger: Logger) -> EventLoopFuture<AcceptedConnection> {
        channel.eventLoop.makeCompletedFuture {
            guard limiter.admit(channel) else { throw ChannelError.operationUnsupported }
            if let tls { try channel.pipeline.syncOperations.addHandler(NIOSSLServerHandler(context: tls())) }
        }.flatMap { base.setup(channel: channel, logger: logger) }
            // The server library drops a connection whose setup failed, without closing it.
            .always { if case .failure = $0 { channel.close(promise: nil) } }
    }

    func handle(value: AcceptedConnection, logger: Logger) async { await base.handle(value: value, logger: logger) }
}
