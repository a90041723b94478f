import HubProtocol
import Hummingbird
import Logging
import PushCore
import PushServer
import Synchronization
import Testing

@testable import HubServer

/// A receiver that keeps what it is told and answers what the test says.
private final class RecordingReceiver: WebhookSender {
    private let state = Mutex<(told: [JSONValue], status: Int)>(([], 200))

    var told: [JSONValue] { state.withLock { $0.told } }
    func answer(_ status: Int) { state.withLock { $0.status = status } }

    func send(_ body: [UInt8], signature: String, to address: WebhookAddress) async throws -> Int {
        let tree = try JSONValue(body)
        return state.withLock { state in
            state.told.append(tree)
            return state.status
        }
    }
}

private func courier(_ world: HubWorld, _ receiver: RecordingReceiver) -> HubWebhookDispatcher {
    HubWebhookDispatcher(
        store: world.database, sender: receiver,
        reports: { [hubs = world.hubs] in try await hubs.report($0, of: $1, by: NoTimelines()).members },
        clock: world.clock.function,
        logger: Logger(label: "test", factory: { _ in SwiftLogNoOpLogHandler() }))
}

private func setWebhook(_ world: HubWorld) async throws {
    try await world.database.setWebhook(
        HubWebhook(hub: world.hub.number, url: "https://example.com/a", secret: "s", setAt: world.clock.now),
        of: world.hub.number)
}

@Test func `a webhook is told of ends and deaths, in their order, once`() async throws {
    let world = try await HubWorld()
    let receiver = RecordingReceiver()
    let courier = courier(world, receiver)
    try await world.put("one")
    _ = try await world.send(nil)
    _ = try await world.runner.runAll()
    try await setWebhook(world)
    world.sender.refuse("token of one", PushVerdict(.expiredChannel))
    let record = try await world.send(nil)
    _ = try await world.runner.runAll()
    try await courier.round()
    try await courier.round()
    // What was before the webhook is not told.
    #expect(receiver.told.compactMap { $0["type"]?.text }.sorted() == ["channel.dead", "send.ended"])
    let end = try #require(receiver.told.first { $0["type"]?.text == "send.ended" })
    #expect(end["data"]?["send"]?.text == record.id)
    #expect(end["data"]?["state"]?.text == "Completed")
    #expect(end["hub"]?.text == "todo")
    let death = try #require(receiver.told.first { $0["type"]?.text == "channel.dead" })
    #expect(death["data"]?["installationId"]?.text == "one")
}

@Test func `a receiver that fails is left alone for a while and told again`() async throws {
    let world = try await HubWorld()
    let receiver = RecordingReceiver()
    let courier = courier(world, receiver)
    try await setWebhook(world)
    _ = try await world.send("nobody")
    _ = try await world.runner.runAll()
    receiver.answer(500)
    try await courier.round()
    try await courier.round()
    #expect(receiver.told.count == 1)
    receiver.answer(204)
    world.clock.advance(milliseconds: 1000)
    try await courier.round()
    try await courier.round()
    #expect(receiver.told.map { $0["id"]?.text } == [receiver.told[0]["id"]?.text, receiver.told[0]["id"]?.text])
    #expect(receiver.told[0]["data"]?["state"]?.text == "NoTargetFound")
}

/// The counts of an event's funnel by step.
private func funnel(_ event: JSONValue?) -> [String: Int64] {
    var counts: [String: Int64] = [:]
    for step in event?["data"]?["funnel"]?.items ?? [] {
        if let name = step["step"]?.text { counts[name] = step["count"]?.integer }
    }
    return counts
}

