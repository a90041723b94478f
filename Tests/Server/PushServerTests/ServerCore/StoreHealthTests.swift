import AldabaTestSupport
import PushCore
import Testing

@testable import PushServer

/// What is told of a store that fails, and when it is told to work again.
@Suite struct StoreHealthTests {
    private func isAccepted(by server: TestServer) async throws -> Bool {
        try await server.accept(server.acceptance()).id != nil
    }

    @Test
    func `a store that fails is told from the first failed commit until one succeeds and none has failed for a while`()
        async throws
    {
        try await withServer { server in
            let session = try await server.login(RecordingConnection())
            #expect(server.service.health.failure == nil)
            let since = server.clock.now
            server.store.isFailing.store(true)
            #expect(try await !isAccepted(by: server))
            server.clock.advance(milliseconds: 500)
            #expect(try await !isAccepted(by: server))
            let failure = try #require(server.service.health.failure)
            #expect(failure.since == since && failure.reason == "the store cannot commit")
            server.store.isFailing.store(false)
            #expect(try await isAccepted(by: server))
            #expect(server.service.health.failure != nil, "a single small commit may succeed on a full disk")
            server.clock.advance(milliseconds: 5_000)
            #expect(try await isAccepted(by: server))
            #expect(server.service.health.failure == nil)
            server.service.close(session)
        }
    }

    @Test func `the upkeep finds out that the store fails, and that it works again, when nobody sends`() async throws {
        try await withServer { server in
            server.clock.advance(milliseconds: 3_600_000)
            server.store.isFailing.store(true)
            await #expect(throws: FailingStore.Failure.self) { try await server.service.renewIDs() }
            #expect(server.service.health.failure != nil)
            await #expect(throws: FailingStore.Failure.self) { try await server.service.renewIDs() }
            server.store.isFailing.store(false)
            server.clock.advance(milliseconds: 5_000)
            try await server.service.renewIDs()
            #expect(server.service.health.failure == nil)
        }
    }

    @Test func `timelines that cannot be written behind are told too`() async throws {
        try await withServer { server in
            server.store.isFailing.store(true)
            _ = try #require(server.service.attempt(server.acceptance(expiry: .once)))
            await server.service.writeNotes()
            #expect(server.service.health.failure != nil)
            server.store.isFailing.store(false)
            server.clock.advance(milliseconds: 5_000)
            await server.service.writeNotes()
            #expect(server.service.health.failure == nil)
        }
    }

    @Test func `once the file is found damaged nothing is accepted, though single commits would succeed`() async throws
    {
        struct Damage: StoreFailure {
            let reason = "database disk image is malformed"
            let isDamage = true
        }
        try await withServer { server in
            let session = try await server.login(RecordingConnection())
            server.service.health.failed(Damage(), at: server.clock.now)
            #expect(try await !isAccepted(by: server))
            #expect(await !server.acknowledge(session, []))
            #expect(server.service.health.failure?.reason == Damage().reason)
            #expect(server.service.health.failure?.isDamage == true)
        }
    }

    @Test func `the reason is the store's own words, or none of ours that would show what it holds`() {
        struct Full: StoreFailure { let reason = "database or disk is full" }
        struct Talkative: Error, CustomStringConvertible { let description = "INSERT INTO message VALUES('secret')" }
        let health = StoreHealth()
        health.failed(Full(), at: Timestamp(rawValue: 5))
        #expect(health.failure?.reason == "database or disk is full")
        health.failed(Talkative(), at: Timestamp(rawValue: 6))
        #expect(health.failure?.since == Timestamp(rawValue: 5))
        #expect(health.failure?.reason == "the store cannot commit")
    }
}
