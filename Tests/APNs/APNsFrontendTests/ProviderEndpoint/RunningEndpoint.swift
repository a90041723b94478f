import AldabaTestSupport
import Logging
import NIOCore
import NIOPosix
import Networking
import PushCore
import PushServer
import StoreContract
import StoreMemory

@testable import APNsFrontend

/// The provider endpoint on a free port of loopback, over a store of its own; HTTP/2 in plain text.
struct RunningEndpoint {
    let world: ProviderWorld
    let store: FailingStore<MemoryStore>
    let mailboxes: MailboxService
    let channels: BroadcastChannels
    /// The register that the channels are in.
    let register: FailingChannels
    let port: Int
    let client: HTTP2Client

    /// Sends a right request, changed by `change`; a body that is too large is one beyond what connections keep.
    func send(
        on client: HTTP2Client? = nil, _ change: (inout ProviderWorld) throws -> Void = { _ in }
    ) async throws -> HTTP2Response {
        var request = world
        try change(&request)
        var head = HeaderBlock()
        for (name, value) in [(":scheme", "http"), (":authority", "localhost")] + request.fields {
            head.append(name, value)
        }
        switch request.fault {
        case .headersTooLarge: head.append("x-large", String(repeating: "x", count: 9000))
        case .wrongLength: head.append("content-length", "1")
        case .bodyTooLarge, .bodyLate, nil: break
        }
        let body = request.fault == .bodyTooLarge ? ProviderWorld.payload(bytes: 20_000) : request.body
        return try await (client ?? self.client).request(headers: head, body: body)
    }

    static func connect(_ port: Int) async throws -> HTTP2Client {
        try await HTTP2Client.connect(
            host: "127.0.0.1", port: port, tls: nil, on: MultiThreadedEventLoopGroup.singleton)
    }

    /// How many notifications wait for the device.
    func waiting() async throws -> Int {
        try await withCheckedThrowingContinuation { continuation in
            store.page(device: world.device, after: nil, limit: 100, now: ProviderWorld.now) {
                continuation.resume(with: $0.map(\.count))
            }
        }
    }

    /// An acceptance as a connection's would be, with the sink that takes its result.
    func accept(_ sink: any AcceptanceSink) -> Bool {
        mailboxes.accept(
            AcceptedNotification(
                app: world.app, subject: world.subject(),
                notification: Notification(apnsID: nil, topic: world.app.topic, content: .apns(world.body)),
                ticket: 1),
            sink: sink)
    }
}

/// A sink that nobody listens to.
final class NoSink: AcceptanceSink {
    func completed(_ results: [AcceptanceResult]) {}
}

/// Says when the server's end of a connection is gone; all else is the real connection's.
final class WatchedConnection: HTTP2RequestHandler {
    private let base: ProviderConnection
    private let closed: Latch

    init(_ base: ProviderConnection, closed: Latch) {
        self.base = base
        self.closed = closed
    }

    func requestReceived(_ request: HTTP2Request, on connection: HTTP2ServerConnection) {
        base.requestReceived(request, on: connection)
    }

    func connectionClosed(_ connection: HTTP2ServerConnection) {
        base.connectionClosed(connection)
        closed.open()
    }
}

/// Runs a test against an endpoint that is made and ended with it.
///
/// - Parameters:
///   - closed: Opened when a connection has ended at the server's side.
///   - environment: The world that the endpoint serves.
func withEndpoint(
    closed: Latch = Latch(), environment: PushEnvironment = .sandbox, _ body: (RunningEndpoint) async throws -> Void
) async throws {
    let world = try await ProviderWorld()
    let store = FailingStore(world.store)
    let group = MultiThreadedEventLoopGroup(numberOfThreads: 1)
    let mailboxes = try MailboxService(
        store: store, node: 0, loop: group.next(), settings: MailboxService.Settings(),
        clock: { ProviderWorld.now }, logger: Logger(label: "test", factory: { _ in SwiftLogNoOpLogHandler() }))
    let clock: @Sendable () -> Timestamp = { ProviderWorld.now }
    let register = FailingChannels(world.store)
    let channels = BroadcastChannels(
        register: register, broadcasts: Broadcasts(store: world.store, mailboxes: mailboxes, clock: clock),
        subscriptions: TopicSubscriptions(
            store: world.store, apps: world.gate.apps, tokens: world.gate.tokens, delivery: mailboxes, clock: clock),
        clock: clock)
    let gate = DevicePushGate(
        credentials: world.gate.credentials, certificates: world.gate.certificates, apps: world.gate.apps,
        tokens: world.gate.tokens, environment: environment, channels: channels)
    let metrics = ProviderMetrics()
    let listener = try await HTTP2Listener.bind(
        HTTP2Listener.Configuration(host: "127.0.0.1", port: 0, tls: nil), on: MultiThreadedEventLoopGroup.singleton
    ) { connection in
        WatchedConnection(
            ProviderConnection(
                gate: gate, acceptor: mailboxes, metrics: metrics,
                refusedTokens: RefusedTokenReport(
                    logger: Logger(label: "test", factory: { _ in SwiftLogNoOpLogHandler() }),
                    clock: { ProviderWorld.now }), controls: nil, connection: connection),
            closed: closed)
    }
    let client = try await RunningEndpoint.connect(listener.port)
    let outcome: Result<Void, any Error>
    do {
        try await body(
            RunningEndpoint(
                world: world, store: store, mailboxes: mailboxes, channels: channels, register: register,
                port: listener.port, client: client))
        outcome = .success(())
    } catch { outcome = .failure(error) }
    await client.close()
    await listener.shutDown()
    await mailboxes.stop()
    try await group.shutdownGracefully()
    try outcome.get()
}