@Test func `a campaign's numbers are told with its end, and once a minute while it runs and they change`() async throws
{
    let world = try await HubWorld()
    let receiver = RecordingReceiver()
    let courier = courier(world, receiver)
    try await setWebhook(world)
    for number in 0..<3 { try await world.put("i\(number)", channel: "c\(number)") }
    world.sender.refuse("c0", PushVerdict(.unavailable, reason: "Busy", retryAfter: 200_000))
    world.sender.refuse("c1", PushVerdict(.badChannel, reason: "BadDeviceToken"))
    let record = try await world.campaign("{}")
    _ = try await world.runner.runAll()
    try await courier.round()
    #expect(receiver.told.compactMap { $0["type"]?.text } == ["channel.dead"], "it has not run for a minute")
    world.clock.advance(milliseconds: 61_000)
    for _ in 0..<3 {
        try await courier.round()
        world.clock.advance(milliseconds: 1000)
    }
    #expect(receiver.told.count == 2)
    let first = try #require(receiver.told.last)
    #expect(first["type"]?.text == "campaign.report")
    #expect(first["data"]?["send"]?.text == record.id)
    #expect(first["data"]?["state"]?.text == "Processing")
    #expect(funnel(first).filter { $0.value > 0 } == ["targeted": 3, "eligible": 3, "attempted": 3, "accepted": 1])
    #expect(first["data"]?["ends"]?["pending"]?.integer == 1)
    // A minute later they are the same.
    world.clock.advance(milliseconds: 61_000)
    try await courier.round()
    #expect(receiver.told.count == 2)
    world.sender.take("c0")
    world.clock.advance(milliseconds: 200_000)
    _ = try await world.runner.runAll()
    try await courier.round()
    let end = try #require(receiver.told.last)
    #expect(end["type"]?.text == "send.ended")
    #expect(funnel(end)["accepted"] == 2)
    #expect(end["data"]?["state"]?.text == "Completed")
    let report = try await world.hubs.report(record.id, of: world.hub, by: NoTimelines())
    #expect(end["data"]?["funnel"] == report.members.first { $0.name == "funnel" }?.value)
    world.clock.advance(milliseconds: 61_000)
    try await courier.round()
    #expect(receiver.told.count == 3, "nothing is told twice")
}

@Test func `the numbers of a campaign that go on after its end are told for an hour`() async throws {
    let world = try await HubWorld()
    let receiver = RecordingReceiver()
    let opened = Mutex(false)
    let courier = HubWebhookDispatcher(
        store: world.database, sender: receiver,
        reports: { [hubs = world.hubs] id, hub in
            var report = try await hubs.report(id, of: hub, by: NoTimelines())
            if opened.withLock({ $0 }) { report.ends[.opened] = 1 }
            return report.members
        }, clock: world.clock.function, logger: Logger(label: "test", factory: { _ in SwiftLogNoOpLogHandler() }))
    try await setWebhook(world)
    try await world.put("one")
    _ = try await world.campaign("{}")
    _ = try await world.runner.runAll()
    try await courier.round()
    #expect(receiver.told.count == 1)
    opened.withLock { $0 = true }
    try await courier.round()
    #expect(receiver.told.count == 1, "the minute is not over")
    world.clock.advance(milliseconds: 60_000)
    try await courier.round()
    #expect(receiver.told.last?["type"]?.text == "campaign.report")
    #expect(receiver.told.last?["data"]?["ends"]?["opened"]?.integer == 1)
    #expect(receiver.told.last?["id"]?.text != receiver.told.first?["id"]?.text)
    opened.withLock { $0 = false }
    world.clock.advance(milliseconds: 3_600_000)
    try await courier.round()
    #expect(receiver.told.count == 2, "the hour is over")
}

@Test func `a key of the API has its rights alone, of its hub, until its end`() async throws {
    let world = try await HubWorld()
    let access = HubAccess(store: world.database) { ServerNames([String](), ports: [Int]()) }
    let key = HubAPIKey(
        hub: world.hub.number, name: "reader", rights: .report,
        expiresAt: world.clock.now.adding(milliseconds: 1000), createdAt: world.clock.now)
    try await world.database.addAPIKey(key, hash: HubAPIKey.hash("aldaba_hub_x"))
    try await access.check(apiKey: "aldaba_hub_x", for: [.send, .report], of: world.hub, now: world.clock.now)
    await #expect(throws: HubAccess.Refusal.forbidden) {
        try await access.check(apiKey: "aldaba_hub_x", for: .send, of: world.hub, now: world.clock.now)
    }
    var other = world.hub
    other.number += 1
    for (text, hub, now) in [
        ("aldaba_hub_y", world.hub, world.clock.now), ("aldaba_hub_x", other, world.clock.now),
        ("aldaba_hub_x", world.hub, world.clock.now.adding(milliseconds: 1000)),
    ] {
        await #expect(throws: HubAccess.Refusal.self) {
            try await access.check(apiKey: text, for: .report, of: hub, now: now)
        }
    }
    #expect(try await world.database.removeKey("reader", of: world.hub.number))
    #expect(try await world.database.apiKeys(of: world.hub.number).isEmpty)
}

