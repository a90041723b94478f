import AldabaTestSupport
import PushCore
import Testing

@testable import PushServer

/// What is told of notifications that are delivered once or never.
@Suite(.timeLimit(.minutes(5))) struct AttemptTimelineTests {
    @Test func `a look-up right after an attempt waits for its timeline`() async throws {
        var settings = MailboxService.Settings()
        settings.notePause = .hours(1)
        try await withServer(settings: settings) { server in
            for _ in 0..<40 {
                let id = try #require(server.service.attempt(server.acceptance(expiry: .once)))
                #expect(try await server.timeline(id)?.entries.map(\.state) == [.accepted, .dropped(.offline)])
            }
        }
    }

    @Test func `a look-up of timelines that cannot be written says so`() async throws {
        var settings = MailboxService.Settings()
        settings.notePause = .hours(1)
        try await withServer(settings: settings) { server in
            _ = server.service.attempt(server.acceptance(expiry: .once))
            server.store.isFailing.store(true)
            let id = try #require(server.service.attempt(server.acceptance(expiry: .once)))
            await #expect(throws: TimelinesNotWritten.self) { _ = try await server.timeline(id) }
            server.store.isFailing.store(false)
            #expect(try await server.timeline(id)?.entries.map(\.state) == [.accepted, .dropped(.offline)])
        }
    }

    @Test(arguments: [true, false])
    func `an attempt that an earlier run of the server left open says that its outcome is unknown`(
        wasWritten: Bool
    ) async throws {
        try await withServer { server in
            let session = try await server.login(RecordingConnection())
            let id = try #require(server.service.attempt(server.acceptance(expiry: .once)))
            if wasWritten { server.service.attempts([id], became: .sent) }
            await server.settle(session)
            let open: [NotificationState] = wasWritten ? [.accepted, .sent] : [.accepted]
            #expect(try await server.timeline(id)?.entries.map(\.state) == open)
            // Timelines of a server that began later.
            server.clock.advance(milliseconds: 10_000)
            let later = Timelines(store: server.store, mailboxes: server.service)
            let lost = try #require(try await later.timelines(of: id.description, team: nil).first)
            #expect(lost.entries.map(\.state) == open + [.dropped(.offline)])
            #expect(lost.entries.last?.note?.contains("unknown") == true)
            // The device had it after all, and says so at its next login.
            _ = try await server.login(RecordingConnection(), received: [id])
            let found = try #require(try await later.timelines(of: id.description, team: nil).first)
            #expect(found.entries.map(\.state) == open + [.acked])
        }
    }

    @Test func `a look-up sees the line that was noted just before it, in the same batch`() async throws {
        try await withServer { server in
            let id = try #require(try await server.accept(server.acceptance()).id)
            let session = try await server.login(RecordingConnection())
            let held = server.store.holdNextCommit()
            async let other = server.accept(server.acceptance())
            await held.reached.wait()
            server.service.sent(session, [id])
            let flushed = Latch()
            _ = server.service.submit(.flush { _ in flushed.open() })
            held.release()
            await flushed.wait()
            let found = try await server.store.timelines(id: id, apnsID: nil, team: nil)
            #expect(found.first?.entries.map(\.state) == [.accepted, .stored, .sent])
            _ = try await other
        }
    }

    @Test func `a sent line that was due while the store failed is written when it works again`() async throws {
        try await withServer { server in
            let id = try #require(try await server.accept(server.acceptance()).id)
            let session = try await server.login(RecordingConnection())
            server.service.sent(session, [id])
            await server.settle(session)
            server.store.isFailing.store(true)
            // The batch fails before its last command is reached, or after: the line is brought again.
            _ = server.service.submit(.writeSent([id]))
            await server.settle(session)
            server.store.isFailing.store(false)
            _ = try await server.accept(server.acceptance())
            let found = try await server.store.timelines(id: id, apnsID: nil, team: nil)
            #expect(found.first?.entries.map(\.state) == [.accepted, .stored, .sent])
        }
    }

    @Test func `what waits is not an attempt, whenever the server began`() async throws {
        try await withServer { server in
            let id = try #require(try await server.accept(server.acceptance()).id)
            server.clock.advance(milliseconds: 10_000)
            let later = Timelines(store: server.store, mailboxes: server.service)
            let found = try #require(try await later.timelines(of: id.description, team: nil).first)
            #expect(found.entries.map(\.state) == [.accepted, .stored])
        }
    }
}
