import APNsWire
import AldabaTestSupport
import Crypto
import HTTPWire
import Mailbox
import PushModel
import ServerCore
import StoreSQLite
import Testing

@testable import ProviderEndpoint

/// The gate's checks one by one, and their order: of two faults the earlier check's is answered.
@Suite struct DevicePushGateTests {
    private static let team = TeamID(rawValue: "TEAM123456")
    private static let now = Timestamp(seconds: 1_780_272_000)

    /// A gate over a store with one app and one registration, everything already in memory.
    private struct World {
        let folder: TemporaryFolder
        let store: SQLiteStore
        let gate: DevicePushGate
        var fields: [(String, String)]
        var body = Array(#"{"aps":{"alert":"Hi"}}"#.utf8)

        mutating func set(_ name: String, _ value: String?) {
            fields.removeAll { $0.0 == name }
            if let value { fields.append((name, value)) }
        }
    }

    private func makeWorld() async throws -> World {
        let folder = try TemporaryFolder()
        let store = try SQLiteStore(path: folder.path("server.sqlite"))
        let key = P256.Signing.PrivateKey()
        try await store.addProviderKey(
            ProviderKey(
                keyID: "KEY1234567", team: Self.team, publicKeyPEM: key.publicKey.pemRepresentation,
                createdAt: Self.now))
        let app = try await store.addApp(
            topic: Topic(rawValue: "com.example.todo"), team: Self.team, policy: MailboxPolicy(), at: Self.now)
        _ = try await store.addApp(
            topic: Topic(rawValue: "com.example.other"), team: Self.team, policy: MailboxPolicy(), at: Self.now)
        _ = try await store.addApp(
            topic: Topic(rawValue: "com.foreign.app"), team: TeamID(rawValue: "OTHER12345"), policy: MailboxPolicy(),
            at: Self.now)
        let device = try #require(DeviceID(7))
        _ = try await store.register(device: device, app: app.id, environment: .sandbox, at: Self.now)
        let clock: @Sendable () -> Timestamp = { Self.now }
        let credentials = CredentialDirectory(store: store, clock: clock)
        let apps = AppDirectory(store: store, clock: clock)
        let sealer = try #require(DeviceTokenSealer(keys: [[UInt8](repeating: 1, count: 32)]))
        let tokens = TokenDirectory(store: store, sealer: sealer)
        try await credentials.reload()
        try await apps.reload()
        let token = try sealer.seal(
            TokenSubject(cell: 0, device: device, app: app.id, environment: .sandbox, generation: 0))
        _ = try await tokens.find(token)
        let bearer = try ProviderToken.make(key: key, keyID: "KEY1234567", team: Self.team, issuedAt: Self.now)
        return World(
            folder: folder, store: store,
            gate: DevicePushGate(credentials: credentials, apps: apps, tokens: tokens, environment: .sandbox),
            fields: [
                (":method", "POST"), (":path", "/3/device/\(token)"), ("authorization", "bearer \(bearer)"),
                ("apns-topic", "com.example.todo"),
            ])
    }

    private func decide(_ world: World) -> DevicePushGate.Decision {
        var block = HeaderBlock()
        for (name, value) in world.fields { block.append(name, value) }
        var memory = DevicePushGate.Memory()
        return world.gate.decide(
            APNsRequestHead(block), body: world.body, bodyIsTooLarge: false, found: nil, memory: &memory,
            now: Self.now, ticket: 1)
    }

    private func reason(_ world: World) -> APNsReason? {
        guard case .refuse(let refusal, _) = decide(world) else { return nil }
        return refusal.reason
    }

    @Test func `a right request is accepted as it was sent`() async throws {
        var world = try await makeWorld()
        world.set("apns-collapse-id", "c")
        guard case .accept(let acceptance) = decide(world) else {
            Issue.record("the request was not accepted")
            return
        }
        #expect(acceptance.subject.device == DeviceID(7))
        #expect(acceptance.notification.payload == world.body)
        #expect(acceptance.notification.collapseID == "c")
    }

