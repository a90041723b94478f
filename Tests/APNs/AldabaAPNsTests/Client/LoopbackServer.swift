import AldabaTestSupport
import Crypto
import Foundation
import Logging
import NIOCore
import NIOPosix
import NIOSSL
import PushCore
import SwiftASN1
import Synchronization
import X509

@testable import AldabaAPNs
@testable import Networking

/// A request that a server has received.
struct SeenRequest: Sendable {
    /// The number of its connection and its own number among all requests, from 1.
    let connection: Int
    let number: Int
    let fields: [String: String]
    let body: [UInt8]

    var path: String { fields[":path"] ?? "" }
    var id: String { fields["apns-id"] ?? "" }
}

/// What a server does with a request.
enum Reply: Sendable {
    case accept
    case refuse(Int, String)
    case answer(Int, [(String, String)], String)
    case acceptLater(Latch)
    case silence
    case refuseStream
    case goAwayBefore
    case goAwayAndAccept
    case cut
}

/// A server of HTTP/2 over TLS on loopback, whose replies a test decides.
final class LoopbackServer: Sendable {
    private let listener: HTTP2Listener
    private let authority: String
    private let log: Log

    private init(listener: HTTP2Listener, authority: String, log: Log) {
        self.listener = listener
        self.authority = authority
        self.log = log
    }

    /// The number of open connections.
    var connections: Int { listener.connections }

    private final class Log: Sendable {
        let seen = Mutex<[SeenRequest]>([])
        let connections = Mutex(0)
        /// Opened when a connection has ended.
        let ended = Latch()
    }

    /// The requests so far.
    var requests: [SeenRequest] { log.seen.withLock { $0 } }

    /// Starts a server.
    static func start(
        limits: HTTP2Limits = HTTP2Limits(), requiresCertificate: Bool = false,
        reply: @escaping @Sendable (SeenRequest) -> Reply
    ) async throws -> LoopbackServer {
        let identity = try LoopbackIdentity()
        var tls = TLSConfiguration.makeServerConfiguration(
            certificateChain: try NIOSSLCertificate.fromPEMBytes(Array(identity.certificate.utf8)).map {
                .certificate($0)
            }, privateKey: .privateKey(try NIOSSLPrivateKey(bytes: Array(identity.key.utf8), format: .pem)))
        tls.applicationProtocols = ["h2"]
        if requiresCertificate {
            tls.certificateVerification = .noHostnameVerification
            tls.trustRoots = .certificates(try NIOSSLCertificate.fromPEMBytes(Array(identity.certificate.utf8)))
        }
        let context = try NIOSSLContext(configuration: tls)
        var configuration = HTTP2Listener.Configuration(host: "127.0.0.1", port: 0, tls: { context })
        configuration.limits = limits
        configuration.leavesCertificatesToHandler = requiresCertificate
        configuration.logger = Logger(label: "test", factory: { _ in SwiftLogNoOpLogHandler() })
        let log = Log()
        let listener = try await HTTP2Listener.bind(configuration, on: MultiThreadedEventLoopGroup.singleton) { _ in
            let number = log.connections.withLock { count in
                count += 1
                return count
            }
            return Handler(number: number, log: log, reply: reply)
        }
        return LoopbackServer(listener: listener, authority: identity.certificate, log: log)
    }

    /// The server for a client.
    var address: APNsServer { APNsServer(host: "127.0.0.1", port: listener.port, authorities: authority) }

    /// Waits until a connection has ended.
    func waitForEnd() async { await log.ended.wait() }

    func stop() async { await listener.shutDown(grace: .milliseconds(1)) }

    private final class Handler: HTTP2RequestHandler {
        let number: Int
        let log: Log
        let reply: @Sendable (SeenRequest) -> Reply

        init(number: Int, log: Log, reply: @escaping @Sendable (SeenRequest) -> Reply) {
            self.number = number
            self.log = log
            self.reply = reply
        }

