import HubProtocol
import HubServer
import PushCore
import Testing

/// What becomes of a channel when its installation is changed in another respect.
struct ChannelLifeTests {
    private func tag(_ id: String, _ world: HubWorld) async throws {
        _ = try await world.hubs.change(id, of: world.hub) { document throws(InstallationError) in
            var document = document
            document.set("tags", .array([.string("new")]))
            return document
        }
    }

    private func fault(_ id: String, _ world: HubWorld) async throws -> ChannelFault? {
        try await world.hubs.installation(id, of: world.hub).fault
    }

    @Test func `a change of something else does not take a channel back`() async throws {
        let world = try await HubWorld()
        try await world.put("earlier", channel: "the device")
        try await world.put("later", channel: "the device")
        try await tag("earlier", world)
        #expect(try await fault("earlier", world)?.word == "TakenOver")
        #expect(try await fault("later", world) == nil)
        _ = try await world.send("new")
        _ = try await world.send(nil)
        _ = try await world.runner.runAll()
        #expect(world.sender.channels == ["the device"])
        // Put again, it has the channel.
        try await world.put("earlier", channel: "the device")
        #expect(try await fault("earlier", world) == nil)
        #expect(try await fault("later", world)?.word == "TakenOver")
    }

    @Test func `a channel that died before a change of something else is dead after it`() async throws {
        let world = try await HubWorld()
        let registered = try await world.put("one", channel: "c").updatedAt
        world.clock.advance(milliseconds: 10_000)
        try await tag("one", world)
        let died = registered.adding(milliseconds: 5000)
        world.sender.refuse("c", PushVerdict(.expiredChannel, diedAt: died, reason: "Unregistered"))
        _ = try await world.send(nil)
        _ = try await world.runner.runAll()
        #expect(try await fault("one", world) == ChannelFault(word: "Unregistered", at: died))
        // Another channel lives.
        _ = try await world.hubs.change("one", of: world.hub) { document throws(InstallationError) in
            var document = document
            document.set("pushChannel", .string("d"))
            return document
        }
        #expect(try await fault("one", world) == nil)
    }
}
