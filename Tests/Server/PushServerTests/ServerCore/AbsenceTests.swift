import AldabaTestSupport
import Logging
import NIOPosix
import PushCore
import Testing

@testable import PushServer

/// What waits for a device that has been away for a month is dropped, and the device is told when it comes back.
@Suite struct AbsenceTests {
    private static let day: Int64 = 24 * 3_600_000

    /// Lets days pass, and has the sweep's finding acted upon.
    private func pass(_ days: Int64, _ server: TestServer) async throws {
        server.clock.advance(milliseconds: days * Self.day)
        await server.service.sweepOnce()
        try await server.service.flushNotes()
    }

    @Test func `a month's absence ends the queue with a tombstone for each lane`() async throws {
        try await withServer { server in
            let session = try await server.login(RecordingConnection())
            server.service.close(session)
            try await server.service.flushNotes()
            try await pass(29, server)
            let early = try #require(try await server.accept(server.acceptance()).id)
            let fcm = try #require(try await server.accept(server.acceptance(content: .fcm([0x7B, 0x7D]))).id)
            #expect(try await server.page().map(\.id) == [early, fcm])
            try await pass(1, server)
            #expect(try await server.page().count == 2, "it was seen up to a day later than noted")
            try await pass(1, server)
            let since = server.clock.now
            let page = try await server.page()
            #expect(page.map(\.notice) == [.deleted(count: 1, since: since), .deleted(count: 1, since: since)])
            #expect(Set(page.map(\.lane)) == [.apns, .fcm])
            for id in [early, fcm] {
                let states = try await server.timeline(id)?.entries.map(\.state)
                #expect(states == [.accepted, .stored, .dropped(.inactive)])
            }
            let back = try await server.login(RecordingConnection())
            #expect(await server.acknowledge(back, page.map(\.id)))
            let fresh = try #require(try await server.accept(server.acceptance()).id)
            try await pass(1, server)
            #expect(try await server.page().map(\.id) == [fresh])
        }
    }

    @Test(arguments: [true, false])
    func `who comes back after a month hears of what had expired, by count and since when`(isSwept: Bool) async throws {
        try await withServer { server in
            server.service.close(try await server.login(RecordingConnection()))
            try await server.service.flushNotes()
            let soon = server.clock.now.adding(milliseconds: Self.day)
            for content in [PushContent.fcm([0x7B, 0x7D]), .fcm([0x7B, 0x7D])] {
                _ = try await server.accept(server.acceptance(expiry: .until(soon), content: content))
            }
            if isSwept { try await pass(2, server) }
            server.clock.advance(milliseconds: 32 * Self.day)
            #expect(try await server.page().isEmpty)
            let session = try await server.login(RecordingConnection())
            let page = try await server.page()
            #expect(page.map(\.notice) == [.deleted(count: 2, since: soon)])
            #expect(page.first?.lane == .fcm)
            #expect(await server.acknowledge(session, page.map(\.id)))
            server.service.close(session)
            try await server.service.flushNotes()
            _ = try await server.login(RecordingConnection())
            #expect(try await server.page().isEmpty, "it is told once")
        }
    }

    @Test func `who comes back earlier does not hear of what expired, nor later`() async throws {
        try await withServer { server in
            for days in [20, 40] as [Int64] {
                let session = try await server.login(RecordingConnection())
                #expect(try await server.page().isEmpty)
                server.service.close(session)
                try await server.service.flushNotes()
                if days == 20 {
                    let soon = server.clock.now.adding(milliseconds: Self.day)
                    _ = try await server.accept(server.acceptance(expiry: .until(soon)))
                }
                try await pass(days, server)
            }
            _ = try await server.login(RecordingConnection())
            #expect(try await server.page().isEmpty)
        }
    }

    @Test func `a device that stays connected is not away, and neither is one that has just gone`() async throws {
        try await withServer { server in
            let session = try await server.login(RecordingConnection())
            let id = try #require(try await server.accept(server.acceptance(expiry: .until(.distantFuture))).id)
            try await pass(20, server)
            try await pass(9, server)
            #expect(try await server.page().map(\.id) == [id])
            server.service.close(session)
            try await server.service.flushNotes()
            let later = try #require(try await server.accept(server.acceptance()).id)
            try await pass(2, server)
            #expect(try await server.page().map(\.id) == [later], "the first has expired")
        }
    }

    @Test func `nobody is away in the first hour of a server`() async throws {
        try await withServer { server in
            let id = try #require(try await server.accept(server.acceptance()).id)
            let group = MultiThreadedEventLoopGroup(numberOfThreads: 1)
            server.clock.advance(milliseconds: 29 * Self.day)
            let late = try #require(try await server.accept(server.acceptance()).id)
            server.clock.advance(milliseconds: 3 * Self.day)
            let restarted = try MailboxService(
                store: server.store, node: 1, loop: group.next(), settings: MailboxService.Settings(),
                clock: server.clock.function, logger: Logger(label: "test", factory: { _ in SwiftLogNoOpLogHandler() }))
            func look() async throws -> [NotificationID] {
                await restarted.sweepOnce()
                try await restarted.flushNotes()
                return try await server.page().filter { $0.notice == nil }.map(\.id)
            }
            #expect(try await look() == [late])
            server.clock.advance(milliseconds: 3_600_000)
            #expect(try await look().isEmpty)
            #expect(id < late)
            await restarted.stop()
            try await group.shutdownGracefully()
        }
    }
}
