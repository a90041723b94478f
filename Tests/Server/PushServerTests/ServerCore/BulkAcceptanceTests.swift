import AldabaTestSupport
import PushCore
import Synchronization
import Testing

@testable import PushServer

/// Counts results, and says when so many have come.
private final class CountingSink: AcceptanceSink {
    private struct State {
        var accepted: Set<NotificationID> = []
        var tickets: Set<Int32> = []
        var results = 0
    }

    private let state = Mutex(State())
    private let expected: Int
    /// Opened when all have come.
    let isComplete = Latch()

    init(expecting expected: Int) { self.expected = expected }

    func completed(_ results: [AcceptanceResult]) {
        let count = state.withLock { state in
            state.accepted.formUnion(results.compactMap(\.id))
            state.tickets.formUnion(results.map(\.ticket))
            state.results += results.count
            return state.results
        }
        if count >= expected { isComplete.open() }
    }

    var accepted: Int { state.withLock { $0.accepted.count } }
    var tickets: Int { state.withLock { $0.tickets.count } }
    var results: Int { state.withLock { $0.results } }
}

extension TestServer {
    /// So many acceptances, for a thousand devices in turn.
    fileprivate func campaign(_ count: Int, expiry: Expiry = .policyDefault) -> [AcceptedNotification] {
        (0..<count).map { acceptance(expiry: expiry, device: UInt64($0 % 1000 + 1), ticket: Int32($0)) }
    }
}

