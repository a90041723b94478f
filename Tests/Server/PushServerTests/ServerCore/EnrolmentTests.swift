import APNsProtocol
import AldabaTestSupport
import Crypto
import PushCore
import StoreMemory
import Testing

@testable import PushServer

/// Enrolment and the directory of tokens together, over a store.
@Suite struct EnrolmentTests {
    @Test func `whoever enrolled by a key as the last may show it again, until it is revoked or its time is over`()
        async throws
    {
        let (store, clock) = (MemoryStore(), ManualClock())
        let admission = EnrolmentAdmission(.closed, keys: store, clock: clock.function)
        func refusal(_ key: String, isCounted: Bool) async throws -> String? {
            try await admission.refusal(of: key, isCounted: isCounted)
        }
        for name in ["lab", "shop"] {
            try await store.addEnrolmentKey(
                EnrolmentKey(
                    id: name, secretHash: Array(SHA256.hash(data: Array(name.utf8))), quota: 1,
                    expiresAt: clock.now.adding(milliseconds: 1000), createdAt: clock.now))
            #expect(try await refusal(name, isCounted: true) == nil)
            #expect(try await refusal(name, isCounted: false) == nil)
            #expect(try await refusal(name, isCounted: true)?.contains("have enrolled") == true)
        }
        #expect(try await store.enrolmentKeys().map(\.used) == [1, 1])
        #expect(try await store.revokeEnrolmentKey("lab", at: clock.now))
        #expect(try await refusal("lab", isCounted: false)?.contains("revoked") == true)
        clock.advance(milliseconds: 1000)
        #expect(try await refusal("shop", isCounted: false)?.contains("time is over") == true)
        #expect(try await refusal("none", isCounted: false)?.contains("no such") == true)
    }

    @Test func `a device that a restored server has lost comes back with its id and secret, and nobody else does`()
        async throws
    {
        func enrolment(_ server: TestServer, _ store: MemoryStore, keys: [UInt8]) throws -> Enrolment {
            let sealer = try #require(DeviceTokenSealer(keys: [[UInt8](repeating: 1, count: 32)]))
            return Enrolment(
                store: store, apps: AppDirectory(store: store, clock: server.clock.function),
                tokens: TokenDirectory(store: store, sealer: sealer), mailboxes: server.service, cell: 0,
                secrets: DeviceSecrets(keys: keys.map { [UInt8](repeating: $0, count: 32) }),
                clock: server.clock.function)
        }
        try await withServer { server in
            let enrolled = try #require(try await enrolment(server, MemoryStore(), keys: [1]).checkIn(known: nil))
            let restored = MemoryStore()
            // Also under a key that is not the current one any more.
            let again = try enrolment(server, restored, keys: [2, 1])
            let others = [
                DeviceCredentials(device: enrolled.device, secret: enrolled.secret ^ 1),
                DeviceCredentials(device: try #require(DeviceID(7)), secret: enrolled.secret),
            ]
            for other in others { #expect(try await again.checkIn(known: other) == nil) }
            #expect(try await enrolment(server, restored, keys: [3]).checkIn(known: enrolled) == nil)
            #expect(try await !again.isAuthentic(enrolled))
            #expect(try await again.checkIn(known: enrolled) == enrolled)
            #expect(try await again.isAuthentic(enrolled))
            #expect(try await restored.revokeDevice(enrolled.device, at: server.clock.now))
            #expect(try await again.checkIn(known: enrolled) == nil, "a device that was revoked stays so")
        }
    }

    @Test func `a token lives from its registration to its end, and is known at every step`() async throws {
        try await withServer { server in
            let sealer = try #require(DeviceTokenSealer(keys: [[UInt8](repeating: 1, count: 32)]))
            let tokens = TokenDirectory(store: server.store.base, sealer: sealer)
            let enrolment = Enrolment(
                store: server.store.base, apps: AppDirectory(store: server.store.base, clock: server.clock.function),
                tokens: tokens, mailboxes: server.service, cell: 0, clock: server.clock.function)
            func register() async throws -> DeviceToken {
                let outcome = try await enrolment.register(
                    server.credentials, topic: server.app.topic, team: server.app.team, environment: .sandbox)
                guard case .token(let text) = outcome else { throw FailingStore.Failure() }
                return try #require(DeviceToken(text: text))
            }

            let first = try await register()
            let subject = try #require(sealer.open(first))
            #expect(try await tokens.find(first) == .active(subject))
            #expect(try await register() == first)
            #expect(tokens.known(first) == .active(subject))

            var next = subject
            next.generation += 1
            let future = try sealer.seal(next)
            #expect(try await tokens.find(future) == .bad)

            let outcome = try await enrolment.unregister(
                server.credentials, topic: server.app.topic, environment: .sandbox)
            #expect(outcome == .unregistered)
            #expect(try await tokens.find(first) == .ended(server.clock.now))
            #expect(tokens.known(future) == .bad)

            #expect(try await register() == future)
            #expect(try await tokens.find(future) == .active(next))
            #expect(tokens.known(first) == .ended(server.clock.now))
        }
    }

    @Test func `a registration publishes its key, another one its own, and one without takes it away`() async throws {
        try await withServer { server in
            let sealer = try #require(DeviceTokenSealer(keys: [[UInt8](repeating: 1, count: 32)]))
            let enrolment = Enrolment(
                store: server.store.base, apps: AppDirectory(store: server.store.base, clock: server.clock.function),
                tokens: TokenDirectory(store: server.store.base, sealer: sealer), mailboxes: server.service, cell: 0,
                clock: server.clock.function)
            for key in [RecipientPrivateKey().publicKey, RecipientPrivateKey().publicKey, nil] {
                _ = try await enrolment.register(
                    server.credentials, topic: server.app.topic, team: server.app.team, environment: .sandbox,
                    encryptionKey: key)
                let kept = try await server.store.base.encryptionKey(
                    device: server.credentials.device, app: server.app.id, environment: .sandbox)
                #expect(kept == key)
            }
        }
    }
}
