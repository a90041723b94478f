import AldabaTestSupport
import HubProtocol
import PushCore
import Testing

@testable import HubServer

/// A hub with an installation on each of some devices, and a list of them.
private struct ListWorld {
    let world: HubWorld
    let server: DeviceServer
    let lists: HubLists
    let part: SendPart

    init(_ count: UInt64, upperCase: Bool = false) async throws {
        let server = try await DeviceServer(ManualClock())
        var kept: HubLists?
        world = try await HubWorld(clock: server.clock) { store in
            let devices = try server.gateway(store)
            kept = devices.lists
            return devices
        }
        lists = try #require(kept)
        for number in 1...count {
            let token = try await server.register(number)
            try await world.put("i\(number)", channel: upperCase ? token.uppercased() : token, platform: "aldaba")
        }
        let record = try await world.send(nil)
        let audience = try await world.hubs.audience(nil, of: world.hub, for: nil, readsFields: false)
        try await world.hubs.store.begin(
            record.number, audience: audience, targeted: audience.count, waves: nil,
            parts: [SendPartDraft(audience: audience)], at: world.clock.now)
        part = try #require(try await world.hubs.store.nextPart(ofSend: record.number))
        self.server = server
    }

    func subject(_ number: UInt64) throws -> TokenSubject {
        TokenSubject(
            cell: 0, device: try #require(DeviceID(number)), app: server.app.id, environment: .sandbox, generation: 0)
    }

    /// The devices that are in the list now.
    func members(_ numbers: ClosedRange<UInt64>) throws -> [UInt64] {
        try lists.members([part.number: try numbers.map(subject)])[part.number, default: []].map(\.rawValue).sorted()
    }
}

@Test(arguments: [false, true])
private func `a list has who was in, however the token is written, and what is known is forgotten with each change`(
    upperCase: Bool
) async throws {
    let list = try await ListWorld(4, upperCase: upperCase)
    let world = list.world
    #expect(try list.members(1...5) == [1, 2, 3, 4])
    _ = try await world.hubs.delete("i1", of: world.hub)
    #expect(try list.members(1...5) == [2, 3, 4])
    try await world.put("i5", channel: try await list.server.register(5), platform: "aldaba")
    #expect(try list.members(1...5) == [2, 3, 4], "a new one")
    // The same channel again is no other one.
    let token = try #require(try await world.hubs.installation("i2", of: world.hub).installation.channel)
    try await world.put("i2", #","tags":["x"]"#, channel: token.key, platform: "aldaba")
    #expect(try list.members(1...5) == [2, 3, 4])
    try await world.put("i2", channel: "another", platform: "aldaba")
    try await world.put("i2", channel: token.key, platform: "aldaba")
    #expect(try list.members(1...5) == [3, 4], "it left, and came back")
    try await list.server.stop()
}

@Test(.onFiles) func `what another process imports counts at once`() async throws {
    let list = try await ListWorld(3)
    let world = list.world
    #expect(try list.members(1...3) == [1, 2, 3])
    let other = try HubDatabase(path: world.folder.path("hub.sqlite"))
    let moved = try InstallationJSON.read(
        try JSONValue(text: #"{"installationId":"i1","platform":"aldaba","pushChannel":"elsewhere"}"#), id: "i1")
    let token = try #require(try await world.hubs.installation("i2", of: world.hub).installation.channel)
    let same = try InstallationJSON.read(
        try JSONValue(text: #"{"installationId":"i2","platform":"aldaba","pushChannel":"\#(token.key)"}"#), id: "i2")
    let added = try await other.importAll(
        [moved, same].map(ReadInstallation.init), hub: world.hub.number, at: world.clock.now)
    #expect(added == 0)
    #expect(try list.members(1...3) == [2, 3])
    try other.close()
    try await list.server.stop()
}

@Test func `an installation whose time is over, or whose channel is dead, is in no list`() async throws {
    let list = try await ListWorld(2)
    let world = list.world
    let token = try #require(try await world.hubs.installation("i1", of: world.hub).installation.channel)
    let end = WireTime.write(world.clock.now.adding(milliseconds: 5000))
    try await world.put("i1", #","expirationTime":"\#(end)""#, channel: token.key, platform: "aldaba")
    #expect(try list.members(1...2) == [1, 2])
    world.clock.advance(milliseconds: 5000)
    #expect(try list.members(1...2) == [2])
    _ = try await world.hubs.cancel(try await sendID(list), of: world.hub)
    #expect(try list.members(1...2).isEmpty, "nobody is in what was cancelled")
    try await list.server.stop()
}

private func sendID(_ list: ListWorld) async throws -> String {
    try #require(try await list.world.hubs.store.sends([list.part.send]).first).id
}
