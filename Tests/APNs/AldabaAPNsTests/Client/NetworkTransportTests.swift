import Logging
import NIOCore
import NIOPosix
import NIOSSL
import PushCore
import Synchronization
import Testing

@testable import AldabaAPNs
@testable import Networking

/// A resolver that counts the questions.
private final class CountingResolver: HostResolver {
    private let count = Mutex(0)
    let ports: [Int]

    init(ports: [Int]) { self.ports = ports }

    var questions: Int { count.withLock { $0 } }

    func addresses(of host: String, port: Int) async throws -> [SocketAddress] {
        count.withLock { $0 += 1 }
        return try ports.map { try SocketAddress(ipAddress: "127.0.0.1", port: $0) }
    }
}

@Suite(.timeLimit(.minutes(1))) struct NetworkTransportTests {
    private let notification = APNsNotification(
        pushType: .alert, bundleID: "com.example.app", payload: Array(#"{"aps":{"alert":"Hello"}}"#.utf8))

    @Test func `a name is resolved for each connection, and every address is tried`() async throws {
        let server = try await LoopbackServer.start { $0.connection < 3 ? .goAwayAndAccept : .accept }
        // Nobody listens on port 1.
        let resolver = CountingResolver(ports: [1, server.address.port, 1])
        let group = MultiThreadedEventLoopGroup.singleton
        let transport = NetworkTransport(
            host: "localhost", port: server.address.port,
            tls: try NIOSSLContext.http2Client(trustRoots: server.address.trustRoots), responseBytes: 1024,
            group: group,
            resolver: resolver, addressGuard: nil)
        let pool = PoolClient(
            transport: transport, rules: ConnectionPool.Rules(), limit: 10, tokens: nil, clocks: .system,
            eventLoop: group.next(), logger: Logger(label: "test", factory: { _ in SwiftLogNoOpLogHandler() }))
        let client = APNsClient(pool: pool, authority: "localhost", deadline: .seconds(20))
        for _ in 0..<3 {
            guard case .accepted = try await client.send(notification, to: "aa") else {
                Issue.record("not accepted")
                return
            }
        }
        #expect(server.requests.map(\.connection) == [1, 2, 3])
        #expect(resolver.questions == 3)
        await client.shutDown()
        await server.stop()
    }

    @Test func `a client that nobody holds closes its connections`() async throws {
        let server = try await LoopbackServer.start { _ in .accept }
        do {
            let client = try APNsClient(credential: TestKey.credential(), server: server.address)
            _ = try await client.send(notification, to: "aa")
            #expect(server.connections == 1)
        }
        await server.waitForEnd()
        #expect(server.connections == 0)
        await server.stop()
    }
}
