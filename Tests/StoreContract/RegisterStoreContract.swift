import PushCore
import PushServer
import Testing

/// All ports of the register.
package typealias WholeRegister = RegisterStore & CertificateRegister & TeamRegister & ServiceAccountRegister
    & DeviceGroupRegister & FCMRegister & EnrolmentKeyRegister & WebChannelRegister & ChannelRegister

/// What every ``RegisterStore`` must do; a store's test suite runs each rule against a fresh store.
package struct RegisterStoreContract {
    let store: any WholeRegister
    let team = TeamID(rawValue: "TEAM123456")
    let topic = Topic(rawValue: "com.example.todo")
    let now = Timestamp(seconds: 1_780_272_000)

    package init(_ store: any WholeRegister) { self.store = store }

    package func `a topic belongs to one team`() async throws {
        let policy = MailboxPolicy(limit: 10_000, overflow: .keepNewest)
        let app = try await store.addApp(topic: topic, team: team, policy: policy, at: now)
        #expect(try await store.apps() == [app])
        #expect(app.policy == policy)
        await #expect(throws: RegisterError.topicTaken(topic, by: team)) {
            try await store.addApp(topic: topic, team: TeamID(rawValue: "OTHER12345"), policy: policy, at: now)
        }
    }

    package func `a key id is given once`() async throws {
        let key = ProviderKey(keyID: KeyID(rawValue: "KEY1234567"), team: team, publicKeyPEM: "PEM", createdAt: now)
        try await store.addProviderKey(key)
        #expect(try await store.providerKeys() == [key])
        await #expect(throws: RegisterError.keyIDTaken(key.keyID)) { try await store.addProviderKey(key) }
    }

    package func `a removed app is gone, and its topic stays its team's`() async throws {
        let app = try await store.addApp(topic: topic, team: team, policy: MailboxPolicy(), at: now)
        let device = try #require(DeviceID(5))
        _ = try await store.register(device: device, app: app.id, environment: .sandbox, at: now)
        let later = now.adding(milliseconds: 5)
        #expect(try await store.removeApp(topic: topic, at: later) == app)
        #expect(try await store.removeApp(topic: topic, at: later) == nil)
        #expect(try await store.apps().isEmpty)
        #expect(try await store.registration(device: device, app: app.id, environment: .sandbox)?.endedAt == later)
        await #expect(throws: RegisterError.topicKept(topic, for: team)) {
            try await store.addApp(
                topic: topic, team: TeamID(rawValue: "OTHER12345"), policy: MailboxPolicy(), at: later)
        }
        let again = try await store.addApp(topic: topic, team: team, policy: MailboxPolicy(limit: 5), at: later)
        #expect(try await store.apps() == [again])
        #expect(try await store.registration(device: device, app: app.id, environment: .sandbox)?.endedAt == later)
    }

    package func `a revoked key is gone for good`() async throws {
        let key = ProviderKey(keyID: KeyID(rawValue: "KEY1234567"), team: team, publicKeyPEM: "PEM", createdAt: now)
        try await store.addProviderKey(key)
        #expect(try await store.revokeProviderKey(KeyID(rawValue: "KEY1234567"), at: now) == key)
        #expect(try await store.revokeProviderKey(KeyID(rawValue: "KEY1234567"), at: now) == nil)
        #expect(try await store.revokeProviderKey(KeyID(rawValue: "OTHER12345"), at: now) == nil)
        #expect(try await store.providerKeys().isEmpty)
        await #expect(throws: RegisterError.keyIDTaken(key.keyID)) { try await store.addProviderKey(key) }
    }

    package func `a revoked device has no secret and no registration`() async throws {
        let device = try #require(DeviceID(5))
        let app = try await store.addApp(topic: topic, team: team, policy: MailboxPolicy(), at: now)
        #expect(try await store.addDevice(device, secretHash: [1], at: now))
        _ = try await store.register(device: device, app: app.id, environment: .sandbox, at: now)
        let later = now.adding(milliseconds: 5)
        #expect(try await store.revokeDevice(device, at: later))
        #expect(try await !store.revokeDevice(device, at: later))
        #expect(try await store.secretHash(of: device) == nil)
        #expect(try await store.registration(device: device, app: app.id, environment: .sandbox)?.endedAt == later)
        #expect(try await store.devicesRevoked(since: later) == [device])
        #expect(try await store.devicesRevoked(since: later.adding(milliseconds: 1)).isEmpty)
    }

    package func `every change of the register is a new version`() async throws {
        var versions: Set<UInt64> = [store.registerVersion]
        _ = try await store.addApp(topic: topic, team: team, policy: MailboxPolicy(), at: now)
        versions.insert(store.registerVersion)
        try await store.addProviderKey(
            ProviderKey(keyID: KeyID(rawValue: "KEY1234567"), team: team, publicKeyPEM: "PEM", createdAt: now))
        versions.insert(store.registerVersion)
        _ = try await store.revokeProviderKey(KeyID(rawValue: "KEY1234567"), at: now)
        versions.insert(store.registerVersion)
        _ = try await store.removeApp(topic: topic, at: now)
        versions.insert(store.registerVersion)
        let device = try #require(DeviceID(5))
        #expect(try await store.addDevice(device, secretHash: [1], at: now))
        _ = try await store.revokeDevice(device, at: now)
        versions.insert(store.registerVersion)
        #expect(versions.count == 6)
    }

    package func `a device id is given once`() async throws {
        let device = try #require(DeviceID(5))
        #expect(try await store.addDevice(device, secretHash: [1], at: now))
        #expect(try await !store.addDevice(device, secretHash: [2], at: now))
        #expect(try await store.secretHash(of: device) == [1])
        let unknown = try #require(DeviceID(6))
        #expect(try await store.secretHash(of: unknown) == nil)
    }

    package func `a registration keeps its generation until it has ended`() async throws {
        let device = try #require(DeviceID(5))
        let app = AppID(rawValue: 1)
        let first = try await store.register(device: device, app: app, environment: .sandbox, at: now)
        #expect(first == Registration(generation: 0, endedAt: nil, previousEndedAt: nil))
        #expect(try await store.register(device: device, app: app, environment: .sandbox, at: now) == first)
        #expect(try await store.registration(device: device, app: app, environment: .production) == nil)
        let end = now.adding(milliseconds: 5)
        #expect(
            try await store.endRegistration(device: device, app: app, environment: .sandbox, at: end)
                == Registration(generation: 0, endedAt: end, previousEndedAt: nil))
        #expect(
            try await store.endRegistration(
                device: device, app: app, environment: .sandbox, at: end.adding(milliseconds: 9))?.endedAt == end)
        let second = try await store.register(device: device, app: app, environment: .sandbox, at: end)
        #expect(second == Registration(generation: 1, endedAt: nil, previousEndedAt: end))
        #expect(try await store.registration(device: device, app: app, environment: .sandbox) == second)
        let subjects = [PushEnvironment.production, .sandbox].map { environment in
            TokenSubject(cell: 0, device: device, app: app, environment: environment, generation: 0)
        }
        #expect(try await store.registrations(of: subjects) == [nil, second])
        let active = [TokenSubject(cell: 3, device: device, app: app, environment: .sandbox, generation: 1)]
        #expect(try await store.activeRegistrations(of: [device, try #require(DeviceID(77))], cell: 3) == active)
        _ = try await store.endRegistration(device: device, app: app, environment: .sandbox, at: end)
        #expect(try await store.activeRegistrations(of: [device], cell: 3).isEmpty)
        #expect(try await store.endRegistration(device: device, app: app, environment: .production, at: end) == nil)
    }

    package func `a published key is its registration's until that ends`() async throws {
        let device = try #require(DeviceID(5))
        let app = try await store.addApp(topic: topic, team: team, policy: MailboxPolicy(), at: now).id
        _ = try await store.addDevice(device, secretHash: [1], at: now)
        func key(_ environment: PushEnvironment = .sandbox) async throws -> RecipientPublicKey? {
            try await store.encryptionKey(device: device, app: app, environment: environment)
        }
        func publish(_ key: RecipientPublicKey?) async throws {
            _ = try await store.register(device: device, app: app, environment: .sandbox, at: now)
            try await store.setEncryptionKey(key, device: device, app: app, environment: .sandbox, at: now)
        }
        #expect(try await key() == nil)
        let (first, second) = (RecipientPrivateKey().publicKey, RecipientPrivateKey().publicKey)
        try await publish(first)
        #expect(try await key() == first)
        #expect(try await key(.production) == nil)
        try await publish(second)
        #expect(try await key() == second)
        try await publish(nil)
        #expect(try await key() == nil)
        try await publish(first)
        _ = try await store.endRegistration(device: device, app: app, environment: .sandbox, at: now)
        #expect(try await key() == nil)
        try await publish(first)
        _ = try await store.removeApp(topic: topic, at: now)
        #expect(try await key() == nil)
        try await publish(first)
        _ = try await store.revokeDevice(device, at: now)
        #expect(try await key() == nil)
    }
}
