import NIOCore
import NIOSSL
import NIOTLS
import Networking
import PushServer

/// The common protocol of both listeners' connections: they begin when the peer's certificate was found valid.
protocol CertifiedHandler: AnyObject {
    /// Begins, since the certificate was found valid. Called once, on the connection's event loop, also when the peer
    /// has disconnected.
    func begin(_ certificate: [UInt8], app: RegisteredApp, context: ChannelHandlerContext)
}

/// Checks the certificate of a connection once its handshake is complete.
struct CertificateCheck: Sendable {
    let gate: LegacyPushGate
    let limiter: ConnectionLimiter
    let report: LegacyReport

    /// Looks the certificate up; the connection is closed if it is refused.
    func judge(_ context: ChannelHandlerContext, for handler: any CertifiedHandler) {
        let channel = context.channel
        // Without a TLS handler there is no certificate either, and the connection ends.
        guard let shown = try? context.pipeline.syncOperations.nioSSL_peerCertificate(),
            let certificate = try? shown.toDERBytes()
        else { return context.close(promise: nil) }
        let bound = NIOLoopBound((handler: handler, context: context), eventLoop: context.eventLoop)
        let (gate, limiter, report) = (gate, limiter, report)
        context.eventLoop.makeFutureWithTask { try await gate.app(of: certificate) }.whenComplete { result in
            let (handler, context) = bound.value
            switch result {
            case .success(.success(let app)):
                limiter.proven(channel)
                handler.begin(certificate, app: app, context: context)
            case .success(.failure(let refusal)):
                report.say(
                    "a provider's certificate was refused: \(refusal.note ?? refusal.reason.sentence)",
                    from: channel.remoteAddress)
                context.close(promise: nil)
            case .failure(let error):
                report.say(
                    "a provider's certificate could not be looked up: \(error)", from: channel.remoteAddress)
                context.close(promise: nil)
            }
        }
    }
}
