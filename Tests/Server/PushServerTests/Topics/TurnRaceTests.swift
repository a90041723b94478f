import AldabaTestSupport
import Dispatch
import Logging
import NIOPosix
import PushCore
import StoreContract
import StoreMemory
import Testing

@testable import PushServer

/// What is known of a connected device, and changes while its turn is read.
@Suite(.timeLimit(.minutes(5))) struct TurnRaceTests {
    private let team = TeamID(rawValue: "TEAM123456")

    @Test func `what is sent to a topic that a device joins while its turn is read reaches it, in order`() async throws
    {
        let group = MultiThreadedEventLoopGroup(numberOfThreads: 1)
        let store = StoreContract.FailingStore(MemoryStore())
        let base = store.base
        let clock = ManualClock()
        let service = try MailboxService(
            store: store, node: 0, loop: group.next(), settings: MailboxService.Settings(), clock: clock.function,
            logger: Logger(label: "test", factory: { _ in SwiftLogNoOpLogHandler() }))
        let app = try await base.addApp(
            topic: Topic(rawValue: "com.example.todo"), team: team, policy: MailboxPolicy(), at: clock.now)
        let broadcasts = Broadcasts(store: base, mailboxes: service, clock: clock.function)
        let device = try #require(DeviceID(1))
        let credentials = DeviceCredentials(device: device, secret: 7)
        #expect(try await base.addDevice(device, secretHash: credentials.secretHash, at: clock.now))
        _ = try await base.register(device: device, app: app.id, environment: .sandbox, at: clock.now)
        let subject = TokenSubject(cell: 0, device: device, app: app.id, environment: .sandbox, generation: 0)
        let member = TopicMember(subject: subject, team: team)
        let (old, new) = (try TopicName("old"), try TopicName("new"))
        let now = clock.now
        func join(_ topic: TopicName) async throws {
            _ = try await base.subscribe([member], to: topic, limit: 10, at: now)
        }
        func send(_ text: String, to topic: TopicName) async throws {
            _ = try await broadcasts.send(TopicMessage(to: .topic(topic)) { _ in .fcm(Array(text.utf8)) }, from: team)
        }
        let connection = StreamedConnection()
        func next() async -> String? { await connection.next().map { String(decoding: $0.payload, as: UTF8.self) } }

        try await service.changeSubscriptions(of: [device]) { try await join(old) }
        _ = await withCheckedContinuation { continuation in
            service.open(DeviceLogin(device: device, secret: 7, received: []), connection: connection) {
                continuation.resume(returning: $0)
            }
        }
        try await send("first", to: old)
        #expect(await next() == "first")

        // The next turn of a device that is known waits until the change is durable, and more was sent.
        let (isReading, goesOn) = (Latch(), DispatchSemaphore(value: 0))
        store.beforePrefetch.withLock { hook in
            hook = { request in
                guard request.known[device] != nil, !isReading.isOpen else { return }
                isReading.open()
                goesOn.wait()
            }
        }
        try await send("second", to: old)
        await isReading.wait()
        try await service.changeSubscriptions(of: [device]) {
            try await join(new)
            try await send("third", to: new)
            try await send("fourth", to: old)
            goesOn.signal()
        }
        for text in ["second", "third", "fourth"] { #expect(await next() == text) }
        try await send("last", to: old)
        #expect(await next() == "last", "each came once")
        await service.stop()
        try await group.shutdownGracefully()
    }
}
