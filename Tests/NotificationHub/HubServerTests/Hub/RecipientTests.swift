import HubProtocol
import HubServer
import PushCore
import PushServer
import Testing

@Test func `what a push service cannot take now is tried again by its own wish, and counted once`() async throws {
    let world = try await HubWorld()
    try await world.put("one")
    try await world.put("two")
    world.sender.refuse("token of one", PushVerdict(.unavailable, reason: "Shutdown", retryAfter: 60_000))
    let record = try await world.send(nil)
    let due = world.clock.now.adding(milliseconds: 60_000)
    #expect(try await world.runner.runAll() == due)
    #expect(try await world.details(record).state == .processing)
    var report = try await world.hubs.report(record.id, of: world.hub, by: NoTimelines())
    #expect(report.ends == [.pending: 1, .accepted: 1])
    #expect(report.parts[.reason]?.keys.sorted() == ["Shutdown"])
    world.sender.take("token of one")
    world.clock.advance(milliseconds: 60_000)
    #expect(try await world.runner.runAll() == nil)
    #expect(try await world.details(record).state == .completed)
    report = try await world.hubs.report(record.id, of: world.hub, by: NoTimelines())
    #expect(report.ends == [.accepted: 2])
    #expect(try await world.details(record).outcomes.map(\.count) == [2])
    // The same notification had the same id, and the other one was not sent again.
    #expect(world.sender.channels.sorted() == ["token of one", "token of one", "token of two"])
    #expect(Set(world.sender.pushes.map(\.id)).count == 2)
}

@Test func `after half an hour it is given up`() async throws {
    let world = try await HubWorld()
    try await world.put("one")
    world.sender.refuse("token of one", PushVerdict(.unavailable, reason: "HTTP 503", retryAfter: 0))
    let record = try await world.send(nil)
    let begin = world.clock.now
    while let due = try await world.runner.runAll() {
        world.clock.advance(milliseconds: due.milliseconds(since: world.clock.now))
    }
    #expect(world.clock.now.milliseconds(since: begin) <= 1_800_000)
    // 1, 2, 4 … 256 seconds, then every five minutes.
    #expect(world.sender.pushes.count == 14)
    let details = try await world.details(record)
    #expect(details.state == .completed)
    #expect(details.outcomes.map(\.outcome) == [.unavailable])
    let report = try await world.hubs.report(record.id, of: world.hub, by: NoTimelines())
    #expect(report.ends == [.refused: 1])
}

@Test func `a send that is cancelled tries nothing again, and its ends add up`() async throws {
    let world = try await HubWorld()
    for number in 0..<600 { try await world.put("i\(number)") }
    world.sender.refuse("token of i3", PushVerdict(.unavailable, retryAfter: 1000))
    let record = try await world.hubs.accept(
        SendRequest(format: .native(.apns), body: Array("{}".utf8), target: .audience(nil), rate: 100), for: world.hub)
    _ = try await world.runner.runAll()
    _ = try await world.hubs.cancel(record.id, of: world.hub)
    world.clock.advance(milliseconds: 60_000)
    #expect(try await world.runner.runAll() == nil)
    #expect(world.sender.pushes.count == 100)
    let report = try await world.hubs.report(record.id, of: world.hub, by: NoTimelines())
    #expect(report.ends == [.accepted: 99, .ended: 501])
    #expect(report.funnel[.targeted] == 600)
}

