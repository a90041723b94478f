import AldabaTestSupport
import HubProtocol
import PushCore
import PushServer
import Testing

@testable import HubServer

/// A connection to which nothing is said.
private final class SilentConnection: DeviceConnection {
    func deliver(_ notifications: [OutgoingNotification]) {}
    func waitingChanged() {}
    func relay(_ frame: [UInt8], isBulk: Bool, then complete: @escaping @Sendable (RelayWriteResult) -> Void) {}
    func superseded() {}
    func revoked() {}
}

@Test func `a device is seen when it comes, while it is there and when it goes, and its entity tag stays`() async throws
{
    let server = try await DeviceServer(ManualClock())
    var kept: HubLists?
    let world = try await HubWorld(clock: server.clock) { store in
        let devices = try server.gateway(store)
        kept = devices.lists
        return devices
    }
    let lists = try #require(kept)
    for number in 1...2 as ClosedRange<UInt64> {
        try await world.put("i\(number)", channel: try await server.register(number), platform: "aldaba")
    }
    let tag = try await world.hubs.installation("i1", of: world.hub).version
    let presence = HubPresence(register: server.store, sealer: server.sealer, clock: server.clock.function)
    let session = DeviceSessionID(device: try #require(DeviceID(1)), epoch: 1)
    func seen(_ expression: String) async throws -> [UInt32] {
        try await world.hubs.audience(expression, of: world.hub, for: nil, readsFields: true).numbers()
    }
    server.clock.advance(milliseconds: 7200_000)
    #expect(try await seen("$LastSeen:{<1h}") == [])
    presence.opened(session, SilentConnection())
    try await presence.reportSeenDevices(world.hubs, lists)
    #expect(try await seen("$LastSeen:{<1h}") == [1])
    let first = try await world.hubs.installation("i1", of: world.hub)
    #expect(first.seenAt == server.clock.now && first.version == tag)

    server.clock.advance(milliseconds: 1800_000)
    try await presence.reportSeenDevices(world.hubs, lists)
    #expect(try await world.hubs.installation("i1", of: world.hub).seenAt == first.seenAt)
    server.clock.advance(milliseconds: 1800_000)
    try await presence.reportSeenDevices(world.hubs, lists)
    #expect(try await world.hubs.installation("i1", of: world.hub).seenAt == server.clock.now)

    server.clock.advance(milliseconds: 600_000)
    presence.closed(session)
    try await presence.reportSeenDevices(world.hubs, lists)
    let last = server.clock.now
    server.clock.advance(milliseconds: 7200_000)
    try await presence.reportSeenDevices(world.hubs, lists)
    #expect(try await world.hubs.installation("i1", of: world.hub).seenAt == last)
    #expect(try await seen("$LastSeen:{>1h}") == [1, 2])
    try await server.stop()
}
