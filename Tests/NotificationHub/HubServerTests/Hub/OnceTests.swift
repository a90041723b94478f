import GRDB
import HubProtocol
import PushCore
import Testing

@testable import HubServer

extension HubWorld {
    /// Puts a registration, which may have another's channel.
    @discardableResult
    fileprivate func register(_ id: String, channel: String, platform: HubPlatform = .apns, locale: String? = nil)
        async throws -> StoredInstallation
    {
        var installation = Installation(id: id, platform: platform, channel: .handle(channel))
        installation.isRegistration = true
        installation.locale = locale
        return try await hubs.put(installation, of: hub).0
    }

    /// Runs what is to be run, whenever it is due.
    fileprivate func runCommand() async throws {
        while let due = try await runner.runAll() { clock.advance(milliseconds: due.milliseconds(since: clock.now)) }
    }
}

@Test func `who has the same channel gets a send once, in whatever slice`() async throws {
    let world = try await HubWorld()
    try await world.register("first", channel: "shared")
    try await world.put("other")
    try await world.register("second", channel: "shared")
    try await world.register("before", channel: "token")
    try await world.put("installation", channel: "token")
    try await world.register("alone", channel: "own")
    // Not of the audience, so nobody stands back for it.
    try await world.register("not meant", channel: "x", platform: .fcmv1)
    try await world.register("meant", channel: "x")
    let record = try await world.hubs.accept(
        SendRequest(format: .native(.apns), body: Array("{}".utf8), target: .audience(nil), rate: 1), for: world.hub)
    try await world.runCommand()
    #expect(world.sender.channels == ["shared", "token of other", "token", "own", "x"])
    let rows = try await world.database.recipients(of: record.number, after: nil, limit: 10)
    #expect(rows.filter { $0.end == .ineligible }.map(\.name) == ["second", "before"])
    #expect(rows.filter { $0.end == .ineligible }.allSatisfy { $0.reason == "Skipped" })
    #expect(rows.count == 7)
}

@Test func `who has the same channel gets a campaign once, in whatever wave`() async throws {
    let world = try await HubWorld()
    try world.set("2026-06-01T00:00:00Z")
    for (id, zone) in [("late", "America/New_York"), ("early", "Asia/Tokyo")] {
        var installation = Installation(id: id, platform: .apns, channel: .handle("shared"))
        installation.isRegistration = true
        installation.timeZone = zone
        _ = try await world.hubs.put(installation, of: world.hub)
    }
    _ = try await world.campaign(
        #"{"local":{"time":"2026-06-02T09:00:00","past":"now","gap":"end","overlap":"first","unknownZone":"UTC"}}"#)
    try await world.runCommand()
    #expect(world.sender.channels == ["shared"])
}

@Test func `who has the same channel gets what is handed over as one once`() async throws {
    let (world, server) = try await HubWorld.withDevices(3)
    let token = try #require(try await world.hubs.installation("i1", of: world.hub).installation.channel)
    try await world.register("again", channel: token.key, platform: .aldaba, locale: "de")
    let record = try await world.send(nil, body: #"{"aps":{"alert":"Hello"}}"#)
    _ = try await world.runner.runAll()
    for number in 1...3 { try await server.login(UInt64(number)) }
    try await server.settle()
    for number in 1...3 { #expect(try await server.payloads(UInt64(number)).count == 1) }
    #expect(world.sender.pushes.isEmpty)
    let report = try await world.report(record, server)
    #expect(report.ends.filter { $0.value > 0 } == [.waiting: 3, .ineligible: 1])
    try await server.stop()
}

@Test(.onFiles) func `who has a channel first is looked up by indexes`() async throws {
    let world = try await HubWorld()
    let file = try DatabaseQueue(path: world.folder.path("hub.sqlite"))
    let plan = try await file.read { database in
        try Row.fetchAll(
            database, sql: "EXPLAIN QUERY PLAN \(HubDatabase.earlier)", arguments: [1, "x", 1, 1]
        ).map { $0["detail"] as String }
    }
    #expect(plan.contains { $0.contains("INDEX installation_channel (hub=? AND channel=?)") }, "\(plan)")
    #expect(plan.contains { $0.contains("INDEX installation_handle (hub=? AND <expr>=?") }, "\(plan)")
    #expect(!plan.contains { $0.contains("SCAN installation") }, "\(plan)")
}