@Test func `every recipient has a row with its end, also who was gone`() async throws {
    let world = try await HubWorld()
    try await world.put("one", #","locale":"de-AT","appVersion":"2.1""#)
    try await world.put("two")
    try await world.put("three", platform: "fcmV1")
    world.sender.refuse("token of two", PushVerdict(.badChannel, reason: "BadDeviceToken"))
    let record = try await world.send(nil, format: .content, body: #"{"body":"x"}"#)
    try await world.put("gone", channel: "c")
    _ = try await world.runner.runAll()
    let page = try await world.database.recipients(of: record.number, after: nil, limit: 2)
    #expect(page.map(\.name) == ["one", "two"])
    let last = try #require(page.last)
    let rest = try await world.database.recipients(
        of: record.number, after: (last.installation, last.part), limit: 10)
    #expect(rest.map(\.name) == ["three", "gone"])
    #expect((page + rest).map(\.end) == [.accepted, .refused, .refused, .accepted])
    #expect((page + rest).map(\.reason) == ["Success", "BadDeviceToken", "NoSender", "Success"])
    let report = try await world.hubs.report(record.id, of: world.hub, by: NoTimelines())
    #expect(report.ends.values.reduce(0, +) == report.funnel[.targeted])
    #expect(report.parts[.locale]?["de-at"]?[.accepted] == 1)
    #expect(report.parts[.version]?["2.1"]?[.targeted] == 1)
    #expect(report.parts[.platform]?["fcmV1"]?[.accepted] == 0)
    #expect(report.parts[.reason]?["BadDeviceToken"]?[.attempted] == 1)
}

@Test func `what is deleted leaves its count and not its name`() async throws {
    let world = try await HubWorld()
    try await world.put("one", #","userId":"anna""#)
    let record = try await world.send(nil)
    _ = try await world.runner.runAll()
    _ = try await world.erase("anna")
    let rows = try await world.database.recipients(of: record.number, after: nil, limit: 10)
    #expect(rows.map(\.name) == [""])
    #expect(rows.map(\.end) == [.accepted])
}

@Test func `a hub has one credential of a push service and environment`() async throws {
    let world = try await HubWorld()
    func add(_ kind: PushCredential.Kind, _ environment: PushEnvironment?, _ name: String) async throws -> Int64 {
        try await world.database.setCredential(
            PushCredential(
                hub: world.hub.number, kind: kind, environment: environment, address: "https://a", name: name,
                owner: "o", secret: "s", expiresAt: world.clock.now.adding(milliseconds: 86_400_000),
                createdAt: world.clock.now))
    }
    _ = try await add(.apns, .production, "first")
    _ = try await add(.apns, .sandbox, "second")
    let last = try await add(.apnsCertificate, .production, "third")
    let found = try await world.database.credentials(of: world.hub.number)
    #expect(found.map(\.name) == ["second", "third"])
    #expect(found[1].warning(at: world.clock.now)?.contains("expires") == true)
    #expect(found[1].warning(at: world.clock.now.adding(milliseconds: 90_000_000))?.contains("expired") == true)
    #expect("\(found)".contains("<redacted>"))
    #expect(try await world.database.removeCredential(last, of: world.hub.number))
    #expect(try await world.database.removeCredential(last, of: world.hub.number) == false)
}

@Test func `who got nothing has no id of a notification, and the others have the one that they got`() async throws {
    let world = try await HubWorld()
    let template = #","templates":{"a":{"body":"{\"x\":\"$(y)\"}"}}"#
    for id in ["one", "two"] { try await world.put(id, template) }
    try await world.put("other", template)
    func ids(_ record: SendRecord) async throws -> [String?] {
        try await world.hubs.recipients(of: record, hub: world.hub, after: nil, limit: 9, by: NoTimelines())
            .map { world.hubs.notificationID(of: $0, in: record, hub: world.hub) }
    }
    let record = try await world.hubs.accept(
        SendRequest(format: .template, body: Array(#"{"y":"1"}"#.utf8), target: .audience(nil), rate: 1),
        for: world.hub)
    _ = try await world.runner.runAll()
    let first = try #require(world.sender.pushes.first).id.rawValue
    #expect(try await ids(try await world.now(record)) == [first, nil, nil])
    _ = try await world.hubs.delete("two", of: world.hub)
    while let due = try await world.runner.runAll() {
        world.clock.advance(milliseconds: due.milliseconds(since: world.clock.now))
    }
    let last = try #require(world.sender.pushes.last).id.rawValue
    #expect(world.sender.pushes.count == 2)
    #expect(try await ids(try await world.now(record)) == [first, nil, last])
}
