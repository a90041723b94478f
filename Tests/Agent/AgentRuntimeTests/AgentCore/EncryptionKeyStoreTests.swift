import AgentProtocol
import AldabaTestSupport
import DeviceTestSupport
import PushCore
import Testing

@testable import AgentEngine
@testable import AgentRuntime

/// The keys by which senders encrypt to apps, as the agent's store makes, keeps and renews them.
struct EncryptionKeyStoreTests {
    private let folder: TemporaryFolder
    private let store: AgentStore
    private let app: BundleID = "com.example.todo"
    private let day: Int64 = 86_400_000

    init() throws {
        folder = try TemporaryFolder()
        store = try AgentStore.open(path: folder.path("agent.sqlite"), now: noon).store
    }

    /// The app registers, and the server answers.
    private func register(days: Int64 = 0, _ environment: PushEnvironment = .sandbox) throws -> RecipientPublicKey {
        let now = noon.adding(milliseconds: days * day)
        let key = try store.keyToPublish(app: app, environment: environment, now: now)
        try store.save("token", app: app, team: TeamID(rawValue: "TEAM000001"), environment: environment)
        try store.keyPublished(app: app, environment: environment, now: now)
        return key
    }

    private func keys(_ environment: PushEnvironment = .sandbox) throws -> [RecipientPublicKey] {
        try store.read { try $0.encryptionKeys(app: app, environment: environment) }.map(\.publicKey)
    }

    @Test func `a key that no server has yet is published by the next attempt`() throws {
        let key = try store.keyToPublish(app: app, environment: .sandbox, now: noon)
        #expect(try store.keyToPublish(app: app, environment: .sandbox, now: noon.adding(milliseconds: 9 * day)) == key)
        #expect(try keys() == [key])
    }

    @Test func `a registration has a new key, unless it repeats one of the same day`() throws {
        let first = try register()
        #expect(try register() == first)
        let second = try register(days: 1)
        #expect(second != first)
        #expect(try keys() == [second, first])
    }

    @Test func `a registration after its end has a new key at once`() throws {
        let first = try register()
        try store.save(nil, app: app, team: TeamID(rawValue: "TEAM000001"), environment: .sandbox)
        let second = try register()
        #expect(try keys() == [second, first])
    }

    @Test func `a clock that was set back does not keep a key for ever`() throws {
        let first = try register(days: 100)
        #expect(try register() != first)
    }

    @Test func `an older key opens messages for thirty days after a newer one was published`() throws {
        let first = try register()
        let second = try register(days: 1)
        try store.deleteOldKeys(now: noon.adding(milliseconds: 31 * day))
        #expect(try keys() == [second, first])
        try store.deleteOldKeys(now: noon.adding(milliseconds: 31 * day + 1))
        #expect(try keys() == [second])
    }

    @Test func `a key that was never published takes no other's place`() throws {
        let first = try register()
        _ = try store.keyToPublish(app: app, environment: .sandbox, now: noon.adding(milliseconds: 2 * day))
        try store.deleteOldKeys(now: noon.adding(milliseconds: 400 * day))
        #expect(try keys().contains(first))
    }

    @Test func `an app that registers every day has some thirty keys`() throws {
        for days in 0..<100 { _ = try register(days: Int64(days)) }
        #expect(try keys().count <= 32)
    }

    @Test func `each environment has keys of its own`() throws {
        let key = try register()
        #expect(try register(.production) != key)
        #expect(try keys() == [key])
    }

    @Test func `a removed app's keys go with it`() throws {
        _ = try register()
        _ = try store.commit([.appRemoved(app: app, at: noon)])
        #expect(try keys().isEmpty)
    }
}
