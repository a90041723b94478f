import APNsProtocol
import CertificateTestSupport
import Networking
import PushCore
import PushServer
import Testing

@testable import APNsFrontend

/// The checks of requests about channels one by one, and their order.
@Suite struct BroadcastGateTests {
    private static let channel = "AAECAwQFBgcICQoLDA0ODw=="
    private static let prefix = "/4/broadcasts/apps/"

    /// All faults of a message to a channel, in the order in which they are looked for.
    private static let faults: [Fault] = [
        Fault(":method", "PUT", .methodNotAllowed),
        Fault("authorization", nil, .missingProviderToken),
        Fault("authorization", "bearer x.y.z", .invalidProviderToken),
        Fault("head", .badRequestParams) { $0.fault = .headersTooLarge },
        Fault("head", .idleTimeout) { $0.fault = .bodyLate },
        Fault("head", .payloadTooLarge) { $0.fault = .bodyTooLarge },
        Fault("head", .badRequestPayload) { $0.fault = .wrongLength },
        Fault("twice", .duplicateHeaders) { $0.fields += [("apns-priority", "10"), ("apns-priority", "10")] },
        Fault("apns-request-id", "not-a-uuid", .badMessageId),
        Fault("apns-channel-id", nil, .missingChannelId),
        Fault("apns-channel-id", "news", .badChannelId),
        Fault("apns-push-type", nil, .missingPushType),
        Fault("apns-push-type", "alert", .invalidPushType),
        Fault("apns-expiration", "soon", .badExpirationDate),
        Fault("apns-priority", "7", .badPriority),
        Fault("body", .payloadEmpty) { $0.body = [] },
        Fault("body", .payloadTooLarge) { $0.body = ProviderWorld.payload(bytes: 5121) },
        Fault("body", .badRequestPayload) { $0.body = [UInt8(ascii: "{")] },
        Fault(":path", prefix, .badPath),
        Fault(":path", prefix + "com.example.todo?a=b", .badPath),
        Fault(":path", prefix + "com%20example", .badPath),
        Fault(":path", prefix + "com.example.todo.voip", .topicDisallowed),
        Fault(":path", prefix + "com.example.todo.push-type.liveactivity", .topicDisallowed),
        Fault(":path", prefix + "com.unknown", .topicMismatch),
        Fault(":path", prefix + "com.foreign.app", .topicMismatch),
    ]

    /// A right message to a channel.
    private func world() async throws -> ProviderWorld {
        var world = try await ProviderWorld()
        world.set(":path", Self.prefix + "com.example.todo")
        world.set("apns-topic", nil)
        world.fields += [("apns-channel-id", Self.channel), ("apns-push-type", "liveactivity")]
        return world
    }

    /// Asks the gate, reading for it what it lacks.
    private func decide(
        _ world: ProviderWorld, _ memory: inout DevicePushGate.Memory
    ) async throws -> DevicePushGate.BroadcastDecision {
        var block = HeaderBlock()
        for (name, value) in world.fields { block.append(name, value) }
        let path = world.fields.first { $0.0 == ":path" }?.1 ?? ""
        let call = BroadcastCall(
            path: try #require(BroadcastPath(Array(path.utf8)[...])), headers: block, body: world.body,
            fault: world.fault, stream: 1)
        var found = DevicePushGate.Found()
        while true {
            let decision = world.gate.decide(call, found: found, memory: &memory)
            guard case .lookUp(let lookUp) = decision else { return decision }
            found = try await world.gate.found(lookUp, after: found)
        }
    }

    /// - Parameter der: The certificate of the connection, if any.
    /// - Returns: The reason of a refusal; `nil` when the request may be performed.
    private func reason(_ world: ProviderWorld, certificate der: [UInt8]? = nil) async throws -> APNsReason? {
        var memory = DevicePushGate.Memory()
        memory.certificate = der.map { CertificateDirectory.Memory(der: $0) }
        switch try await decide(world, &memory) {
        case .refuse(let refusal, _), .refuseCredential(let refusal, _): return refusal.reason
        case .perform, .lookUp: return nil
        }
    }

