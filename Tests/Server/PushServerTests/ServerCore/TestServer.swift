import APNsProtocol
import AldabaTestSupport
import Logging
import NIOCore
import NIOPosix
import PushCore
import StoreContract
import StoreMemory
import Testing

@testable import PushServer

typealias FailingStore = StoreContract.FailingStore<MemoryStore>

/// A device's connection that keeps what it is given.
final class RecordingConnection: DeviceConnection {
    let wasSuperseded = Flag()
    let waitingHasChanged = Flag()
    let wasRevoked = Flag()
    private let stream: AsyncStream<[OutgoingNotification]>
    private let continuation: AsyncStream<[OutgoingNotification]>.Continuation

    init() { (stream, continuation) = AsyncStream.makeStream() }

    func deliver(_ notifications: [OutgoingNotification]) { continuation.yield(notifications) }
    func waitingChanged() { waitingHasChanged.store(true) }
    func superseded() { wasSuperseded.store(true) }
    func revoked() { wasRevoked.store(true) }

    /// The next delivery.
    func next() async -> [OutgoingNotification]? {
        for await delivery in stream { return delivery }
        return nil
    }
}

/// A provider connection's sink with one expected result.
final class OneVerdict: AcceptanceSink {
    private let continuation: CheckedContinuation<AcceptanceResult, Never>
    init(_ continuation: CheckedContinuation<AcceptanceResult, Never>) { self.continuation = continuation }
    func completed(_ results: [AcceptanceResult]) { for result in results { continuation.resume(returning: result) } }
}

/// A mailbox service on a store of its own, with one app and one device.
struct TestServer {
    let store: FailingStore
    let service: MailboxService
    let timelines: Timelines
    let clock: ManualClock
    let app: RegisteredApp
    let credentials: DeviceCredentials

    func acceptance(
        apnsID: APNsID? = nil, expiry: Expiry = .policyDefault, collapseID: String? = nil, device: UInt64? = nil,
        ticket: Int32 = 1, content: PushContent = .apns(Array(#"{"aps":{}}"#.utf8))
    ) -> AcceptedNotification {
        AcceptedNotification(
            app: app,
            subject: TokenSubject(
                cell: 0, device: device.flatMap(DeviceID.init) ?? credentials.device, app: app.id,
                environment: .sandbox, generation: 0),
            notification: Notification(
                apnsID: apnsID, topic: app.topic, expiry: expiry, collapseID: collapseID, content: content),
            ticket: ticket)
    }

    func accept(_ acceptance: AcceptedNotification) async throws -> AcceptanceResult {
        await withCheckedContinuation { continuation in
            #expect(service.accept(acceptance, sink: OneVerdict(continuation)))
        }
    }

    func loginVerdict(
        _ connection: RecordingConnection, device: DeviceID? = nil, secret: UInt64? = nil,
        received: [NotificationID] = []
    ) async -> DeviceLoginVerdict {
        let login = DeviceLogin(
            device: device ?? credentials.device, secret: secret ?? credentials.secret, received: received)
        return await withCheckedContinuation { continuation in
            service.open(login, connection: connection) { continuation.resume(returning: $0) }
        }
    }

    func login(
        _ connection: RecordingConnection, received: [NotificationID] = []
    ) async throws -> DeviceSessionID {
        let verdict = await loginVerdict(connection, received: received)
        guard case .welcome(let session, _) = verdict else { throw FailingStore.Failure() }
        await released()
        return session
    }

    /// Waits until the writer has done all that follows from the batch under way: of that, an answer is the first.
    func released() async { _ = await service.residentMailboxes }

    /// Acknowledges as a device does; whether that was made durable.
    func acknowledge(_ session: DeviceSessionID, _ ids: [NotificationID]) async -> Bool {
        await withCheckedContinuation { continuation in
            service.acknowledged(session, ids) { continuation.resume(returning: $0) }
        }
    }

    /// Waits until everything queued before is done: commands take effect in order.
    func settle(_ session: DeviceSessionID) async {
        _ = await withCheckedContinuation { continuation in
            service.record([], of: session) { continuation.resume(returning: $0) }
        }
    }

    func page() async throws -> [OutgoingNotification] {
        try await withCheckedThrowingContinuation { continuation in
            store.page(device: credentials.device, after: nil, limit: 100, now: clock.now) {
                continuation.resume(with: $0)
            }
        }
    }

    func timeline(_ id: NotificationID) async throws -> NotificationTimeline? {
        try await timelines.timelines(of: id.description, team: nil).first
    }
}

/// Runs a test against a server that is made and ended with it.
func withServer(
    settings: MailboxService.Settings = MailboxService.Settings(), _ body: (TestServer) async throws -> Void
) async throws {
    let group = MultiThreadedEventLoopGroup(numberOfThreads: 1)
    let clock = ManualClock()
    let store = FailingStore(MemoryStore())
    let app = try await store.base.addApp(
        topic: Topic(rawValue: "com.example.todo"), team: TeamID(rawValue: "TEAM123456"), policy: MailboxPolicy(),
        at: clock.now)
    let credentials = DeviceCredentials(device: try #require(DeviceID(77)), secret: 0xFEED)
    #expect(try await store.base.addDevice(credentials.device, secretHash: credentials.secretHash, at: clock.now))
    let service = try MailboxService(
        store: store, node: 0, loop: group.next(), settings: settings,
        clock: clock.function, logger: Logger(label: "test", factory: { _ in SwiftLogNoOpLogHandler() }))
    try await body(
        TestServer(
            store: store, service: service, timelines: Timelines(store: store, mailboxes: service), clock: clock,
            app: app,
            credentials: credentials))
    await service.stop()
    try await group.shutdownGracefully()
}