        func requestReceived(_ request: HTTP2Request, on connection: HTTP2ServerConnection) {
            var fields: [String: String] = [:]
            for index in 0..<request.headers.count {
                fields[String(decoding: request.headers.name(index), as: UTF8.self)] = request.headers.text(index)
            }
            let seen = log.seen.withLock { seen in
                let new = SeenRequest(
                    connection: number, number: seen.count + 1, fields: fields, body: request.body)
                seen.append(new)
                return new
            }
            perform(reply(seen), seen, request.stream, connection)
        }

        private func perform(
            _ reply: Reply, _ seen: SeenRequest, _ stream: Int32, _ connection: HTTP2ServerConnection
        ) {
            switch reply {
            case .accept: answer(200, [], "", seen, stream, connection)
            case .refuse(let status, let reason):
                answer(status, [], #"{"reason":"\#(reason)"}"#, seen, stream, connection)
            case .answer(let status, let fields, let body): answer(status, fields, body, seen, stream, connection)
            case .acceptLater(let latch):
                let bound = NIOLoopBound((self, connection), eventLoop: connection.eventLoop)
                Task {
                    await latch.wait()
                    bound.eventLoop.execute {
                        let (handler, connection) = bound.value
                        handler.answer(200, [], "", seen, stream, connection)
                        connection.flush()
                    }
                }
            case .silence: break
            case .refuseStream: connection.refuse(stream)
            case .goAwayBefore: connection.shutDown(before: stream)
            case .goAwayAndAccept:
                answer(200, [], "", seen, stream, connection)
                connection.shutDown(debugData: Array(#"{"reason":"Shutdown"}"#.utf8))
            case .cut: connection.close()
            }
        }

        private func answer(
            _ status: Int, _ fields: [(String, String)], _ body: String, _ seen: SeenRequest, _ stream: Int32,
            _ connection: HTTP2ServerConnection
        ) {
            var headers = HeaderBlock()
            headers.append(":status", String(status))
            if !seen.id.isEmpty { headers.append("apns-id", seen.id) }
            for (name, value) in fields { headers.append(name, value) }
            connection.respond(stream, headers: headers, body: Array(body.utf8))
        }

        func connectionClosed(_ connection: HTTP2ServerConnection) { log.ended.open() }
    }
}

/// A self-signed certificate for loopback with its key, in PEM.
struct LoopbackIdentity {
    let certificate: String
    let key: String

    init() throws {
        let key = P256.Signing.PrivateKey()
        let name = try DistinguishedName { CommonName("loopback") }
        let now = Date()
        let certificate = try Certificate(
            version: .v3, serialNumber: .init(), publicKey: .init(key.publicKey), notValidBefore: now - 86_400,
            notValidAfter: now + 86_400, issuer: name, subject: name, signatureAlgorithm: .ecdsaWithSHA256,
            extensions: try Certificate.Extensions {
                Critical(BasicConstraints.isCertificateAuthority(maxPathLength: nil))
                SubjectAlternativeNames([
                    .dnsName("localhost"), .ipAddress(ASN1OctetString(contentBytes: [127, 0, 0, 1])),
                ])
            }, issuerPrivateKey: .init(key))
        self.certificate = try certificate.serializeAsPEM().pemString
        self.key = key.pemRepresentation
    }
}

/// A key of Apple's, made for a test.
enum TestKey {
    static let pem = P256.Signing.PrivateKey().pemRepresentation

    static func credential() throws -> APNsCredential {
        try .key(pem: pem, keyID: "ABCDE12345", teamID: "TEAM123456")
    }
}

/// Runs a test with a server and a client of it.
func withClient(
    limits: HTTP2Limits = HTTP2Limits(), options: APNsOptions = APNsOptions(),
    reply: @escaping @Sendable (SeenRequest) -> Reply, _ body: (APNsClient, LoopbackServer) async throws -> Void
) async throws {
    let server = try await LoopbackServer.start(limits: limits, reply: reply)
    var options = options
    options.logger = Logger(label: "test", factory: { _ in SwiftLogNoOpLogHandler() })
    let client = try APNsClient(credential: TestKey.credential(), server: server.address, options: options)
    let outcome: Result<Void, any Error>
    do {
        try await body(client, server)
        outcome = .success(())
    } catch { outcome = .failure(error) }
    await client.shutDown(grace: .zero)
    await server.stop()
    try outcome.get()
}