    @Test func `a right request is performed for its app`() async throws {
        let world = try await world()
        var memory = DevicePushGate.Memory()
        guard case .perform(.publish(let id, let fields), let app) = try await decide(world, &memory) else {
            Issue.record("the request was not performed")
            return
        }
        #expect(id.description == Self.channel)
        #expect(fields.payload == world.body)
        #expect(app.id == world.app.id)
    }

    @Test(arguments: faults)
    func `each fault alone has its reason`(fault: Fault) async throws {
        var world = try await world()
        try fault.apply(&world)
        #expect(try await reason(world) == fault.reason)
    }

    @Test(arguments: faults.indices)
    func `of two faults the earlier check's is answered`(index: Int) async throws {
        let earlier = Self.faults[index]
        let world = try await world()
        for later in Self.faults[(index + 1)...] where later.place != earlier.place {
            var faulty = world
            try later.apply(&faulty)
            try earlier.apply(&faulty)
            #expect(try await reason(faulty) == earlier.reason, "\(later) as well")
        }
    }

    @Test func `a refusal names its requester only behind a valid credential`() async throws {
        var world = try await world()
        world.set("apns-priority", "7")
        var memory = DevicePushGate.Memory()
        guard case .refuse(_, let requester?) = try await decide(world, &memory) else {
            Issue.record("the refusal names nobody")
            return
        }
        #expect(requester.team == ProviderWorld.team && requester.topic == "com.example.todo")
        world.set("authorization", "bearer x.y.z")
        guard case .refuseCredential(_, nil) = try await decide(world, &memory) else {
            Issue.record("a refusal of a token that is none names a key")
            return
        }
    }

    // MARK: Certificates

    private func certificate(
        of world: ProviderWorld, _ environments: Set<PushEnvironment> = [.sandbox]
    ) async throws -> [UInt8] {
        let certificate = try TestAuthority(now: ProviderWorld.now).certificate(
            CertificateProfile(
                bundleID: Topic(rawValue: "com.example.todo"), team: ProviderWorld.team, environments: environments),
            now: ProviderWorld.now)
        try await world.store.addProviderCertificate(
            RegisteredCertificate(
                certificateID: "CERT123456", team: ProviderWorld.team, certificate: certificate,
                createdAt: ProviderWorld.now))
        return certificate.der
    }

    @Test func `a certificate needs no token, and is its app's alone`() async throws {
        var world = try await world()
        let der = try await certificate(of: world)
        world.set("authorization", nil)
        #expect(try await reason(world, certificate: der) == nil)
        for other in ["com.example.other", "com.example.call", "com.foreign.app", "com.unknown"] {
            world.set(":path", Self.prefix + other)
            #expect(try await reason(world, certificate: der) == .topicMismatch, "\(other)")
        }
    }

    @Test func `a certificate that does not count is the answer, also beside a right token`() async throws {
        let world = try await world()
        #expect(try await reason(world, certificate: [1, 2, 3]) == .badCertificate)
        let production = try await certificate(of: world, [.production])
        #expect(try await reason(world, certificate: production) == .badCertificateEnvironment)
        _ = try await world.store.revokeProviderCertificate("CERT123456", at: ProviderWorld.now)
        #expect(try await reason(world, certificate: production) == .badCertificate)
    }

    @Test func `an app without the capability of push is not enabled`() async throws {
        let world = try await world()
        _ = try await world.store.updateApp(topic: world.app.topic, name: nil, isPushEnabled: false)
        #expect(try await reason(world) == .featureNotEnabled)
        _ = try await world.store.updateApp(topic: world.app.topic, name: nil, isPushEnabled: true)
        #expect(try await reason(world) == nil)
    }
}
