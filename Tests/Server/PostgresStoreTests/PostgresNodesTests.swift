import AldabaTestSupport
import Logging
import NIOPosix
import PostgresTestSupport
import PushCore
import Synchronization
import Testing

@testable import PostgresStore
@testable import PushServer

/// Carries messages between the nodes of a test, and loses them where the test wants it.
private final class TestCarrier: NodeCarrier {
    private let handlers = Mutex<[UInt16: @Sendable ([NodeMessage]) -> Void]>([:])
    let losesMessages = Flag()
    /// Messages that are held back, in order.
    private let held = Mutex<[(UInt16, [NodeMessage])]?>(nil)

    func send(
        _ messages: [NodeMessage], to node: UInt16, then complete: @escaping @Sendable (CarrierAnswer) -> Void
    ) {
        if losesMessages.load() { return complete(.unanswered) }
        let isHeld = held.withLock { held in
            held?.append((node, messages))
            return held != nil
        }
        if !isHeld { pass(messages, to: node) }
        complete(.received)
    }

    private func pass(_ messages: [NodeMessage], to node: UInt16) { handlers.withLock { $0[node] }?(messages) }

    func receive(at node: UInt16, _ handle: @escaping @Sendable ([NodeMessage]) -> Void) {
        handlers.withLock { $0[node] = handle }
    }

    var isConnected: Bool { !losesMessages.load() }
    func stop() {}

    /// Holds messages back until they are released.
    func hold() { held.withLock { $0 = [] } }

    /// Loses the messages that were held back, and passes the next ones at once.
    func dropHeld() { held.withLock { $0 = nil } }

    /// Passes the messages that were held back, the last one first.
    func releaseReversed() {
        for (node, messages) in (held.withLock { $0.take() } ?? []).reversed() { pass(messages, to: node) }
    }
}

/// A device's connection that records what it gets.
private final class TestConnection: DeviceConnection {
    enum Event: Hashable { case delivered([NotificationID]), waitingChanged, superseded }

    private let stream: AsyncStream<Event>
    private let continuation: AsyncStream<Event>.Continuation

    init() { (stream, continuation) = AsyncStream.makeStream() }

    func deliver(_ notifications: [OutgoingNotification]) { continuation.yield(.delivered(notifications.map(\.id))) }
    func waitingChanged() { continuation.yield(.waitingChanged) }
    func superseded() { continuation.yield(.superseded) }
    func revoked() {}

    func next() async -> Event? {
        for await event in stream { return event }
        return nil
    }

    /// The next event that is not another notice of waiting notifications: a comparison with the store repeats such a notice.
    func nextDelivery() async -> Event? {
        for await event in stream where event != .waitingChanged { return event }
        return nil
    }
}

private final class OneResult: AcceptanceSink {
    private let continuation: CheckedContinuation<AcceptanceResult, Never>
    init(_ continuation: CheckedContinuation<AcceptanceResult, Never>) { self.continuation = continuation }
    func completed(_ results: [AcceptanceResult]) { for result in results { continuation.resume(returning: result) } }
}

extension PostgresTests {
    /// Two servers on one database.
    @Suite struct Nodes {
        /// The nodes of a test, with one app and one device.
        private struct Cluster {
            let stores: [PostgresStore]
            let services: [MailboxService]
            let clocks: [ManualClock]
            let carrier: TestCarrier
            let app: RegisteredApp
            let credentials: DeviceCredentials

            func accept(
                at node: Int, as apnsID: APNsID? = nil, collapseID: String? = nil, expiry: Expiry = .policyDefault
            ) async throws -> NotificationID {
                let acceptance = AcceptedNotification(
                    app: app,
                    subject: TokenSubject(
                        cell: 0, device: credentials.device, app: app.id, environment: .sandbox, generation: 0),
                    notification: Notification(
                        apnsID: apnsID, topic: app.topic, expiry: expiry, collapseID: collapseID,
                        content: .apns(Array("{}".utf8))),
                    ticket: 1)
                let result = await withCheckedContinuation { continuation in
                    #expect(services[node].accept(acceptance, sink: OneResult(continuation)))
                }
                return try #require(result.id)
            }

            func login(at node: Int, _ connection: TestConnection) async throws -> DeviceSessionID {
                let login = DeviceLogin(device: credentials.device, secret: credentials.secret, received: [])
                let verdict = await withCheckedContinuation { continuation in
                    services[node].open(login, connection: connection) { continuation.resume(returning: $0) }
                }
                guard case .welcome(let session, _) = verdict else { throw NoSession() }
                return session
            }

