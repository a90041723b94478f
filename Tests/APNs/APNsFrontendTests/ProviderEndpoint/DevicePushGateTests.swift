import APNsProtocol
import AldabaTestSupport
import Crypto
import Logging
import PushCore
import PushServer
import Testing

@testable import APNsFrontend

/// The gate's checks one by one, and their order: of two faults the earlier check's is answered.
@Suite struct DevicePushGateTests {
    /// Asks the gate, reading for it what it lacks.
    private func decide(_ world: ProviderWorld) async throws -> DevicePushGate.Decision {
        var found = DevicePushGate.Found()
        while true {
            let decision = decideFromMemory(world, found: found)
            guard case .lookUp(let lookUp) = decision else { return decision }
            found = try await world.gate.found(lookUp, after: found)
        }
    }

    private func decideFromMemory(
        _ world: ProviderWorld, found: DevicePushGate.Found = DevicePushGate.Found()
    ) -> DevicePushGate.Decision {
        var block = HeaderBlock()
        for (name, value) in world.fields { block.append(name, value) }
        var memory = DevicePushGate.Memory()
        return world.gate.decide(
            APNsRequestHead(block), body: world.body, fault: world.fault, found: found,
            memory: &memory, ticket: 1)
    }

    private func reason(_ world: ProviderWorld) async throws -> APNsReason? {
        switch try await decide(world) {
        case .refuse(let refusal, _), .refuseCredential(let refusal, _): return refusal.reason
        case .accept, .lookUp: return nil
        }
    }

    @Test func `a right request is accepted as it was sent`() async throws {
        var world = try await ProviderWorld()
        world.set("apns-collapse-id", "c")
        guard case .accept(let acceptance) = try await decide(world) else {
            Issue.record("the request was not accepted")
            return
        }
        #expect(acceptance.subject.device == DeviceID(7))
        #expect(acceptance.notification.content == .apns(world.body))
        #expect(acceptance.notification.collapseID == "c")
    }

