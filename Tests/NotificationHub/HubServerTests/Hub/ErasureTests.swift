import GRDB
import HubProtocol
import PushCore
import PushServer
import SQLiteStore
import Synchronization
import Testing

@testable import HubServer

extension HubWorld {
    /// Erases a person of whom nothing waits.
    func erase(_ user: String) async throws -> ErasureReport {
        try await hubs.erase(user: user, of: hub, timelines: NoTimelines(), by: NoWithdrawal())
    }
}

@Test func `what waits for an erased person is taken back, and nobody else's`() async throws {
    let (world, server) = try await HubWorld.withDevices(3) { #","userId":"\#($0 < 3 ? "anna" : "ben")""# }
    for number in 1...3 { try await server.login(UInt64(number)) }
    // As one, and to each.
    _ = try await world.send(nil, body: #"{"aps":{"alert":"One"}}"#)
    _ = try await world.runner.runAll()
    try await server.settle()
    for number in 1...3 { #expect(try await server.payloads(UInt64(number)).count == 1) }
    let erasure = try await world.hubs.erase(
        user: "Anna", of: world.hub, timelines: server.timelines, by: try server.service)
    #expect(erasure.installations == ["i1", "i2"])
    #expect(erasure.notifications == 2)
    try await server.settle()
    for number in 1...2 { #expect(try await server.payloads(UInt64(number)).isEmpty) }
    #expect(try await server.payloads(3).count == 1)
    try await server.stop()
}

@Test func `events that name an erased person are not sent, and the others are`() async throws {
    let world = try await HubWorld()
    try await world.database.setWebhook(
        HubWebhook(hub: world.hub.number, url: "https://example.com/a", secret: "s", setAt: world.clock.now),
        of: world.hub.number)
    try await world.put("one", #","userId":"anna""#)
    try await world.put("two", #","userId":"ben""#)
    for id in ["one", "two"] { world.sender.refuse("token of \(id)", PushVerdict(.expiredChannel)) }
    _ = try await world.send(nil)
    _ = try await world.runner.runAll()
    #expect(try await world.database.events(of: world.hub.number, limit: 9).count == 3)
    let erasure = try await world.erase("anna")
    #expect(erasure == ErasureReport(installations: ["one"], notifications: 0, events: 1))
    let events = try await world.database.events(of: world.hub.number, limit: 9)
    #expect(events.compactMap { $0.data["installationId"]?.text } == ["two"])
    #expect(events.count == 2)
}

@Test(.onFiles) func `events that name an installation are found by their index`() async throws {
    let world = try await HubWorld()
    let file = try DatabaseQueue(path: world.folder.path("hub.sqlite"))
    let plan = try await file.read { database in
        try Row.fetchAll(
            database,
            sql: """
                EXPLAIN QUERY PLAN DELETE FROM hub_event
                WHERE \(HubDatabase.namesInstallation(SQLiteConnection(database: database)))
                """, arguments: [1, "x"]
        ).map { $0["detail"] as String }
    }
    #expect(plan.contains { $0.contains("INDEX hub_event_installation (hub=? AND <expr>=?)") }, "\(plan)")
}

@Test(.timeLimit(.minutes(5)))
func `what a slice hands over that was under way when a person was erased is taken back, and nothing of them is kept`()
    async throws
{
    let meanwhile = Mutex<(@Sendable () async -> Void)?>(nil)
    let sender = RecordingSender()
    let world = try await HubWorld(senders: [
        .aldaba: Beside(sender: sender) { await meanwhile.withLock { $0 }?() }
    ])
    try await world.put("one", #","userId":"anna","locale":"de""#, platform: "aldaba")
    let devices = KnownDevices(sender)
    let record = try await world.send(nil)
    let (hubs, hub, database) = (world.hubs, world.hub, world.database)
    let erasing = Mutex<Task<ErasureReport, any Error>?>(nil)
    meanwhile.withLock {
        $0 = {
            let task = Task { try await hubs.erase(user: "anna", of: hub, timelines: devices, by: devices) }
            erasing.withLock { $0 = task }
            // The slice goes on when the installation is out of every audience, and is still there.
            while try! await database.installation("one", hub: hub.number)?.fault == nil { await Task.yield() }
        }
    }
    _ = try await world.runner.runAll()
    let erasure = try await erasing.withLock { $0 }?.value
    #expect(erasure == ErasureReport(installations: ["one"], notifications: 1, events: 0))
    #expect(devices.taken == sender.pushes.map(\.id))
    let rows = try await world.database.recipients(of: record.number, after: nil, limit: 9)
    #expect(rows.map(\.name) == [""])
    #expect(rows.map(\.locale) == [nil])
    #expect(rows.map(\.end) == [.ended])
}

@Test func `an erasure that cannot take everything back finds the person again`() async throws {
    let sender = RecordingSender()
    let world = try await HubWorld(senders: [.aldaba: Beside(sender: sender) {}])
    try await world.put("one", #","userId":"anna""#, platform: "aldaba")
    _ = try await world.send(nil)
    _ = try await world.runner.runAll()
    let devices = KnownDevices(sender)
    devices.answer(.failed)
    await #expect(throws: HubError.self) {
        try await world.hubs.erase(user: "anna", of: world.hub, timelines: devices, by: devices)
    }
    // Nothing is sent to who is about to be erased.
    let meanwhile = try await world.send(nil)
    _ = try await world.runner.runAll()
    #expect(try await world.now(meanwhile).state == .noTargetFound)
    devices.answer(.mayHaveArrived)
    let erasure = try await world.hubs.erase(user: "anna", of: world.hub, timelines: devices, by: devices)
    #expect(erasure == ErasureReport(installations: ["one"], notifications: 1, events: 0))
}

@Test func `what is on an erased person's screens is taken off, and a report waits for nothing more of theirs`()
    async throws
{
    let sender = RecordingSender()
    let world = try await HubWorld(senders: [.aldaba: Beside(sender: sender) {}])
    for id in ["one", "two"] { try await world.put(id, #","userId":"anna""#, platform: "aldaba") }
    let record = try await world.send(nil)
    _ = try await world.runner.runAll()
    let devices = KnownDevices(sender)
    devices.tell([.accepted, .acked, .presented])
    #expect(try await world.hubs.report(record.id, of: world.hub, by: devices).ends == [.presented: 2])
    devices.answer(.mayHaveArrived)
    #expect(
        try await world.hubs.erase(user: "anna", of: world.hub, timelines: devices, by: devices).notifications == 2)
    #expect(try await world.hubs.report(record.id, of: world.hub, by: devices).ends == [.ended: 2])
}

@Test func `what becomes of a notification is looked at also when its installation was deleted`() async throws {
    let sender = RecordingSender()
    let world = try await HubWorld(senders: [.aldaba: Beside(sender: sender) {}])
    try await world.put("one", platform: "aldaba")
    let record = try await world.send(nil)
    _ = try await world.runner.runAll()
    _ = try await world.hubs.delete("one", of: world.hub)
    let devices = KnownDevices(sender)
    devices.tell([.accepted, .expired])
    #expect(try await world.hubs.report(record.id, of: world.hub, by: devices).ends == [.expired: 1])
}

@Test func `events are erased in whichever spelling they name the installation`() async throws {
    let world = try await HubWorld()
    try await world.database.setWebhook(
        HubWebhook(hub: world.hub.number, url: "https://example.com/a", secret: "s", setAt: world.clock.now),
        of: world.hub.number)
    try await world.put("One", channel: "c")
    world.sender.refuse("c", PushVerdict(.expiredChannel))
    _ = try await world.send(nil)
    _ = try await world.runner.runAll()
    try await world.put("oNE", #","userId":"anna""#, channel: "d")
    #expect(try await world.erase("anna").events == 1)
}

@Test func `what names an erased person in sends names nobody any more, and means the same others`() async throws {
    let world = try await HubWorld()
    try await world.put("one", #","userId":"Anna""#, channel: "ABCD")
    try await world.put("two", #","tags":["x"]"#)
    let record = try await world.hubs.accept(
        SendRequest(
            format: .native(.apns), body: Array("{}".utf8),
            target: .audience("x || ( $UserId:{ANNA} && !$installationid:{one} ) || $UserId:{anna-lena}")),
        for: world.hub)
    let direct = try await world.hubs.accept(
        SendRequest(
            format: .native(.apns), body: Array("{}".utf8),
            headers: ["auth": "a", "p256dh": "b", "apns-priority": "5"],
            target: .channels(["abcd", "token of two"])), for: world.hub)
    _ = try await world.runner.runAll()
    _ = try await world.erase("anna")
    guard case .audience(let text?) = try await world.now(record).request.target else { throw HubError.missing("it") }
    let name = try #require(text.split(separator: "{").dropFirst().first?.prefix { $0 != "}" })
    #expect(name.hasPrefix("erased-"))
    #expect(text == "x || ( $UserId:{\(name)} && !$InstallationId:{\(name)} ) || $UserId:{anna-lena}")
    let audience = try await world.hubs.audience(text, of: world.hub, for: nil, readsFields: false)
    #expect(audience.numbers() == [2])
    let request = try await world.now(direct).request
    #expect(request.target == .channels(["", "token of two"]))
    #expect(request.headers == ["apns-priority": "5"])
}

@Test(.onFiles) func `of a send to channels that cannot be read nothing is left, since it may name the person`()
    async throws
{
    let world = try await HubWorld()
    try await world.put("one", #","userId":"anna""#, channel: "ABCD")
    let record = try await world.hubs.accept(
        SendRequest(
            format: .native(.apns), body: Array("{}".utf8), headers: ["auth": "a"], target: .channels(["abcd"])),
        for: world.hub)
    _ = try await world.runner.runAll()
    let file = try DatabaseQueue(path: world.folder.path("hub.sqlite"))
    try await file.write { try $0.execute(sql: "UPDATE send SET channels = '[\"abcd', headers = '{\"auth\":\"a'") }
    _ = try await world.erase("anna")
    let request = try await world.now(record).request
    #expect(request.target == .channels([]))
    #expect(request.headers.isEmpty)
}

@Test func `a slice that was under way when an installation was deleted notes nothing of who it was`() async throws {
    let meanwhile = Mutex<(@Sendable () async -> Void)?>(nil)
    let sender = RecordingSender()
    let world = try await HubWorld(senders: [
        .aldaba: Beside(sender: sender) { await meanwhile.withLock { $0 }?() }
    ])
    for id in ["one", "two"] { try await world.put(id, #","locale":"de""#, platform: "aldaba") }
    let (hubs, hub) = (world.hubs, world.hub)
    meanwhile.withLock { $0 = { _ = try? await hubs.delete("one", of: hub) } }
    let record = try await world.send(nil)
    _ = try await world.runner.runAll()
    let rows = try await world.database.recipients(of: record.number, after: nil, limit: 9)
    #expect(rows.map(\.name) == ["", "two"])
    #expect(rows.map(\.locale) == [nil, "de"])
    #expect(rows.map(\.end) == [.waiting, .waiting])
}
