import AldabaTestSupport
import NIOCore
import PushCore
import Testing

@testable import PushServer

/// What a store that fails for a while, and connections that end at the wrong time, leave behind.
@Suite struct MailboxFailureTests {
    @Test func `what nobody would bring again is written once the store works, before anything later`() async throws {
        try await withServer { server in
            let id = try #require(try await server.accept(server.acceptance()).id)
            let session = try await server.login(RecordingConnection())
            server.store.isFailing.store(true)
            server.service.sent(session, [id])
            _ = server.service.submit(.unregister(server.credentials.device, server.app.id, .sandbox))
            await server.settle(session)
            #expect(try await server.page().map(\.id) == [id])
            server.store.isFailing.store(false)
            let later = try #require(try await server.accept(server.acceptance()).id)
            #expect(try await server.page().map(\.id) == [later])
            let states = try await server.timeline(id)?.entries.map(\.state)
            #expect(states == [.accepted, .stored, .sent, .dropped(.unregistered)])
        }
    }

    @Test func `an acknowledgement that could not be committed is said not to be durable`() async throws {
        try await withServer { server in
            let id = try #require(try await server.accept(server.acceptance()).id)
            let session = try await server.login(RecordingConnection())
            server.store.isFailing.store(true)
            #expect(await !server.acknowledge(session, [id]))
            server.store.isFailing.store(false)
            #expect(try await server.page().map(\.id) == [id])
            #expect(await server.acknowledge(session, [id]))
            #expect(try await server.page().isEmpty)
        }
    }

    /// What a batch may ask for that cannot be committed.
    enum Uncommitted: CaseIterable {
        case acceptance, acceptanceForAnother, acknowledgement, login, endOfRegistration
    }

    @Test(arguments: Uncommitted.allCases)
    func `what is in flight when a commit fails is not replaced before the next login`(
        uncommitted: Uncommitted
    ) async throws {
        try await withServer { server in
            let first = try #require(try await server.accept(server.acceptance(collapseID: "score")).id)
            let session = try await server.login(RecordingConnection())
            server.service.sent(session, [first])
            await server.settle(session)
            server.store.isFailing.store(true)
            switch uncommitted {
            case .acceptance: #expect(try await server.accept(server.acceptance(collapseID: "score")).id == nil)
            case .acceptanceForAnother: #expect(try await server.accept(server.acceptance(device: 9)).id == nil)
            case .acknowledgement: #expect(await !server.acknowledge(session, [first]))
            case .login: _ = await server.loginVerdict(RecordingConnection(), received: [first])
            case .endOfRegistration:
                _ = server.service.submit(.unregister(server.credentials.device, server.app.id, .sandbox))
                await server.settle(session)
            }
            server.store.isFailing.store(false)
            let second = try #require(try await server.accept(server.acceptance(collapseID: "score")).id)
            // The end of a registration is tried again, and takes the first.
            let isEnded = uncommitted == .endOfRegistration
            #expect(try await server.page().map(\.id) == (isEnded ? [second] : [first, second]))
            let last = isEnded ? NotificationState.dropped(.unregistered) : .sent
            #expect(try await server.timeline(first)?.entries.last?.state == last)
            _ = try await server.login(RecordingConnection())
            #expect(try await server.page().map(\.id) == [second])
        }
    }

    @Test func `what was sent is in flight, though it was told behind a commit that failed, and the connection ended`()
        async throws
    {
        try await withServer { server in
            let first = try #require(try await server.accept(server.acceptance(collapseID: "score")).id)
            let session = try await server.login(RecordingConnection())
            let held = server.store.holdNextCommit()
            async let refused = server.accept(server.acceptance(device: 9))
            await held.reached.wait()
            server.store.isFailing.store(true)
            server.service.sent(session, [first])
            server.service.close(session)
            held.release()
            #expect(try await refused.id == nil)
            server.store.isFailing.store(false)
            let second = try #require(try await server.accept(server.acceptance(collapseID: "score")).id)
            #expect(try await server.page().map(\.id) == [first, second])
        }
    }

    @Test func `timelines that were written behind survive a failed commit`() async throws {
        try await withServer { server in
            let session = try await server.login(RecordingConnection())
            server.store.isFailing.store(true)
            let id = try #require(server.service.attempt(server.acceptance(expiry: .once)))
            server.service.attempts([id], became: .notSent)
            await server.settle(session)
            server.store.isFailing.store(false)
            await server.service.stop()
            #expect(try await server.timeline(id)?.entries.map(\.state) == [.accepted, .dropped(.offline)])
        }
    }

    @Test(.timeLimit(.minutes(5)))
    func `a store that goes on failing does not keep the service from stopping`() async throws {
        try await withServer { server in
            let session = try await server.login(RecordingConnection())
            server.store.isFailing.store(true)
            _ = server.service.attempt(server.acceptance(expiry: .once))
            server.service.sent(session, [NotificationID(rawValue: 5)])
            await server.service.stop()
            #expect(try await server.page().isEmpty)
            server.store.isFailing.store(false)
        }
    }

    @Test func `the end of one environment's registration leaves the other's mail`() async throws {
        try await withServer { server in
            let id = try #require(try await server.accept(server.acceptance()).id)
            let session = try await server.login(RecordingConnection())
            _ = server.service.submit(.unregister(server.credentials.device, server.app.id, .production))
            await server.settle(session)
            #expect(try await server.page().map(\.id) == [id])
        }
    }

    @Test func `one attempt that was written and never acknowledged says so, and a login may still set it right`()
        async throws
    {
        try await withServer { server in
            let session = try await server.login(RecordingConnection())
            let id = try #require(server.service.attempt(server.acceptance(expiry: .once)))
            server.service.attempts([id], became: .sent)
            server.service.attempts([id], became: .unacknowledged)
            await server.settle(session)
            let lost = try #require(try await server.timeline(id)).entries
            #expect(lost.map(\.state) == [.accepted, .sent, .dropped(.offline)])
            #expect(lost.last?.note?.contains("may have arrived") == true)
            server.clock.advance(milliseconds: 5000)
            _ = try await server.login(RecordingConnection(), received: [id])
            let found = try #require(try await server.timeline(id)).entries
            #expect(found.map(\.state) == [.accepted, .sent, .dropped(.offline), .acked])
        }
    }

    @Test func `a device cannot make a timeline grow without end`() async throws {
        try await withServer { server in
            let id = try #require(try await server.accept(server.acceptance()).id)
            let session = try await server.login(RecordingConnection())
            let receipts = (0..<1000 as Range<Int64>).map { step in
                Receipt(
                    id: id,
                    entry: TimelineEntry(
                        at: server.clock.now.adding(milliseconds: step), state: .presented, source: .agent))
            }
            let outcome = await withCheckedContinuation { continuation in
                server.service.record(receipts, of: session) { continuation.resume(returning: $0) }
            }
            #expect(outcome == .durable(ignored: 0))
            #expect(try await server.timeline(id)?.entries.count == 2 + MailboxService.Settings().lineLimit)
        }
    }

    @Test func `mailboxes of devices that are away are not kept empty`() async throws {
        try await withServer { server in
            let session = try await server.login(RecordingConnection())
            let id = try #require(try await server.accept(server.acceptance()).id)
            #expect(await server.acknowledge(session, [id]))
            #expect(await server.service.residentMailboxes == 1)
            server.service.close(session)
            await server.settle(session)
            #expect(await server.service.residentMailboxes == 0)
        }
    }
}