    /// Faults in the order in which they are looked for; `nil` takes the field away.
    static let faults: [(field: String, value: String?, reason: APNsReason)] = [
        (":method", "GET", .methodNotAllowed),
        (":path", "/3/devices", .badPath),
        ("authorization", nil, .missingProviderToken),
        ("apns-priority", "7", .badPriority),
        ("apns-topic", nil, .missingTopic),
        ("apns-topic", "com.unknown", .topicDisallowed),
        ("apns-topic", "com.foreign.app", .topicDisallowed),
        ("body", "{", .payloadEmpty),
        (":path", "/3/device/", .missingDeviceToken),
        (":path", "/3/device/zz", .badDeviceToken),
        ("apns-topic", "com.example.other", .deviceTokenNotForTopic),
    ]

    private func apply(_ fault: (field: String, value: String?, reason: APNsReason), to world: inout World) {
        if fault.field == "body" {
            world.body = Array((fault.value ?? "").utf8)
        } else {
            world.set(fault.field, fault.value)
        }
    }

    @Test(arguments: faults.indices)
    func `each fault alone has its reason`(index: Int) async throws {
        var world = try await makeWorld()
        apply(Self.faults[index], to: &world)
        // A topic that memory does not know is looked up first.
        if case .lookUp(.topic(let topic)) = decide(world) { _ = try await world.gate.apps.find(topic) }
        #expect(reason(world) == Self.faults[index].reason)
    }

    @Test func `of two faults the earlier check's is answered`() async throws {
        for earlier in Self.faults.indices {
            for later in Self.faults.indices where later > earlier {
                guard Self.faults[earlier].field != Self.faults[later].field else { continue }
                var world = try await makeWorld()
                apply(Self.faults[later], to: &world)
                apply(Self.faults[earlier], to: &world)
                if case .lookUp(.topic(let topic)) = decide(world) { _ = try await world.gate.apps.find(topic) }
                #expect(
                    reason(world) == Self.faults[earlier].reason, "\(Self.faults[earlier]) and \(Self.faults[later])")
            }
        }
    }

    @Test func `what memory does not know is looked up, not refused`() async throws {
        var world = try await makeWorld()
        world.set("apns-topic", "com.new.app")
        guard case .lookUp(.topic(let topic)) = decide(world) else {
            Issue.record("an unknown topic was not looked up")
            return
        }
        #expect(topic.rawValue == "com.new.app")
    }

    @Test func `a refusal names its requester only behind a valid credential`() async throws {
        var world = try await makeWorld()
        world.set("apns-priority", "7")
        guard case .refuse(_, let requester?) = decide(world) else {
            Issue.record("the refusal names nobody")
            return
        }
        #expect(requester.team == Self.team)
        #expect(requester.topic == "com.example.todo")
        world.set("authorization", "bearer x.y.z")
        guard case .refuse(_, nil) = decide(world) else {
            Issue.record("a refusal without a valid credential names somebody")
            return
        }
    }

    @Test func `an ended registration is 410 with the time of its end`() async throws {
        let world = try await makeWorld()
        let device = try #require(DeviceID(7))
        let end = Self.now.adding(milliseconds: 123)
        let app = try #require(world.gate.apps.app(AppID(rawValue: 1)))
        let ended = try #require(
            try await world.store.endRegistration(device: device, app: app.id, environment: .sandbox, at: end))
        try world.gate.tokens.registrationIs(
            ended,
            of: TokenSubject(cell: 0, device: device, app: app.id, environment: .sandbox, generation: 0))
        guard case .lookUp(.token(let token)) = decide(world) else {
            Issue.record("the token was not looked up again")
            return
        }
        _ = try await world.gate.tokens.find(token)
        guard case .refuse(let refusal, _) = decide(world) else {
            Issue.record("an ended registration was accepted")
            return
        }
        #expect(refusal.reason == .unregistered)
        #expect(refusal.timestamp == end.rawValue)
    }
}
