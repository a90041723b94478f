import APNsProtocol
import PushCore
import PushServer
import Testing

@testable import APNsFrontend

/// The tokens of Live Activities: the app's device token, and 32 digits that name the activity.
@Suite struct LiveActivityTokenTests {
    private static let id = "00112233445566778899aabbccddeeff"

    /// A right push to a Live Activity, whose path ends with these digits.
    private func world(_ digits: String, type: String? = "liveactivity") async throws -> ProviderWorld {
        var world = try await ProviderWorld()
        if type == "liveactivity" { world.set("apns-topic", "com.example.todo.push-type.liveactivity") }
        world.set("apns-push-type", type)
        world.set(":path", "/3/device/\(try world.token())\(digits)")
        return world
    }

    private func decide(_ world: ProviderWorld) async throws -> Result<AcceptedNotification, APNsRejection> {
        var block = HeaderBlock()
        for (name, value) in world.fields { block.append(name, value) }
        var found = DevicePushGate.Found()
        var memory = DevicePushGate.Memory()
        while true {
            let decision = world.gate.decide(
                APNsRequestHead(block), body: world.body, fault: nil, found: found, memory: &memory, ticket: 1)
            switch decision {
            case .accept(let acceptance): return .success(acceptance)
            case .refuse(let refusal, _), .refuseCredential(let refusal, _): return .failure(refusal)
            case .lookUp(let lookUp): found = try await world.gate.found(lookUp, after: found)
            }
        }
    }

    private func refusal(_ world: ProviderWorld) async throws -> APNsRejection? {
        if case .failure(let refusal) = try await decide(world) { refusal } else { nil }
    }

    @Test(
        arguments: [
            (id, "activity:\(id)"), (id.uppercased(), "activity:\(id)"), (String(repeating: "0", count: 32), nil),
        ] as [(String, String?)])
    func `a push to an activity has its collapse id, and a start none`(
        digits: String, collapseID: String?
    ) async throws {
        var world = try await world(digits)
        for sent in [nil, "mine"] as [String?] {
            world.set("apns-collapse-id", sent)
            let acceptance = try await decide(world).get()
            #expect(acceptance.subject == world.subject())
            #expect(acceptance.notification.pushType == .liveactivity)
            #expect(acceptance.notification.topic.rawValue == "com.example.todo")
            #expect(acceptance.notification.collapseID == collapseID, "the provider's own does not count")
        }
    }

    @Test func `the app's own device token takes no push to a Live Activity`() async throws {
        let refusal = try await refusal(try await world(""))
        #expect(refusal?.reason == .deviceTokenNotForTopic)
        #expect(refusal?.note?.contains("a Live Activity has a push token of its own") == true)
    }

    @Test(arguments: ["alert", "background", nil])
    func `an activity's token takes no other push`(type: String?) async throws {
        for digits in [Self.id, String(repeating: "0", count: 32)] {
            let refusal = try await refusal(try await world(digits, type: type))
            #expect(refusal?.reason == .deviceTokenNotForTopic)
            #expect(refusal?.note?.contains("the token is a Live Activity's") == true)
        }
    }

    @Test(arguments: [
        "0", String(id.dropLast()), id + "0", id + id, String(id.dropLast()) + "g", String(id.dropLast()) + "%67",
    ])
    func `any other number of digits is no token`(digits: String) async throws {
        for type in ["liveactivity", "alert"] {
            #expect(try await refusal(try await world(digits, type: type))?.reason == .badDeviceToken)
        }
    }

    @Test func `the app's part of the token is checked as any device token`() async throws {
        var world = try await world(Self.id)
        world.set(":path", "/3/device/\(String(repeating: "ab", count: 32))\(Self.id)")
        #expect(try await refusal(world)?.reason == .badDeviceToken)
        world.set(":path", "/3/device/\(try world.token(.production))\(Self.id)")
        #expect(try await refusal(world)?.reason == .badDeviceToken)
        world.set(":path", "/3/device/\(try world.token())\(Self.id)")
        world.set("apns-topic", "com.example.other.push-type.liveactivity")
        #expect(try await refusal(world)?.reason == .deviceTokenNotForTopic)
    }
}