/// What comes in bulk waits for capacity instead of being refused.
@Suite(.timeLimit(.minutes(2))) struct BulkAcceptanceTests {
    private var small: MailboxService.Settings {
        var settings = MailboxService.Settings()
        settings.bulkLimit = 256
        return settings
    }

    @Test func `a campaign of a hundred thousand gets as many results through a small queue`() async throws {
        try await withServer(settings: small) { server in
            let sink = CountingSink(expecting: 100_000)
            #expect(await server.service.acceptAll(server.campaign(100_000), sink: sink) == 100_000)
            await sink.isComplete.wait()
            #expect(sink.results == 100_000 && sink.accepted == 100_000 && sink.tickets == 100_000)
        }
    }

    @Test func `no more is queued in bulk than the lane holds, and single ones have capacity beside it`() async throws {
        try await withServer(settings: small) { server in
            try await whileFull(server) { sink in
                #expect(server.service.queue.counts.commands == 256)
                #expect(server.service.queue.enqueue(bulk: server.campaign(1)[...], sink: sink).count == 0)
                #expect(server.service.accept(server.acceptance(), sink: CountingSink(expecting: 1)))
                #expect(sink.results == 0)
            }
            let sink = CountingSink(expecting: 1000)
            #expect(await server.service.acceptAll(server.campaign(1000), sink: sink) == 1000)
            await sink.isComplete.wait()
            #expect(sink.accepted == 1000)
        }
    }

    /// Runs `body` while the writer is held in a commit and the bulk lane is full; what fills it is accepted then.
    private func whileFull(_ server: TestServer, _ body: (CountingSink) async throws -> Void) async throws {
        let held = server.store.holdNextCommit()
        #expect(server.service.accept(server.acceptance(), sink: CountingSink(expecting: 1)))
        await held.reached.wait()
        let sink = CountingSink(expecting: 256)
        var rest = server.campaign(256)[...]
        while !rest.isEmpty { rest = rest.dropFirst(server.service.queue.enqueue(bulk: rest, sink: sink).count) }
        try await body(sink)
        held.release()
        await sink.isComplete.wait()
        #expect(sink.accepted == 256)
    }

    @Test func `a batch takes single ones and a share of those in bulk`() async throws {
        try await withServer { server in
            let queue = MailboxCommandQueue(bulkLimit: 4096)
            let sink = CountingSink(expecting: 1)
            for _ in 0..<600 { _ = queue.enqueue(.accept(QueuedAcceptance(server.acceptance(ticket: -1), sink))) }
            var rest = server.campaign(1000)[...]
            while !rest.isEmpty { rest = rest.dropFirst(queue.enqueue(bulk: rest, sink: sink).count) }
            func tickets(_ batch: [MailboxCommand]) -> (single: Int, bulk: [Int32]) {
                let all: [Int32] = batch.compactMap {
                    if case .accept(let queued) = $0 { queued.acceptance.ticket } else { nil }
                }
                return (all.count { $0 == -1 }, all.filter { $0 >= 0 })
            }
            let first = tickets(queue.takeBatch(limit: 512))
            #expect(first.single == 512 && first.bulk == Array(0..<128))
            let second = tickets(queue.takeBatch(limit: 512))
            #expect(second.single == 88 && second.bulk == Array(128..<552))
            #expect(tickets(queue.takeBatch(limit: 512)).bulk == Array(552..<1000))
            #expect(queue.takeBatch(limit: 512).isEmpty)
        }
    }

    @Test func `a list ends although the store fails, and each of it is told`() async throws {
        try await withServer(settings: small) { server in
            server.store.isFailing.store(true)
            let sink = CountingSink(expecting: 3000)
            #expect(await server.service.acceptAll(server.campaign(3000), sink: sink) == 3000)
            await sink.isComplete.wait()
            #expect(sink.results == 3000 && sink.accepted == 0 && sink.tickets == 3000)
            server.store.isFailing.store(false)
        }
    }

    @Test func `a task that is cancelled while there is no capacity takes nothing more`() async throws {
        try await withServer(settings: small) { server in
            let list = server.campaign(10)
            let none = CountingSink(expecting: 1)
            try await whileFull(server) { _ in
                // Some are cancelled before they wait, and some after.
                for _ in 0..<50 {
                    let task = Task { await server.service.acceptAll(list, sink: none) }
                    await Task.yield()
                    task.cancel()
                    #expect(await task.value == 0)
                }
            }
            #expect(none.results == 0)
            #expect(await server.service.acceptAll(list, sink: none) == 10)
        }
    }

    @Test func `a server that stops lets nobody wait`() async throws {
        try await withServer(settings: small) { server in
            let list = server.campaign(10)
            let none = CountingSink(expecting: 1)
            try await whileFull(server) { _ in
                let task = Task { await server.service.acceptAll(list, sink: none) }
                await Task.yield()
                server.service.queue.endBulk()
                #expect(await task.value == 0)
            }
            await server.service.stop()
            #expect(await server.service.acceptAll(list, sink: none) == 0)
            #expect(none.results == 0)
        }
    }

    @Test func `what is to be delivered once or never is attempted among what is stored`() async throws {
        try await withServer { server in
            let connection = RecordingConnection()
            _ = try await server.login(connection)
            var list = [server.acceptance(ticket: 0), server.acceptance(expiry: .once, ticket: 1)]
            list.append(server.acceptance(ticket: 2))
            let sink = CountingSink(expecting: 3)
            #expect(await server.service.acceptAll(list, sink: sink) == 3)
            await sink.isComplete.wait()
            #expect(sink.accepted == 3 && sink.tickets == 3)
            #expect(try await server.page().count == 2)
        }
    }

    @Test func `a single one that is to be delivered once or never is attempted, and not stored`() async throws {
        try await withServer { server in
            let connection = RecordingConnection()
            _ = try await server.login(connection)
            let sink = CountingSink(expecting: 1)
            #expect(server.service.accept(server.acceptance(expiry: .once), sink: sink))
            #expect(sink.accepted == 1)
            #expect(await connection.next()?.first?.expiresAt == nil)
            #expect(try await server.page().isEmpty)
        }
    }

    @Test(arguments: Lane.allCases)
    func `what is accepted waits and travels in the lane of its content`(lane: Lane) async throws {
        try await withServer { server in
            let bytes = Array(#"{"data":{}}"#.utf8)
            let content: PushContent = lane == .fcm ? .fcm(bytes) : .apns(bytes)
            let connection = RecordingConnection()
            _ = try await server.login(connection)
            let id = try #require(try await server.accept(server.acceptance(content: content)).id)
            let delivered = try #require(await connection.next()?.first)
            #expect(delivered.id == id && delivered.lane == lane && delivered.payload == bytes)
            let waiting = try #require(try await server.page().first)
            #expect(waiting.lane == lane && waiting.payload == bytes)
            let attempt = try #require(server.service.attempt(server.acceptance(expiry: .once, content: content)))
            let attempted = try #require(await connection.next()?.first)
            #expect(attempted.id == attempt && attempted.lane == lane)
        }
    }

    @Test(arguments: [
        ("{}", true, #"{"gcm.message_id":"ID"}"#), (#"{"k":"v"}"#, true, #"{"gcm.message_id":"ID","k":"v"}"#),
        (#"{"k":"v"}"#, false, #"{"k":"v"}"#), ("", true, ""), ("[]", true, "[]"),
    ])
    func `a message of FCM names itself where its door wants that`(
        content: String, namesItself: Bool, travels: String
    ) async throws {
        try await withServer { server in
            let connection = RecordingConnection()
            _ = try await server.login(connection)
            for expiry in [Expiry.policyDefault, .once] {
                var acceptance = server.acceptance(expiry: expiry, content: .fcm(Array(content.utf8)))
                acceptance.namesItself = namesItself
                let id = try #require(try await server.accept(acceptance).id)
                let delivered = try #require(await connection.next()?.first)
                #expect(delivered.payload == Array(travels.replacing("ID", with: "\(id)").utf8))
            }
            #expect(try await server.page().count == 1)
        }
    }
}
