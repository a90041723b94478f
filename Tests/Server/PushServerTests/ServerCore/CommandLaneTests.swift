import AldabaTestSupport
import PushCore
import Testing

@testable import PushServer

/// How providers and devices share the one writer.
@Suite(.timeLimit(.minutes(5))) struct CommandLaneTests {
    private let session: DeviceSessionID

    init() throws { session = DeviceSessionID(device: try #require(DeviceID(7)), epoch: 1) }

    /// A batch of receipts as large as devices may send them.
    private func receipts(_ count: Int) -> [Receipt] {
        (0..<count as Range<Int>).map {
            Receipt(
                id: NotificationID(rawValue: Int64($0 + 1)),
                entry: TimelineEntry(at: Timestamp(rawValue: 0), state: .presented, source: .agent))
        }
    }

    private func acceptances(in batch: [MailboxCommand]) -> Int {
        batch.count { if case .accept = $0 { true } else { false } }
    }

    @Test func `acceptances have their share of each batch, however much devices report`() async throws {
        try await withServer { server in
            let queue = MailboxCommandQueue()
            for _ in 0..<1000 { _ = queue.enqueue(.record(receipts(512), session: session) { _ in }) }
            let sink = DiscardingSink()
            for _ in 0..<600 { _ = queue.enqueue(.accept(QueuedAcceptance(server.acceptance(), sink))) }
            let first = queue.takeBatch(limit: 512)
            #expect(acceptances(in: first) == 512)
            #expect(first.count == 513)
            #expect(acceptances(in: queue.takeBatch(limit: 512)) == 88)
        }
    }

    @Test func `what devices report has its share, however much is accepted`() async throws {
        try await withServer { server in
            let queue = MailboxCommandQueue()
            let sink = DiscardingSink()
            for _ in 0..<MailboxCommandQueue.acceptanceLimit {
                _ = queue.enqueue(.accept(QueuedAcceptance(server.acceptance(), sink)))
            }
            for _ in 0..<1024 { _ = queue.enqueue(.close(session)) }
            let batch = queue.takeBatch(limit: 512)
            #expect(acceptances(in: batch) == 512)
            #expect(batch.count == 1024)
        }
    }

    @Test func `an empty batch puts the writer to sleep, and the next command wakes it`() {
        let queue = MailboxCommandQueue()
        guard case .wake = queue.enqueue(.close(session)), case .queued = queue.enqueue(.close(session)) else {
            Issue.record("the first command wakes the writer, and only that")
            return
        }
        #expect(queue.takeBatch(limit: 512).count == 2)
        #expect(queue.takeBatch(limit: 512).isEmpty)
        guard case .wake = queue.enqueue(.close(session)) else {
            Issue.record("the writer sleeps and was not woken")
            return
        }
        #expect(queue.takeEverything().count == 1)
        guard case .wake = queue.enqueue(.close(session)) else {
            Issue.record("the writer was not woken after everything was taken")
            return
        }
    }

    @Test func `receipts of what does not exist never reach the writer`() async throws {
        try await withServer { server in
            let session = try await server.login(RecordingConnection())
            let held = server.store.holdNextCommit()
            _ = server.service.accept(server.acceptance(), sink: DiscardingSink())
            await held.reached.wait()
            // The writer is held in its commit; what it is not needed for goes on.
            let outcome = await withCheckedContinuation { continuation in
                server.service.record(receipts(200), of: session) { continuation.resume(returning: $0) }
            }
            #expect(outcome == .durable(ignored: 200))
            held.release()
        }
    }

    @Test func `a receipt of one attempt counts although its timeline is not written yet`() async throws {
        var settings = MailboxService.Settings()
        settings.notePause = .hours(1)
        try await withServer(settings: settings) { server in
            let session = try await server.login(RecordingConnection())
            _ = server.service.attempt(server.acceptance(expiry: .once))
            let id = try #require(server.service.attempt(server.acceptance(expiry: .once)))
            let entry = TimelineEntry(at: server.clock.now, state: .presented, source: .agent)
            let outcome = await withCheckedContinuation { continuation in
                server.service.record([Receipt(id: id, entry: entry)], of: session) {
                    continuation.resume(returning: $0)
                }
            }
            #expect(outcome == .durable(ignored: 0))
            #expect(try await server.timeline(id)?.entries.map(\.state) == [.accepted, .presented])
        }
    }
}

/// A sink that nobody listens to.
private final class DiscardingSink: AcceptanceSink {
    func completed(_ results: [AcceptanceResult]) {}
}
