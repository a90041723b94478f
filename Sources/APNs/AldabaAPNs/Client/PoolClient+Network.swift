import Foundation
import NIOSSL
import Networking
import PushCore

extension PoolClient {
    /// Creates a pool of connections to a server.
    ///
    /// - Parameter responseBytes: The number of bytes of a response's body that are kept.
    /// - Throws: ``APNsCredential/Fault`` for a credential or authorities that cannot be used.
    convenience init(
        credential: APNsCredential, server: APNsServer, options: APNsOptions, responseBytes: Int
    ) throws(APNsCredential.Fault) {
        var (tokens, identity): (ProviderTokenSource?, ClientIdentity?)
        switch credential.kind {
        case .token(let source): tokens = source
        case .certificate(let certificate): identity = certificate
        }
        let roots = try server.trustRoots
        let context: NIOSSLContext
        do { context = try NIOSSLContext.http2Client(trustRoots: roots, identity: identity) } catch {
            throw APNsCredential.Fault(description: "the certificate and its key do not belong together")
        }
        let transport = NetworkTransport(
            host: server.host, port: server.port, tls: context, responseBytes: responseBytes,
            group: options.eventLoopGroup, resolver: SystemHostResolver(), addressGuard: options.addressGuard)
        self.init(
            transport: transport, rules: options.rules(startsWithOneStream: tokens != nil),
            limit: options.maximumOpenRequests, tokens: tokens, clocks: .system,
            eventLoop: options.eventLoopGroup.next(), logger: options.logger)
    }
}

extension Clocks {
    /// The clocks of the system.
    static let system = Clocks(wall: {
        Timestamp(rawValue: Int64(Date().timeIntervalSince1970 * 1000))
    })
}