            func page(at node: Int) async throws -> [NotificationID] {
                try await withCheckedThrowingContinuation { continuation in
                    stores[node].page(device: credentials.device, after: nil, limit: 100, now: clocks[node].now) {
                        continuation.resume(with: $0)
                    }
                }.map(\.id)
            }

            func acknowledge(at node: Int, _ session: DeviceSessionID, _ ids: [NotificationID]) async -> Bool {
                await withCheckedContinuation { continuation in
                    services[node].acknowledged(session, ids) { continuation.resume(returning: $0) }
                }
            }

            func states(_ id: NotificationID) async throws -> [NotificationState] {
                for service in services { try await service.flushNotes() }
                return try await stores[0].timelines(id: id, apnsID: nil, team: nil).first?.entries.map(\.state) ?? []
            }
        }

        private struct NoSession: Error {}

        private func withCluster(_ body: (Cluster) async throws -> Void) async throws {
            let group = MultiThreadedEventLoopGroup(numberOfThreads: 2)
            let database = try PostgresServer.database()
            let stores = try (0..<2).map { _ in try PostgresStore(database, as: .node, at: PostgresServer.now) }
            let clocks = stores.map { _ in ManualClock(PostgresServer.now) }
            let carrier = TestCarrier()
            let app = try await stores[0].register.addApp(
                topic: Topic(rawValue: "com.example.todo"), team: TeamID(rawValue: "TEAM123456"),
                policy: MailboxPolicy(), at: PostgresServer.now)
            let credentials = DeviceCredentials(device: try #require(DeviceID(77)), secret: 0xFEED)
            #expect(
                try await stores[0].register.addDevice(
                    credentials.device, secretHash: credentials.secretHash, at: PostgresServer.now))
            let services = try zip(stores, clocks).map { store, clock in
                try MailboxService(
                    store: store, node: 0, loop: group.next(), settings: MailboxService.Settings(), carrier: carrier,
                    clock: clock.function,
                    logger: Logger(label: "test", factory: { _ in SwiftLogNoOpLogHandler() }))
            }
            for store in stores {
                _ = try await withCheckedThrowingContinuation { continuation in
                    store.recordHeartbeat(NodeReport(), after: nil) { continuation.resume(with: $0) }
                }
            }
            for service in services {
                service.start()
                #expect(await service.readNodes() == [0, 1])
            }
            try await body(
                Cluster(
                    stores: stores, services: services, clocks: clocks, carrier: carrier, app: app,
                    credentials: credentials))
            for service in services { await service.stop() }
            for store in stores { try store.close() }
            try await group.shutdownGracefully()
        }

        @Test func `a push that one node accepts reaches a device at another`() async throws {
            try await withCluster { cluster in
                let connection = TestConnection()
                let session = try await cluster.login(at: 1, connection)
                for _ in 0..<3 {
                    let id = try await cluster.accept(at: 0)
                    #expect(await connection.next() == .delivered([id]))
                    let own = try await cluster.accept(at: 1)
                    #expect(await connection.next() == .delivered([own]) && own > id)
                    #expect(await cluster.acknowledge(at: 1, session, [id, own]))
                }
                #expect(try await cluster.page(at: 0).isEmpty)
            }
        }

        @Test func `a push that is sent again lets the device read, wherever it is`() async throws {
            try await withCluster { cluster in
                let name = APNsID(rawValue: "11111111-2222-3333-4444-555555555555")
                // Nobody announces it, as where its node ended before it knew of the commit.
                cluster.carrier.hold()
                let connection = TestConnection()
                _ = try await cluster.login(at: 1, connection)
                let id = try await cluster.accept(at: 0, as: name)
                cluster.carrier.dropHeld()
                #expect(try await cluster.accept(at: 0, as: name) == id)
                #expect(await connection.next() == .waitingChanged)
                #expect(try await cluster.accept(at: 1, as: name) == id)
                #expect(await connection.next() == .waitingChanged)
            }
        }

        @Test func `a note of what another node has removed leaves the mailbox that the batch has locked`() async throws
        {
            try await withCluster { cluster in
                let old = try await cluster.login(at: 1, TestConnection())
                let id = try await cluster.accept(at: 0)
                let session = try await cluster.login(at: 0, TestConnection())
                #expect(await cluster.acknowledge(at: 1, old, [id]), "a late acknowledgement of the session before")
                let service = cluster.services[0]
                let isTaken = await withCheckedContinuation { continuation in
                    // Both are in one batch: the loop takes the next one after this.
                    service.loop.execute {
                        service.sent(session, [id])
                        service.acknowledged(session, [id]) { continuation.resume(returning: $0) }
                    }
                }
                #expect(isTaken)
                let next = try await cluster.accept(at: 0)
                #expect(try await cluster.page(at: 0) == [next])
            }
        }

