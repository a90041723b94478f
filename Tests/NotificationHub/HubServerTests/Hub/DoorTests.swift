import HubProtocol
import PushCore
import Testing

@testable import HubServer

private let cap = #"{"cap":{"most":1,"hours":24}}"#

@Test func `a preview tells whom the cap would leave out, and whose time is over`() async throws {
    let world = try await HubWorld()
    try await world.put("one")
    try await world.put("two", #","tags":["b"]"#)
    var request = try await world.campaign(cap, audience: "b").request
    request.target = .audience(nil)
    // What waits counts, as it does when a campaign begins.
    _ = try await world.runner.runAll()
    let capped = try await world.hubs.preview(request, for: "two", of: world.hub)
    #expect(capped.leftOut == .leftOut(.capped))
    #expect(capped.comesAt == nil)
    let free = try await world.hubs.preview(request, for: "one", of: world.hub)
    #expect(free.leftOut == nil)
    #expect(free.comesAt == world.clock.now)
    try await world.put("short", #","expirationTime":"2026-06-01T00:10:00Z""#)
    world.clock.advance(milliseconds: 25 * 3_600_000)
    #expect(try await world.hubs.preview(request, for: "short", of: world.hub).leftOut == .expired)
    #expect(try await world.hubs.preview(request, for: "two", of: world.hub).leftOut == nil)
}

@Test func `a preview refuses an expression that cannot be read`() async throws {
    let world = try await HubWorld()
    try await world.put("one")
    var request = try await world.campaign("{}").request
    request.target = .audience("((")
    await #expect(throws: HubError.self) { try await world.hubs.preview(request, for: "one", of: world.hub) }
}

@Test func `an instant that is over is refused, but for a request that was accepted before it was`() async throws {
    let world = try await HubWorld()
    try await world.put("one")
    let due = world.clock.now.adding(milliseconds: 1000)
    let record = try await world.send(nil, dueAt: due, key: "k")
    func check(_ key: String?) async throws {
        var request = record.request
        request.idempotencyKey = key
        try await world.hubs.checkInstant(of: request, world.hub, at: "/at")
    }
    world.clock.advance(milliseconds: 61_000)
    try await check(nil)
    world.clock.advance(milliseconds: 1)
    try await check("k")
    for key in [nil, "other"] {
        await #expect {
            try await check(key)
        } throws: { error in
            guard case HubError.document(let fault) = error else { return false }
            return fault.path == "/at"
        }
    }
}

@Test func `what an installation had before the rules stays as it is, and what changes is looked at`() async throws {
    let world = try await HubWorld()
    try await world.put("one", #","timeZone":"Mars/Phobos""#)
    let before = InstallationJSON.document(try await world.hubs.installation("one", of: world.hub).installation)
    var changed = before
    changed.set("tags", .array([.string("a")]))
    try world.hubs.validate(changed, insteadOf: before, id: "one")
    changed.set("timeZone", .string("Mars/Deimos"))
    #expect(throws: InstallationError.self) { try world.hubs.validate(changed, insteadOf: before, id: "one") }
}
