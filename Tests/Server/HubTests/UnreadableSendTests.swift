import GRDB
import Hub
import HubWire
import PushModel
import Testing

@Test(arguments: [
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

@Test func `a send whose audience cannot be read is given up`() async throws {
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
