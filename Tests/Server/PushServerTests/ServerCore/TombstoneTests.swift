import AldabaTestSupport
import PushCore
import Testing

@testable import PushServer

/// What full lanes are cleared of is told to the device, until that knows it.
@Suite struct TombstoneTests {
    private func fill(_ server: TestServer, _ count: Int) async throws -> [NotificationID] {
        var ids: [NotificationID] = []
        for _ in 0..<count {
            let acceptance = server.acceptance(content: .fcm(Array("{}".utf8)))
            ids.append(try #require(try await server.accept(acceptance).id))
        }
        return ids
    }

    @Test func `a device that was away is told what was cleared, in its place, until it has acknowledged`() async throws
    {
        try await withServer { server in
            let own = try #require(try await server.accept(server.acceptance()).id)
            let ids = try await fill(server, 102)
            let page = try await server.page()
            let notice = page[1]
            #expect(page.map(\.id) == [own, notice.id, ids[100], ids[101]])
            #expect(notice.notice == .deleted(count: 100, since: server.clock.now))
            #expect(notice.topic == server.app.topic && notice.lane == .fcm)
            let session = try await server.login(RecordingConnection())
            #expect(try await server.page().map(\.id) == page.map(\.id), "a login takes nothing away")
            #expect(await server.acknowledge(session, [notice.id]))
            #expect(try await server.page().map(\.id) == [own, ids[100], ids[101]])
            #expect(try await server.timeline(notice.id) == nil)
        }
    }

    @Test func `a login that names a tombstone acknowledges it`() async throws {
        try await withServer { server in
            _ = try await fill(server, 101)
            let notice = try #require(try await server.page().first { $0.notice != nil })
            _ = try await server.login(RecordingConnection(), received: [notice.id])
            #expect(try await server.page().allSatisfy { $0.notice == nil })
        }
    }

    @Test func `a tombstone counts on after a failed commit as if that had not been tried`() async throws {
        try await withServer { server in
            _ = try await fill(server, 100)
            server.store.isFailing.store(true)
            #expect(try await server.accept(server.acceptance(content: .fcm([0x7B, 0x7D]))).id == nil)
            server.store.isFailing.store(false)
            #expect(try await server.page().allSatisfy { $0.notice == nil })
            _ = try await fill(server, 201)
            let notices = try await server.page().compactMap(\.notice)
            #expect(notices == [.deleted(count: 300, since: server.clock.now)])
        }
    }

    @Test func `a connected device whose lane is cleared is asked to read`() async throws {
        try await withServer { server in
            let connection = RecordingConnection()
            _ = try await server.login(connection)
            var acceptance = server.acceptance()
            acceptance.app.policy = MailboxPolicy(limit: 1, overflow: .clear)
            _ = try await server.accept(acceptance)
            #expect(!connection.waitingHasChanged.load())
            _ = try await server.accept(acceptance)
            await server.released()
            #expect(connection.waitingHasChanged.load())
            #expect(try await server.page().map { $0.notice != nil } == [true, false])
        }
    }
}
