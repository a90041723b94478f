import APNsProtocol
import AldabaTestSupport
import Crypto
import Foundation
import Logging
import NIOCore
import NIOPosix
import NIOSSL
import Networking
import PushCore
import PushServer
import StoreContract
import StoreMemory
import Synchronization
import Testing
import X509

@testable import APNsFrontend

/// A key with a certificate that signs itself; it serves a server and a client alike.
struct TestIdentity: Sendable {
    let certificate: NIOSSLCertificate
    let key: NIOSSLPrivateKey

    init() throws {
        let privateKey = P256.Signing.PrivateKey()
        let signer = Certificate.PrivateKey(privateKey)
        let name = try DistinguishedName { CommonName("Aldaba test") }
        let now = Date()
        let made = try Certificate(
            version: .v3, serialNumber: .init(), publicKey: signer.publicKey, notValidBefore: now - 3600,
            notValidAfter: now + 86_400, issuer: name, subject: name, signatureAlgorithm: .ecdsaWithSHA256,
            extensions: try Certificate.Extensions {
                Critical(BasicConstraints.isCertificateAuthority(maxPathLength: nil))
                SubjectAlternativeNames([.ipAddress(.init(contentBytes: [127, 0, 0, 1]))])
            }, issuerPrivateKey: signer)
        certificate = try NIOSSLCertificate(bytes: Array(try made.serializeAsPEM().pemString.utf8), format: .pem)
        key = try NIOSSLPrivateKey(bytes: Array(privateKey.pemRepresentation.utf8), format: .pem)
    }

    func server() throws -> NIOSSLContext {
        var configuration = TLSConfiguration.makeServerConfiguration(
            certificateChain: [.certificate(certificate)], privateKey: .privateKey(key))
        configuration.certificateVerification = .noHostnameVerification
        configuration.trustRoots = .certificates([])
        // As the server's own: a peer that is gone never says that it is.
        configuration.shutdownTimeout = .milliseconds(100)
        return try NIOSSLContext(configuration: configuration)
    }
}

/// Whose the test's certificates are. It is asked once for a connection, and once for each push.
final class KnownCertificates: CertificateAuthentication {
    let owners = Mutex<[[UInt8]: CertificateOwner]>([:])
    private let questions = Mutex<(count: Int, latches: [Int: Latch])>((0, [:]))

    /// Waits until the endpoint has asked so often.
    func asked(times: Int) async {
        let latch = questions.withLock { questions in
            let latch = questions.latches[times] ?? Latch()
            questions.latches[times] = latch
            if questions.count >= times { latch.open() }
            return latch
        }
        await latch.wait()
    }

    func verdict(on certificate: [UInt8], in environment: PushEnvironment) async throws -> CertificateVerdict {
        defer {
            questions.withLock { questions in
                questions.count += 1
                questions.latches[questions.count]?.open()
            }
        }
        if let owner = owners.withLock({ $0[certificate] }) { return .owner(owner) }
        return .refused(APNsRejection(.badCertificate, note: "the register has no such certificate"), nil)
    }
}

/// An endpoint on free ports of loopback over a store in memory, with a provider's certificate that counts.
struct LegacyWorld {
    static let team = TeamID(rawValue: "TEAM123456")
    static let now = Timestamp(seconds: 1_780_272_000)

    let store: FailingStore<MemoryStore>
    let app: RegisteredApp
    let device: DeviceID
    let tokens: TokenDirectory
    let mailboxes: MailboxService
    let certificates = KnownCertificates()
    let provider: TestIdentity
    let endpoint: LegacyEndpoint
    private let server: TestIdentity