@Test func `the document describes every route of hubs, and no other`() async throws {
    let world = try await HubWorld()
    let router = Router(context: ControlContext.self)
    OwnRoutes(
        hubs: world.hubs, access: HubAccess(store: world.database) { ServerNames([String](), ports: [Int]()) },
        writes: HubWriteGate(rates: HubWriteRates(), isSecured: true),
        providers: ProviderAccess(authentication: nil),
        timelines: NoTimelines(), withdrawal: NoWithdrawal(), slots: StreamSlots(limit: 1, label: "test_streams")
    ).add(to: router)
    HubRegisterInterface(
        database: world.database, apps: { [] }, answers: WebhookAnswers(), authority: { "localhost" },
        changed: {}, changes: AuditedChanges(log: nil), clock: world.clock.function
    ).add(to: router, isSecured: false)
    let served = Set(
        router.routes.map { "\($0.method.rawValue.lowercased()) \($0.path)" }.filter { $0.contains("hubs") }
            .map { $0.replacing("//", with: "/") })
    var described: Set<String> = []
    for path in OpenAPIDocument.tree["paths"]?.members ?? [] where path.name.hasPrefix("/v1/hubs") {
        for operation in path.value.members ?? [] { described.insert("\(operation.name) \(path.name)") }
    }
    #expect(served == described)
}

@Test func `a campaign that cannot be read ends without numbers, and holds up no other event`() async throws {
    let world = try await HubWorld()
    let receiver = RecordingReceiver()
    let unreadable = Mutex("")
    let courier = HubWebhookDispatcher(
        store: world.database, sender: receiver,
        reports: { [hubs = world.hubs] id, hub in
            if id == unreadable.withLock({ $0 }) { throw UnreadableSend("part") }
            return try await hubs.report(id, of: hub, by: NoTimelines()).members
        }, clock: world.clock.function, logger: Logger(label: "test", factory: { _ in SwiftLogNoOpLogHandler() }))
    try await setWebhook(world)
    try await world.put("one")
    let first = try await world.campaign("{}", key: "1")
    unreadable.withLock { $0 = first.id }
    _ = try await world.runner.runAll()
    let second = try await world.campaign("{}", key: "2")
    _ = try await world.runner.runAll()
    try await courier.round()
    #expect(receiver.told.map { $0["data"]?["send"]?.text } == [first.id, second.id])
    #expect(receiver.told.map { $0["data"]?["ends"]?["accepted"]?.integer } == [nil, 1])
    // The receiver took both: it is not left alone.
    _ = try await world.send(nil)
    _ = try await world.runner.runAll()
    try await courier.round()
    #expect(receiver.told.count == 3)
}

@Test func `one report a round is asked for of each hub, who waits longest first`() async throws {
    let world = try await HubWorld()
    let receiver = RecordingReceiver()
    let asked = Mutex<[String]>([])
    let courier = HubWebhookDispatcher(
        store: world.database, sender: receiver,
        reports: { id, _ in
            asked.withLock { $0.append(id) }
            return []
        }, clock: world.clock.function, logger: Logger(label: "test", factory: { _ in SwiftLogNoOpLogHandler() }))
    try await setWebhook(world)
    try await world.put("one")
    world.sender.refuse("token of one", PushVerdict(.unavailable, retryAfter: 600_000))
    var ids: [String] = []
    for key in ["a", "b", "c"] { ids.append(try await world.campaign("{}", key: key).id) }
    _ = try await world.runner.runAll()
    world.clock.advance(milliseconds: 61_000)
    for count in 1...3 {
        try await courier.round()
        #expect(asked.withLock { $0.count } == count)
        world.clock.advance(milliseconds: 1000)
    }
    try await courier.round()
    #expect(asked.withLock { $0 }.sorted() == ids.sorted())
    world.clock.advance(milliseconds: 57_000)
    try await courier.round()
    let all = asked.withLock { $0 }
    #expect(all.count == 4)
    #expect(all.last == all.first)
    // So it is where they end together.
    for id in ids { _ = try await world.hubs.cancel(id, of: world.hub) }
    for count in 1...3 {
        try await courier.round()
        #expect(receiver.told.filter { $0["type"]?.text == "send.ended" }.count == count)
    }
    #expect(asked.withLock { $0.count } == 7)
}

@Test func `what cannot be read is told as such`() {
    let problem = HubProblem(UnreadableSend("part"))
    #expect(problem?.status == .conflict)
    #expect(problem?.code == "unreadable")
    #expect(problem?.detail.contains("part") == true)
}
