import AldabaTestSupport
import PushCore
import Testing

@testable import PushServer

/// What a provider takes back, and what full lanes lose.
@Suite struct WithdrawalTests {
    private func withdraw(
        _ id: NotificationID, _ server: TestServer, device: DeviceID? = nil
    ) async -> WithdrawalOutcome {
        await withCheckedContinuation { continuation in
            server.service.withdraw(id, of: device ?? server.credentials.device) { continuation.resume(returning: $0) }
        }
    }

    @Test func `what waits is withdrawn, and its timeline says so`() async throws {
        try await withServer { server in
            let id = try #require(try await server.accept(server.acceptance()).id)
            let other = try #require(try await server.accept(server.acceptance()).id)
            #expect(await withdraw(id, server) == .withdrawn)
            #expect(try await server.page().map(\.id) == [other])
            #expect(try await server.timeline(id)?.entries.map(\.state) == [.accepted, .stored, .withdrawn])
            #expect(await withdraw(id, server) == .ended)
            #expect(try await server.timeline(id)?.entries.count == 3)
        }
    }

    @Test func `what a connected device may have waits no more, and is told`() async throws {
        try await withServer { server in
            let session = try await server.login(RecordingConnection())
            let fresh = try #require(try await server.accept(server.acceptance()).id)
            #expect(await withdraw(fresh, server) == .mayHaveArrived)
            let sent = try #require(try await server.accept(server.acceptance()).id)
            server.service.sent(session, [sent])
            #expect(await withdraw(sent, server) == .mayHaveArrived)
            #expect(try await server.page().map(\.notice) == [.withdrawn(fresh), .withdrawn(sent)])
            #expect(try await server.timeline(sent)?.entries.map(\.state) == [.accepted, .stored, .sent, .withdrawn])
            let acknowledged = try #require(try await server.accept(server.acceptance()).id)
            #expect(await server.acknowledge(session, [acknowledged]))
            #expect(await withdraw(acknowledged, server) == .mayHaveArrived)
            #expect(try await server.timeline(acknowledged)?.entries.map(\.state) == [.accepted, .stored, .acked])
        }
    }

    @Test func `a device that may have it is told until it has acknowledged that, and told once`() async throws {
        try await withServer { server in
            let connection = RecordingConnection()
            let session = try await server.login(connection)
            let id = try #require(try await server.accept(server.acceptance()).id)
            #expect(await server.acknowledge(session, [id]))
            #expect(await withdraw(id, server) == .mayHaveArrived)
            await server.released()
            #expect(connection.waitingHasChanged.load())
            #expect(await withdraw(id, server) == .mayHaveArrived)
            let page = try await server.page()
            #expect(page.map(\.notice) == [.withdrawn(id)])
            let again = try await server.login(RecordingConnection())
            #expect(try await server.page() == page)
            #expect(await server.acknowledge(again, page.map(\.id)))
            #expect(try await server.page().isEmpty)
            #expect(try await server.timeline(id)?.entries.map(\.state) == [.accepted, .stored, .acked])
        }
    }

    @Test func `what an earlier session sent may have arrived, though nothing is in flight any more`() async throws {
        try await withServer { server in
            let session = try await server.login(RecordingConnection())
            let id = try #require(try await server.accept(server.acceptance()).id)
            server.service.sent(session, [id])
            let second = try await server.login(RecordingConnection())
            server.service.close(second)
            #expect(await withdraw(id, server) == .mayHaveArrived)
            #expect(try await server.page().map(\.notice) == [.withdrawn(id)])
            #expect(await withdraw(id, server) == .ended, "the device is told already")
            #expect(try await server.page().count == 1)
        }
    }

    @Test func `one attempt that was written may have arrived`() async throws {
        try await withServer { server in
            _ = try await server.login(RecordingConnection())
            let id = try #require(server.service.attempt(server.acceptance(expiry: .once)))
            server.service.attempts([id], became: .sent)
            #expect(await withdraw(id, server) == .mayHaveArrived)
        }
    }

    @Test func `what does not exist, or is another device's, is unknown; a store that fails is told`() async throws {
        try await withServer { server in
            #expect(await withdraw(NotificationID(rawValue: 5), server) == .unknown)
            let id = try #require(try await server.accept(server.acceptance()).id)
            #expect(await withdraw(id, server, device: DeviceID(9)) == .unknown)
            server.store.isFailing.store(true)
            #expect(await withdraw(id, server) == .failed)
            server.store.isFailing.store(false)
            #expect(try await server.page().map(\.id) == [id])
            #expect(await withdraw(id, server) == .withdrawn)
        }
    }

    @Test(arguments: [false, true])
    func `FCM's lane is cleared by the hundred and first of a device that is away`(isConnected: Bool) async throws {
        try await withServer { server in
            if isConnected { _ = try await server.login(RecordingConnection()) }
            let own = try #require(try await server.accept(server.acceptance()).id)
            var ids: [NotificationID] = []
            for _ in 0..<101 {
                let acceptance = server.acceptance(content: .fcm(Array("{}".utf8)))
                ids.append(try #require(try await server.accept(acceptance).id))
            }
            let first = try #require(try await server.timeline(ids[0])).entries.map(\.state)
            if isConnected {
                #expect(first == [.accepted, .stored])
            } else {
                #expect(first == [.accepted, .stored, .dropped(.overflow)])
                #expect(try await server.page().filter { $0.notice == nil }.map(\.id) == [own, ids[100]])
            }
        }
    }
}