    @Test(arguments: [(#"{"aps":{}}"#, false), (#"{"todo":{"aps":1}}"#, true), ("{}", true)])
    func `a payload without aps is accepted, and the timeline is told`(payload: String, isNoted: Bool) async throws {
        var world = try await ProviderWorld()
        world.body = Array(payload.utf8)
        guard case .accept(let acceptance) = try await decide(world) else {
            Issue.record("the request was not accepted")
            return
        }
        #expect((acceptance.note != nil) == isNoted)
    }

    @Test func `a payload that a device could not read is refused with the place`() async throws {
        var world = try await ProviderWorld()
        world.body = Array(#"{"aps":{"alert":"x"},"g":1e400}"#.utf8)
        guard case .refuse(let refusal, _) = try await decide(world) else {
            Issue.record("the request was not refused")
            return
        }
        #expect(refusal.note?.contains("byte 25: number out of range") == true)
    }

    @Test func `a token of an unknown key is accepted where that is wanted, and no forged one of a known key`()
        async throws
    {
        let world = try await ProviderWorld()
        let stranger = P256.Signing.PrivateKey()
        let unknown = KeyID(rawValue: "UNKNOWN123")
        func header(_ keyID: KeyID, issuedAt: Timestamp = ProviderWorld.now) throws -> ArraySlice<UInt8> {
            let token = try ProviderToken.make(
                key: stranger, keyID: keyID, team: TeamID(rawValue: "STRANGER01"), issuedAt: issuedAt)
            return ArraySlice("bearer \(token)".utf8)
        }
        let strict = CredentialDirectory(store: world.store, clock: { ProviderWorld.now })
        let lenient = CredentialDirectory(
            store: world.store, acceptsUnknownKeys: true, clock: { ProviderWorld.now })
        guard case .refused = try await strict.find(try header(unknown)) else {
            Issue.record("an unknown key was accepted")
            return
        }
        guard case .credential(let credential) = try await lenient.find(try header(unknown)) else {
            Issue.record("an unknown key was refused")
            return
        }
        #expect(credential.team == TeamID(rawValue: "STRANGER01"))
        for refused in [
            try header(ProviderWorld.keyID), try header(unknown, issuedAt: ProviderWorld.now - .seconds(7200)),
        ] {
            guard case .refused = try await lenient.find(refused) else {
                Issue.record("a forged or expired token was accepted")
                return
            }
        }
    }

    @Test(arguments: Fault.all)
    func `each fault alone has its reason`(fault: Fault) async throws {
        var world = try await ProviderWorld()
        try fault.apply(&world)
        #expect(try await reason(world) == fault.reason)
    }

    @Test(arguments: Fault.all.indices)
    func `of two faults the earlier check's is answered`(index: Int) async throws {
        let earlier = Fault.all[index]
        let world = try await ProviderWorld()
        for later in Fault.all[(index + 1)...] where later.place != earlier.place {
            var faulty = world
            try later.apply(&faulty)
            try earlier.apply(&faulty)
            #expect(try await reason(faulty) == earlier.reason, "\(later) as well")
        }
    }

    @Test(arguments: [
        "apns-id", "apns-topic", "apns-priority", "apns-push-type", "apns-expiration", "apns-collapse-id",
    ])
    func `an APNs field may stand once only`(name: String) async throws {
        var world = try await ProviderWorld()
        world.set(name, nil)
        world.fields += [(name, "1"), (name, "1")]
        #expect(try await reason(world) == .duplicateHeaders)
        world.set(name, nil)
        world.set("apns-topic", "com.example.todo")
        world.fields += [("x-other", "1"), ("x-other", "1")]
        #expect(try await reason(world) == nil)
    }

    @Test(
        arguments: [
            ("", nil, 4096, true), ("", nil, 4097, false), ("", "background", 4096, true),
            ("", "background", 4097, false), (".voip", "voip", 5120, true), (".voip", "voip", 5121, false),
            (".voip", nil, 5120, true), (".voip", nil, 5121, false), (".voip-ptt", "pushtotalk", 4097, false),
        ] as [(String, String?, Int, Bool)])
    func `a payload may have as many bytes as its push type allows`(
        suffix: String, type: String?, count: Int, isAccepted: Bool
    ) async throws {
        var world = try await ProviderWorld()
        world.set("apns-topic", "com.example.todo" + suffix)
        world.set("apns-push-type", type)
        world.body = ProviderWorld.payload(bytes: count)
        #expect(world.body.count == count)
        #expect(try await reason(world) == (isAccepted ? nil : .payloadTooLarge))
    }

    /// What a request to a topic comes to: the topic of the app and the push type, or the reason of a refusal.
    private func addressee(
        _ topic: String, _ type: String?, in world: ProviderWorld
    ) async throws -> (String, PushType?) {
        var request = world
        request.set("apns-topic", topic)
        request.set("apns-push-type", type)
        switch try await decide(request) {
        case .accept(let acceptance): return (acceptance.notification.topic.rawValue, acceptance.notification.pushType)
        case .refuse(let refusal, _), .refuseCredential(let refusal, _): return (refusal.reason.rawValue, nil)
        case .lookUp: return ("", nil)
        }
    }

    @Test(
        arguments: [
            ("com.example.todo.voip", "voip", .voip), ("com.example.todo.voip", nil, .voip),
            ("com.example.todo.push-type.liveactivity", "liveactivity", .liveactivity), ("com.example.todo", nil, nil),
        ] as [(String, String?, PushType?)])
    func `a topic with its push type's suffix is the app's own`(
        topic: String, type: String?, carried: PushType?
    ) async throws {
        var world = try await ProviderWorld()
        if type == "liveactivity" {
            // A Live Activity has a token of its own: the app's device token, and 32 digits behind it.
            world.set(":path", "/3/device/\(try world.token())\(String(repeating: "a1", count: 16))")
        }
        #expect(try await addressee(topic, type, in: world) == ("com.example.todo", carried))
    }

    @Test func `a topic without the suffix that its push type asks for is refused`() async throws {
        let world = try await ProviderWorld()
        #expect(try await addressee("com.example.todo", "voip", in: world) == ("InvalidPushType", nil))
        #expect(try await addressee("com.example.todo.voip", "liveactivity", in: world) == ("InvalidPushType", nil))
        #expect(try await addressee("com.example.todo.voip", "alert", in: world) == ("InvalidPushType", nil))
        #expect(try await addressee("com.foreign.app.voip", "voip", in: world) == ("TopicDisallowed", nil))
        #expect(try await addressee("com.unknown.voip", nil, in: world) == ("TopicDisallowed", nil))
    }

    /// A device token of `com.example.todo` is none of the other apps': that tells which app was found.
    @Test(
        arguments: [
            ("com.example.call.voip", "alert", "com.example.call.voip"),
            ("com.example.call.voip", nil, "com.example.call.voip"),
            ("com.example.call.voip", "voip", "com.example.call"),
            ("com.example.call.voip.voip", "voip", "com.example.call.voip"),
            ("com.example.call.voip.voip", nil, "com.example.call.voip"),
        ] as [(String, String?, String)])
    func `a bundle id may end like a suffix: the push type decides`(
        topic: String, type: String?, app: String
    ) async throws {
        var world = try await ProviderWorld()
        world.set("apns-topic", topic)
        world.set("apns-push-type", type)
        guard case .refuse(let refusal, _) = try await decide(world) else {
            Issue.record("a device token of another app was accepted")
            return
        }
        #expect(refusal.note == "the device token is not one of \(app)")
    }

    @Test func `what a connection remembers of a suffixed topic holds for its push type only`() async throws {
        let world = try await ProviderWorld()
        try await world.gate.credentials.reload()
        try await world.gate.apps.reload()
        var memory = DevicePushGate.Memory()
        var tells: [String] = []
        for type in ["voip", nil, "alert", "voip"] as [String?] {
            var request = world
            request.set("apns-topic", "com.example.call.voip")
            request.set("apns-push-type", type)
            var block = HeaderBlock()
            for (name, value) in request.fields { block.append(name, value) }
            var found = DevicePushGate.Found()
            while true {
                let decision = world.gate.decide(
                    APNsRequestHead(block), body: world.body, fault: nil, found: found, memory: &memory,
                    ticket: 1)
                if case .lookUp(let lookUp) = decision {
                    found = try await world.gate.found(lookUp, after: found)
                    continue
                }
                if case .refuse(let refusal, _) = decision { tells.append(refusal.note ?? "") }
                break
            }
        }
        let apps = tells.compactMap { $0.split(separator: " ").last.map(String.init) }
        #expect(apps == ["com.example.call", "com.example.call.voip", "com.example.call.voip", "com.example.call"])
    }

    @Test func `a body that did not end in time is refused for that, behind what needs no body`() async throws {
        var world = try await ProviderWorld()
        world.fault = .bodyLate
        world.body = []
        #expect(try await reason(world) == .idleTimeout)
        world.set("apns-topic", "com.unknown")
        #expect(try await reason(world) == .topicDisallowed)
        world.set(":method", "GET")
        #expect(try await reason(world) == .methodNotAllowed)
    }

    @Test func `what memory does not know is looked up, not refused`() async throws {
        let world = try await ProviderWorld()
        guard case .lookUp(.credential) = decideFromMemory(world) else {
            Issue.record("an unknown credential was not looked up")
            return
        }
        try await world.gate.credentials.reload()
        guard case .lookUp(.topic(let topic, _)) = decideFromMemory(world) else {
            Issue.record("an unknown topic was not looked up")
            return
        }
        #expect(topic == world.app.topic)
        try await world.gate.apps.reload()
        guard case .lookUp(.token(let token, _)) = decideFromMemory(world) else {
            Issue.record("an unknown token was not looked up")
            return
        }
        #expect(token == (try world.token()))
    }

    @Test func `a refusal names its requester only behind a valid credential`() async throws {
        var world = try await ProviderWorld()
        world.set("apns-priority", "7")
        guard case .refuse(_, let requester?) = try await decide(world) else {
            Issue.record("the refusal names nobody")
            return
        }
        #expect(requester.team == ProviderWorld.team)
        #expect(requester.topic == "com.example.todo")
        world.set("authorization", "bearer x.y.z")
        guard case .refuseCredential(_, nil) = try await decide(world) else {
            Issue.record("a refusal of a token that is none names a key")
            return
        }
    }

    @Test func `a refused token of a known key names the key, so that its team can be told`() async throws {
        var world = try await ProviderWorld()
        let forged = try ProviderToken.make(
            key: P256.Signing.PrivateKey(), keyID: ProviderWorld.keyID, team: ProviderWorld.team,
            issuedAt: ProviderWorld.now)
        world.set("authorization", "bearer \(forged)")
        guard case .refuseCredential(let refusal, let key?) = try await decide(world) else {
            Issue.record("the refusal names no key")
            return
        }
        #expect(refusal.reason == .invalidProviderToken)
        #expect(key == CredentialDirectory.KnownKey(team: ProviderWorld.team, keyID: ProviderWorld.keyID))
    }

    @Test func `a key's refused tokens are noted ten times a minute and no more`() {
        let clock = ManualClock()
        let report = RefusedTokenReport(
            logger: Logger(label: "test", factory: { _ in SwiftLogNoOpLogHandler() }), clock: clock.function)
        let key = CredentialDirectory.KnownKey(team: ProviderWorld.team, keyID: ProviderWorld.keyID)
        func noted() -> Int {
            (0..<100).count { _ in report.report(APNsRejection(.expiredProviderToken), of: key, from: nil) }
        }
        #expect(noted() == RefusedTokenReport.notesPerMinute)
        clock.advance(milliseconds: 60_000)
        #expect(noted() == RefusedTokenReport.notesPerMinute)
    }

    @Test func `an ended registration is 410 with the time of its end`() async throws {
        let world = try await ProviderWorld()
        #expect(try await reason(world) == nil)
        let end = ProviderWorld.now.adding(milliseconds: 123)
        let ended = try await world.store.endRegistration(
            device: world.device, app: world.app.id, environment: .sandbox, at: end)
        try world.gate.tokens.registrationIs(try #require(ended), of: world.subject())
        guard case .refuse(let refusal, _) = try await decide(world) else {
            Issue.record("an ended registration was accepted")
            return
        }
        #expect(refusal.reason == .unregistered)
        #expect(refusal.timestamp == end.rawValue)
    }
}
