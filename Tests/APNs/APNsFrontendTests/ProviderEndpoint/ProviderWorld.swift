import APNsProtocol
import AldabaTestSupport
import Crypto
import Networking
import PushCore
import PushServer
import StoreMemory
import Testing

@testable import APNsFrontend

/// A store with a few apps and a device of both environments, and the directories over it; nothing in memory yet.
struct ProviderWorld {
    static let keyID = KeyID(rawValue: "KEY1234567")
    static let team = TeamID(rawValue: "TEAM123456")
    static let now = Timestamp(seconds: 1_780_272_000)

    let store: MemoryStore
    let app: RegisteredApp
    let device: DeviceID
    let gate: DevicePushGate
    /// The header fields of a right request.
    var fields: [(String, String)]
    var body = Array(#"{"aps":{"alert":"Hi"}}"#.utf8)
    var fault: HTTP2Request.Fault?

    init() async throws {
        store = MemoryStore()
        let key = P256.Signing.PrivateKey()
        try await store.addProviderKey(
            ProviderKey(
                keyID: Self.keyID, team: Self.team, publicKeyPEM: key.publicKey.pemRepresentation,
                createdAt: Self.now))
        app = try await store.addApp(
            topic: Topic(rawValue: "com.example.todo"), team: Self.team, policy: MailboxPolicy(limit: 100_000),
            at: Self.now)
        let others = [
            ("com.example.other", Self.team), ("com.example.call.voip", Self.team), ("com.example.call", Self.team),
            ("com.foreign.app", TeamID(rawValue: "OTHER12345")),
        ]
        for (topic, team) in others {
            _ = try await store.addApp(
                topic: Topic(rawValue: topic), team: team, policy: MailboxPolicy(), at: Self.now)
        }
        device = try #require(DeviceID(7))
        for environment in [PushEnvironment.sandbox, .production] {
            _ = try await store.register(device: device, app: app.id, environment: environment, at: Self.now)
        }
        let sealer = try #require(DeviceTokenSealer(keys: [[UInt8](repeating: 1, count: 32)]))
        let clock: @Sendable () -> Timestamp = { Self.now }
        gate = DevicePushGate(
            credentials: CredentialDirectory(store: store, clock: clock),
            certificates: CertificateDirectory(store: store, clock: clock),
            apps: AppDirectory(store: store, clock: clock), tokens: TokenDirectory(store: store, sealer: sealer),
            environment: .sandbox)
        let bearer = try ProviderToken.make(key: key, keyID: Self.keyID, team: Self.team, issuedAt: Self.now)
        fields = [(":method", "POST"), (":path", ""), ("authorization", "bearer \(bearer)")]
        fields.append(("apns-topic", "com.example.todo"))
        set(":path", "/3/device/\(try token())")
    }

    func subject(_ environment: PushEnvironment = .sandbox) -> TokenSubject {
        TokenSubject(cell: 0, device: device, app: app.id, environment: environment, generation: 0)
    }

    func token(_ environment: PushEnvironment = .sandbox) throws -> DeviceToken {
        try gate.tokens.sealer.seal(subject(environment))
    }

    /// Changes a field of the request in its place; `nil` takes it away.
    mutating func set(_ name: String, _ value: String?) {
        let index = fields.firstIndex { $0.0 == name }
        fields.removeAll { $0.0 == name }
        if let value { fields.insert((name, value), at: index ?? fields.count) }
    }

    /// A JSON object of so many bytes.
    static func payload(bytes count: Int) -> [UInt8] {
        let frame = Array(#"{"a":""}"#.utf8)
        return frame.dropLast(2) + [UInt8](repeating: UInt8(ascii: "x"), count: count - frame.count) + frame.suffix(2)
    }
}

/// One thing that is wrong with a request.
struct Fault: Sendable, CustomTestStringConvertible {
    /// What it changes; of two faults of one place only the last would be there.
    var place: String
    var reason: APNsReason
    var apply: @Sendable (inout ProviderWorld) throws -> Void

    var testDescription: String { "\(place): \(reason)" }

    init(_ place: String, _ reason: APNsReason, _ apply: @escaping @Sendable (inout ProviderWorld) throws -> Void) {
        self.place = place
        self.reason = reason
        self.apply = apply
    }

    /// A field with a wrong value, or without one.
    init(_ field: String, _ value: String?, _ reason: APNsReason) {
        self.init(field, reason) { $0.set(field, value) }
    }

    /// All of them, in the order in which they are looked for.
    static let all: [Fault] = [
        Fault("head", .badRequestParams) { $0.fault = .headersTooLarge },
        Fault(":method", "GET", .methodNotAllowed),
        Fault(":path", "/3/devices", .badPath),
        Fault("authorization", nil, .missingProviderToken),
        Fault("authorization", "bearer x.y.z", .invalidProviderToken),
        Fault("twice", .duplicateHeaders) { $0.fields += [("apns-priority", "10"), ("apns-priority", "10")] },
        Fault("apns-id", "not-a-uuid", .badMessageId),
        Fault("apns-expiration", "soon", .badExpirationDate),
        Fault("apns-priority", "7", .badPriority),
        Fault("apns-collapse-id", String(repeating: "c", count: 65), .badCollapseId),
        Fault("apns-push-type", "loud", .invalidPushType),
        Fault("apns-topic", nil, .missingTopic),
        Fault("apns-topic", "com example", .badTopic),
        Fault("apns-push-type", "voip", .invalidPushType),
        Fault("apns-topic", "com.unknown", .topicDisallowed),
        Fault("apns-topic", "com.example.todo.voip-pt", .topicDisallowed),
        Fault("apns-topic", "com.foreign.app", .topicDisallowed),
        Fault("body", .payloadTooLarge) { $0.fault = .bodyTooLarge },
        Fault("body", .badRequestPayload) { $0.fault = .wrongLength },
        Fault("body", .payloadTooLarge) { $0.body = ProviderWorld.payload(bytes: 4097) },
        Fault("body", .payloadEmpty) { $0.body = [UInt8(ascii: "{")] },
        Fault("body", .payloadEmpty) { $0.body = Array(#"{"aps":{"alert":"x"},"g":1e400}"#.utf8) },
        Fault(":path", "/3/device/", .missingDeviceToken),
        Fault(":path", "/3/device/zz", .badDeviceToken),
        Fault(":path", "/3/device/" + String(repeating: "ab", count: 32), .badDeviceToken),
        Fault(":path", .badDeviceToken) { $0.set(":path", "/3/device/\(try $0.token(.production))") },
        Fault("apns-topic", "com.example.other", .deviceTokenNotForTopic),
    ]
}
