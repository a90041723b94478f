import APNsProtocol
import AldabaTestSupport
import CertificateTestSupport
import PushCore
import PushServer
import Testing

@testable import APNsFrontend

/// The gate's checks of providers that show a certificate.
@Suite struct CertificateGateTests {
    private let topic = Topic(rawValue: "com.example.todo")

    private func world(
        _ environments: Set<PushEnvironment> = [.sandbox], _ services: [String] = []
    ) async throws -> (ProviderWorld, [UInt8]) {
        var world = try await ProviderWorld()
        world.set("authorization", nil)
        let certificate = try TestAuthority(now: ProviderWorld.now).certificate(
            CertificateProfile(
                bundleID: topic, team: ProviderWorld.team, environments: environments, services: services),
            now: ProviderWorld.now)
        try await world.store.addProviderCertificate(
            RegisteredCertificate(
                certificateID: "CERT123456", team: ProviderWorld.team, certificate: certificate,
                createdAt: ProviderWorld.now))
        return (world, certificate.der)
    }

    /// Asks the gate on a connection with a certificate, reading for it what it lacks.
    ///
    /// - Returns: The reason of a refusal; `nil` when it was accepted.
    private func reason(_ world: ProviderWorld, _ memory: inout DevicePushGate.Memory) async throws -> APNsReason? {
        var block = HeaderBlock()
        for (name, value) in world.fields { block.append(name, value) }
        var found = DevicePushGate.Found()
        while true {
            let decision = world.gate.decide(
                APNsRequestHead(block), body: world.body, fault: nil, found: found, memory: &memory, ticket: 1)
            switch decision {
            case .refuse(let refusal, _), .refuseCredential(let refusal, _): return refusal.reason
            case .accept: return nil
            case .lookUp(let lookUp): found = try await world.gate.found(lookUp, after: found)
            }
        }
    }

    private func reason(_ world: ProviderWorld, _ der: [UInt8]) async throws -> APNsReason? {
        var memory = DevicePushGate.Memory()
        memory.certificate = CertificateDirectory.Memory(der: der)
        return try await reason(world, &memory)
    }

    @Test func `a certificate needs no token, and implies its one topic`() async throws {
        var (world, der) = try await world()
        #expect(try await reason(world, der) == nil)
        world.set("apns-topic", nil)
        #expect(try await reason(world, der) == nil)
    }

    @Test func `a certificate of several topics implies none`() async throws {
        var (world, der) = try await world([.sandbox], ["voip"])
        world.set("apns-topic", nil)
        #expect(try await reason(world, der) == .missingTopic)
    }

    @Test(arguments: ["bearer x.y.z", "bearer of a token", "basic"])
    func `with a certificate no token is looked at`(authorization: String) async throws {
        var (world, der) = try await world()
        world.set("authorization", authorization)
        #expect(try await reason(world, der) == nil)
    }

    @Test func `a certificate that does not count is the answer, also beside a right token`() async throws {
        let world = try await ProviderWorld()
        #expect(try await reason(world, [1, 2, 3]) == .badCertificate)
    }

    @Test(
        arguments: [
            ("apns-topic", "com.example.other", .topicDisallowed), ("apns-topic", "com.foreign.app", .topicDisallowed),
            ("apns-topic", "com.example.todo.voip", .topicDisallowed), ("apns-topic", "com example", .badTopic),
            ("apns-push-type", "voip", .invalidPushType),
        ] as [(String, String, APNsReason)])
    func `a certificate does not go beyond its topics`(field: String, value: String, answer: APNsReason) async throws {
        var (world, der) = try await world()
        world.set(field, value)
        #expect(try await reason(world, der) == answer)
    }

    @Test(
        arguments: [
            ("alert", "", nil), ("background", "", nil), ("voip", ".voip", nil),
            ("fileprovider", ".pushkit.fileprovider", nil), ("complication", ".complication", nil),
            ("location", ".location-query", .topicDisallowed),
            ("liveactivity", ".push-type.liveactivity", .topicDisallowed),
            ("widgets", ".push-type.widgets", .topicDisallowed),
        ] as [(String, String, APNsReason?)])
    func `the newer push types take a token`(type: String, suffix: String, answer: APNsReason?) async throws {
        var (world, der) = try await world([.sandbox], ["voip", "complication"])
        world.set("apns-push-type", type)
        world.set("apns-topic", "com.example.todo\(suffix)")
        #expect(try await reason(world, der) == answer)
    }

    @Test func `a certificate of the other environment is told so`() async throws {
        let (world, der) = try await world([.production])
        #expect(try await reason(world, der) == .badCertificateEnvironment)
    }

    @Test func `a revocation counts at the next request of the same connection`() async throws {
        let (world, der) = try await world()
        var memory = DevicePushGate.Memory()
        memory.certificate = CertificateDirectory.Memory(der: der)
        #expect(try await reason(world, &memory) == nil)
        _ = try await world.store.revokeProviderCertificate("CERT123456", at: ProviderWorld.now)
        #expect(try await reason(world, &memory) == .badCertificate)
    }

    @Test func `an app without the capability of push takes none`() async throws {
        let (world, der) = try await world()
        _ = try await world.store.updateApp(topic: topic, name: nil, isPushEnabled: false)
        #expect(try await reason(world, der) == .topicDisallowed)
        _ = try await world.store.updateApp(topic: topic, name: nil, isPushEnabled: true)
        #expect(try await reason(world, der) == nil)
    }
}
