import GRDB
import HubProtocol
import HubServer
import PushCore
import Testing

@Test(
    .onFiles,
    arguments: [
        ("plan", "plan = '{'"), ("plan", "plan = '{\"local\":1}'"), ("headers", "headers = 'x'"),
        ("headers", "headers = '{\"a\":1}'"), ("channels", "channels = '{'"), ("channels", "channels = '[1]'"),
        ("format", "format = 'pigeon'"),
    ])
func `a send of which something cannot be read is given up, and the others go on`(
    what: String, change: String
) async throws {
    let world = try await HubWorld()
    for id in ["one", "two"] { try await world.put(id) }
    let unreadable = try await world.campaign(#"{"cap":{"most":1,"hours":24}}"#)
    let file = try DatabaseQueue(path: world.folder.path("hub.sqlite"))
    try await file.write { try $0.execute(sql: "UPDATE send SET \(change)") }
    let other = try await world.send(nil)
    _ = try await world.runner.runAll()
    let now = try await world.now(unreadable)
    #expect(now.state == .abandoned)
    #expect(now.reason == "what is stored of its \(what) cannot be read; nothing more is sent")
    #expect(try await world.now(other).state == .completed)
    #expect(try await world.details(unreadable).state == .abandoned)
    #expect(world.sender.channels == ["token of one", "token of two"])
}

@Test(.onFiles) func `a send whose audience cannot be read is given up`() async throws {
    let world = try await HubWorld()
    for id in ["one", "two"] { try await world.put(id) }
    let record = try await world.hubs.accept(
        SendRequest(format: .native(.apns), body: Array("{}".utf8), target: .audience(nil), rate: 1), for: world.hub)
    let due = try #require(try await world.runner.runAll())
    let file = try DatabaseQueue(path: world.folder.path("hub.sqlite"))
    try await file.write { try $0.execute(sql: "UPDATE send SET audience = X'00'") }
    world.clock.advance(milliseconds: due.milliseconds(since: world.clock.now))
    _ = try await world.runner.runAll()
    #expect(try await world.now(record).state == .abandoned)
    #expect(world.sender.channels == ["token of one"])
}

/// Two campaigns of a hub: of one that was cut short something is broken, the other has a cap that counts it.
@Test(
    .onFiles,
    arguments: [
        ("send_part", "UPDATE send_part SET audience = X'00'", ["i1", "i2", "i3"]),
        ("wave", "UPDATE send_wave SET audience = X'00'", ["i1", "i2", "i3"]),
    ])
func `of whom it cannot be read whom a campaign reached, all whom it meant have had it`(
    what: String, change: String, meant: [String]
) async throws {
    let (world, server) = try await HubWorld.withDevices(4) { #","tags":["\#($0 < 4 ? "meant" : "other")"]"# }
    try await world.put("apple", #","tags":["meant"]"#)
    let first = try await world.campaign("{}", audience: "meant")
    _ = try await world.runner.runAll()
    let file = try DatabaseQueue(path: world.folder.path("hub.sqlite"))
    try await file.write { database in
        try database.execute(sql: "UPDATE send SET state = 'Canceled'; UPDATE send_wave SET ended_at = NULL; \(change)")
    }
    // Nothing is in memory any more.
    try world.database.close()
    let again = try await HubWorld(after: world, broadcastMinimum: 9)
    _ = try await again.campaign(#"{"cap":{"most":1,"hours":24}}"#)
    again.clock.advance(milliseconds: 1)
    let before = again.sender.pushes.count
    _ = try await again.runner.runAll()
    let other = try #require(try await again.hubs.installation("i4", of: again.hub).installation.channel).key
    #expect(again.sender.channels.dropFirst(before) == [other])
    #expect(try await again.now(first).state == .canceled)
    try await server.stop()
}

@Test(.onFiles) func `a part that cannot be read ends its own send, and neither the report nor an erasure`()
    async throws
{
    let (world, server) = try await HubWorld.withDevices(2) { #","userId":"u\#($0)""# }
    let file = try DatabaseQueue(path: world.folder.path("hub.sqlite"))
    try await server.login(1)
    let whole = try await world.send(nil)
    _ = try await world.runner.runAll()
    try await server.settle()
    try await file.write { database in
        try database.execute(
            sql: """
                CREATE TRIGGER broken AFTER INSERT ON send_part BEGIN
                    UPDATE send_part SET audience = X'00' WHERE number = NEW.number;
                END
                """)
    }
    let broken = try await world.campaign("{}")
    _ = try await world.runner.runAll()
    #expect(try await world.now(broken).state == .abandoned)
    #expect(try await world.now(whole).state == .completed)
    let report = try await world.report(broken, server)
    #expect(report.ends.values.reduce(0, +) == 2)
    await #expect(throws: UnreadableSend.self) {
        try await world.hubs.recipients(
            of: try await world.now(broken), hub: world.hub, after: nil, limit: 9, by: server.timelines)
    }
    let erasure = try await world.hubs.erase(
        user: "u1", of: world.hub, timelines: server.timelines, by: try server.service)
    #expect(erasure.installations == ["i1"])
    #expect(erasure.notifications == 1)
    #expect(try await server.payloads(1).isEmpty)
    try await server.stop()
}
