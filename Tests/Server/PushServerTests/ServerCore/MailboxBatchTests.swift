import AldabaTestSupport
import PushCore
import Testing

@testable import PushServer

/// A batch is decided before anything of it is stored: it knows itself what its earlier commands have changed.
@Suite(.timeLimit(.minutes(5))) struct MailboxBatchTests {
    private let id = NotificationID(rawValue: 5)
    private let device: DeviceID

    init() throws { device = try #require(DeviceID(77)) }

    private func line(_ state: NotificationState, at milliseconds: Int64 = 0) -> TimelineEntry {
        TimelineEntry(at: Timestamp(rawValue: milliseconds), state: state, source: .server)
    }

    @Test func `a line that a timeline has is not written again, and does not count again`() {
        var prefetched = Prefetched()
        prefetched.notifications[id] = NotificationFacts(device: device, lines: [line(.presented, at: 1)])
        var batch = MailboxBatch()
        batch.prefetch(prefetched)
        for _ in 0..<2 {
            batch.append(line(.presented, at: 1), to: id)
            batch.append(line(.presented, at: 2), to: id)
        }
        #expect(batch.changes == [.appendLine(line(.presented, at: 2), to: id)])
        #expect(batch.facts(of: id)?.lines.count == 2)
    }

    @Test func `what a batch takes out of a mailbox is known to be the device's`() {
        var batch = MailboxBatch()
        #expect(batch.facts(of: id) == nil)
        batch.removeWaiting(id, of: device)
        batch.append(line(.expired), to: id)
        #expect(batch.facts(of: id) == NotificationFacts(device: device, lines: [line(.expired)]))
    }

    /// Has commands decided in one batch: the writer is held in an earlier commit until all are queued.
    private func inOneBatch(_ server: TestServer, _ submit: () async throws -> Void) async throws {
        let held = server.store.holdNextCommit()
        async let earlier = server.accept(server.acceptance(device: 9))
        await held.reached.wait()
        try await submit()
        held.release()
        _ = try await earlier
    }

    @Test func `the same apns-id twice in a batch is one notification`() async throws {
        try await withServer { server in
            let name = "C0FFEE00-0000-4000-8000-000000000001"
            let (results, continuation) = AsyncStream<AcceptanceResult>.makeStream()
            try await inOneBatch(server) {
                for text in [name, name.lowercased()] {
                    #expect(
                        server.service.accept(
                            server.acceptance(apnsID: APNsID(rawValue: text)), sink: EveryVerdict(continuation)))
                }
            }
            var ids: [NotificationID?] = []
            for await result in results.prefix(2) { ids.append(result.id) }
            #expect(ids[0] != nil && ids[0] == ids[1])
            #expect(try await server.page().map(\.id) == [ids[0]])
        }
    }

    @Test func `the same apns-id with other content in a batch is another notification`() async throws {
        try await withServer { server in
            let name: APNsID = "c0ffee00-0000-4000-8000-000000000001"
            let (results, continuation) = AsyncStream<AcceptanceResult>.makeStream()
            try await inOneBatch(server) {
                for text in ["a", "b", "a"] {
                    let content = PushContent.apns(Array(#"{"aps":{"alert":"\#(text)"}}"#.utf8))
                    #expect(
                        server.service.accept(
                            server.acceptance(apnsID: name, content: content), sink: EveryVerdict(continuation)))
                }
            }
            var ids: [NotificationID?] = []
            for await result in results.prefix(3) { ids.append(result.id) }
            #expect(ids[0] != nil && ids[0] == ids[2] && ids[1] != nil && ids[0] != ids[1])
            #expect(try await server.page().map(\.id) == [ids[0], ids[1]])
        }
    }

    @Test func `an acknowledgement is noted once, also of what left its mailbox in the same batch`() async throws {
        try await withServer { server in
            let id = try #require(try await server.accept(server.acceptance()).id)
            let session = try await server.login(RecordingConnection())
            try await inOneBatch(server) {
                _ = server.service.submit(.unregister(server.credentials.device, server.app.id, .sandbox))
                for _ in 0..<2 { server.service.acknowledged(session, [id]) { _ in } }
            }
            await server.settle(session)
            let states = try #require(try await server.timeline(id)).entries.map(\.state)
            #expect(states == [.accepted, .stored, .acked, .dropped(.unregistered)])
        }
    }
}

/// A sink that hands on every result.
private final class EveryVerdict: AcceptanceSink {
    private let continuation: AsyncStream<AcceptanceResult>.Continuation
    init(_ continuation: AsyncStream<AcceptanceResult>.Continuation) { self.continuation = continuation }
    func completed(_ results: [AcceptanceResult]) { for result in results { continuation.yield(result) } }
}