    private init(loop: any EventLoop) async throws {
        let memory = MemoryStore()
        store = FailingStore(memory)
        app = try await memory.addApp(
            topic: Topic(rawValue: "com.example.todo"), team: Self.team, policy: MailboxPolicy(limit: 100_000),
            at: Self.now)
        device = try #require(DeviceID(7))
        for environment in [PushEnvironment.sandbox, .production] {
            _ = try await memory.register(device: device, app: app.id, environment: environment, at: Self.now)
        }
        let logger = Logger(label: "test", factory: { _ in SwiftLogNoOpLogHandler() })
        let clock: @Sendable () -> Timestamp = { Self.now }
        tokens = TokenDirectory(
            store: memory, sealer: try #require(DeviceTokenSealer(keys: [[UInt8](repeating: 1, count: 32)])))
        mailboxes = try MailboxService(
            store: store, node: 0, loop: loop, settings: MailboxService.Settings(), clock: clock, logger: logger)
        server = try TestIdentity()
        provider = try TestIdentity()
        let der = try provider.certificate.toDERBytes()
        let owner = CertificateOwner(team: Self.team, topic: app.topic)
        certificates.owners.withLock { $0[der] = owner }
        let tls = try server.server()
        endpoint = try await LegacyEndpoint.bind(
            LegacyEndpointConfiguration(
                host: "127.0.0.1", port: 0, feedbackPort: 0, tls: { tls },
                admission: .init(limits: .init(total: 64, perAddress: 64, unproven: 64)), environment: .sandbox, cell: 0
            ),
            LegacyEndpoint.Directories(
                certificates: certificates, apps: AppDirectory(store: memory, clock: clock), tokens: tokens,
                feedback: memory), acceptor: mailboxes, on: MultiThreadedEventLoopGroup.singleton, logger: logger)
    }

    /// Runs a test against an endpoint that is made and ended with it.
    static func run(_ body: (LegacyWorld) async throws -> Void) async throws {
        let group = MultiThreadedEventLoopGroup(numberOfThreads: 1)
        let world = try await LegacyWorld(loop: group.next())
        world.mailboxes.start()
        let outcome: Result<Void, any Error>
        do {
            try await body(world)
            outcome = .success(())
        } catch { outcome = .failure(error) }
        await world.endpoint.shutDown()
        await world.mailboxes.stop()
        try await group.shutdownGracefully()
        try outcome.get()
    }

    func token(_ environment: PushEnvironment = .sandbox, generation: UInt16 = 0) throws -> [UInt8] {
        try tokens.sealer.seal(
            TokenSubject(cell: 0, device: device, app: app.id, environment: environment, generation: generation)
        ).bytes
    }

    func push(_ identifier: UInt32, token: [UInt8]? = nil, payload: String = #"{"aps":{"alert":"Hi"}}"#) throws
        -> LegacyPush
    {
        LegacyPush(
            identifier: identifier, token: try token ?? self.token(), payload: Array(payload.utf8),
            expiration: 2_000_000_000)
    }

    /// A connection of a provider; without an identity one that shows no certificate of the register.
    func connect(to port: Int?, as identity: TestIdentity? = nil) async throws -> LegacyClient {
        try await LegacyClient(port: try #require(port), as: identity ?? provider, trusting: server)
    }

    /// The payloads that wait for the device, in order.
    func waiting() async throws -> [String] {
        try await withCheckedThrowingContinuation { continuation in
            store.page(device: device, after: nil, limit: 10_000, now: Self.now) { page in
                continuation.resume(with: page.map { $0.map { String(decoding: $0.payload, as: UTF8.self) } })
            }
        }
    }
}

/// A provider of that time: it writes bytes, and reads until the connection ends.
final class LegacyClient: Sendable {
    private let channel: any Channel
    private let received: EventLoopFuture<[UInt8]>

    init(port: Int, as identity: TestIdentity, trusting server: TestIdentity) async throws {
        var configuration = TLSConfiguration.makeClientConfiguration()
        configuration.trustRoots = .certificates([server.certificate])
        configuration.certificateVerification = .noHostnameVerification
        configuration.certificateChain = [.certificate(identity.certificate)]
        configuration.privateKey = .privateKey(identity.key)
        configuration.shutdownTimeout = .milliseconds(100)
        let context = try NIOSSLContext(configuration: configuration)
        let loop = MultiThreadedEventLoopGroup.singleton.next()
        let promise = loop.makePromise(of: [UInt8].self)
        received = promise.futureResult
        channel = try await ClientBootstrap(group: loop)
            .channelInitializer { channel in
                channel.eventLoop.makeCompletedFuture {
                    try channel.pipeline.syncOperations.addHandlers([
                        NIOSSLClientHandler(context: context, serverHostname: nil), Collector(promise),
                    ])
                }
            }
            .connect(host: "127.0.0.1", port: port).get()
    }

    func write(_ bytes: [UInt8]) async throws { try await channel.writeAndFlush(ByteBuffer(bytes: bytes)) }

    /// Everything that the server wrote, once it has ended the connection.
    func answer() async throws -> [UInt8] { try await received.get() }

    func close() async { try? await channel.close() }

    private final class Collector: ChannelInboundHandler {
        typealias InboundIn = ByteBuffer
        private let promise: EventLoopPromise<[UInt8]>
        private var bytes: [UInt8] = []

        init(_ promise: EventLoopPromise<[UInt8]>) { self.promise = promise }

        func channelRead(context: ChannelHandlerContext, data: NIOAny) {
            bytes += unwrapInboundIn(data).readableBytesView
        }

        func channelInactive(context: ChannelHandlerContext) { promise.succeed(bytes) }

        func errorCaught(context: ChannelHandlerContext, error: any Error) { context.close(promise: nil) }
    }
}