        @Test func `messages that overtake each other let the session read everything, in order`() async throws {
            try await withCluster { cluster in
                let connection = TestConnection()
                _ = try await cluster.login(at: 1, connection)
                cluster.carrier.hold()
                let ids = [try await cluster.accept(at: 0), try await cluster.accept(at: 0)]
                // The session does not know the two before this one.
                let own = try await cluster.accept(at: 1)
                #expect(await connection.next() == .waitingChanged)
                #expect(await connection.nextDelivery() == .delivered([own]))
                #expect(try await cluster.page(at: 1) == ids + [own])
                cluster.carrier.releaseReversed()
                let last = try await cluster.accept(at: 0)
                #expect(await connection.nextDelivery() == .delivered([last]))
            }
        }

        @Test func `a message that is lost is found by the next heartbeat`() async throws {
            try await withCluster { cluster in
                let connection = TestConnection()
                _ = try await cluster.login(at: 1, connection)
                cluster.carrier.losesMessages.store(true)
                let id = try await cluster.accept(at: 0)
                #expect(await connection.next() == .waitingChanged)
                #expect(try await cluster.page(at: 1) == [id])
            }
        }

        @Test func `ids rise where one node's clock is an hour ahead`() async throws {
            try await withCluster { cluster in
                cluster.clocks[1].advance(milliseconds: 3_600_000)
                var ids: [NotificationID] = []
                for _ in 0..<5 {
                    ids.append(try await cluster.accept(at: 1))
                    ids.append(try await cluster.accept(at: 0))
                    ids.append(try await cluster.accept(at: 0))
                }
                #expect(ids == ids.sorted() && Set(ids).count == ids.count)
                #expect(try await cluster.page(at: 0) == ids)
            }
        }

        @Test func `the newest session of a device is the one that gets its pushes`() async throws {
            try await withCluster { cluster in
                let (first, second) = (TestConnection(), TestConnection())
                let earlier = try await cluster.login(at: 0, first)
                let later = try await cluster.login(at: 1, second)
                #expect(later.epoch > earlier.epoch)
                // The other node is told, and looks.
                var events: [TestConnection.Event?] = []
                repeat { events.append(await first.next()) } while events.last != .superseded
                let id = try await cluster.accept(at: 0)
                #expect(await second.next() == .delivered([id]))
                // What the device says on its earlier connection still counts.
                #expect(await cluster.acknowledge(at: 0, earlier, [id]))
                #expect(try await cluster.page(at: 1).isEmpty)
            }
        }

        @Test func `a mailbox in memory is read again once another node has changed it`() async throws {
            try await withCluster { cluster in
                let first = try await cluster.accept(at: 0, collapseID: "score")
                let second = try await cluster.accept(at: 1, collapseID: "score")
                let third = try await cluster.accept(at: 0, collapseID: "score")
                #expect(try await cluster.page(at: 1) == [third])
                #expect(try await cluster.states(first).last == .replaced)
                #expect(try await cluster.states(second).last == .replaced)
            }
        }

        @Test(.timeLimit(.minutes(1)))
        func `a push that is never stored is attempted at the device's node`() async throws {
            try await withCluster { cluster in
                let offline = try await cluster.accept(at: 0, expiry: .once)
                // The attempt ends after the acceptance; a device that logs in before its end receives the push.
                while try await cluster.states(offline).last != .dropped(.offline) { await Task.yield() }
                let connection = TestConnection()
                _ = try await cluster.login(at: 1, connection)
                let id = try await cluster.accept(at: 0, expiry: .once)
                #expect(await connection.next() == .delivered([id]))
                cluster.services[1].attempts([id], became: .acknowledged)
                #expect(try await cluster.states(id) == [.accepted, .acked])
                #expect(try await cluster.states(offline) == [.accepted, .dropped(.offline)])
            }
        }

        @Test func `what a node that ended did not announce is found`() async throws {
            try await withCluster { cluster in
                let connection = TestConnection()
                _ = try await cluster.login(at: 1, connection)
                cluster.carrier.hold()
                let id = try await cluster.accept(at: 0)
                await cluster.services[0].stop()
                try cluster.stores[0].close()
                #expect(await connection.next() == .waitingChanged)
                #expect(try await cluster.page(at: 1) == [id])
            }
        }
    }
}
