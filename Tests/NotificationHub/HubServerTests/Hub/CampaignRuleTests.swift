import HubProtocol
import HubServer
import PushCore
import Testing

@Test func `nobody gets more campaigns than the cap lets through`() async throws {
    let world = try await HubWorld()
    try await world.put("one", #","tags":["a"]"#, channel: "one")
    try await world.put("two", channel: "two")
    let cap = #"{"cap":{"most":2,"hours":24}}"#
    _ = try await world.campaign("{}", audience: "a")
    _ = try await world.runner.runAll()
    // A send that is no campaign does not count.
    _ = try await world.send(nil)
    _ = try await world.runner.runAll()
    _ = try await world.campaign(cap)
    _ = try await world.runner.runAll()
    let third = try await world.campaign(cap)
    _ = try await world.runner.runAll()
    #expect(world.sender.channels.filter { $0 == "one" }.count == 3)
    #expect(world.sender.channels.filter { $0 == "two" }.count == 3)
    #expect(try await world.hubs.store.leftOut(of: third.number) == [.capped: 1])
    let report = try await world.hubs.report(third.id, of: world.hub, by: NoTimelines())
    #expect(report.ends == [.accepted: 1, .ineligible: 1])
    #expect(report.parts[.reason]?.mapValues { $0[.targeted] } == ["capped": 1])
    world.clock.advance(milliseconds: 25 * 3_600_000)
    _ = try await world.campaign(cap)
    _ = try await world.runner.runAll()
    #expect(world.sender.channels.filter { $0 == "one" }.count == 4)
}

@Test func `whom a cancelled campaign did not reach, it does not count for`() async throws {
    let world = try await HubWorld()
    for number in 0..<3 { try await world.put("i\(number)", channel: "c\(number)") }
    let first = try await world.campaign("{}", rate: 1)
    _ = try await world.runner.runAll()
    _ = try await world.hubs.cancel(first.id, of: world.hub)
    #expect(world.sender.channels == ["c0"])
    let second = try await world.campaign(#"{"cap":{"most":1,"hours":24}}"#)
    world.clock.advance(milliseconds: 1000)
    _ = try await world.runner.runAll()
    #expect(world.sender.channels == ["c0", "c1", "c2"])
    #expect(try await world.hubs.store.leftOut(of: second.number) == [.capped: 1])
}

@Test func `only what was taken counts for the cap, or what waits to be`() async throws {
    let world = try await HubWorld()
    let verdicts: [(PushVerdict, isTaken: Bool)] = [
        (PushVerdict(.success), true), (PushVerdict(.wrongToken), false), (PushVerdict(.badChannel), false),
        (PushVerdict(.unavailable, retryAfter: 60_000), true), (PushVerdict(.invalidNotificationSize), false),
    ]
    for (number, (verdict, _)) in verdicts.enumerated() {
        try await world.put("i\(number)", channel: "c\(number)")
        world.sender.refuse("c\(number)", verdict)
    }
    let first = try await world.campaign("{}")
    _ = try await world.runner.runAll()
    #expect(try await world.now(first).targeted == 5)
    // What is dead comes back.
    try await world.put("i2", channel: "c2")
    for number in verdicts.indices { world.sender.take("c\(number)") }
    let before = world.sender.channels.count
    let second = try await world.campaign(#"{"cap":{"most":1,"hours":24}}"#)
    _ = try await world.runner.runAll()
    #expect(world.sender.channels.dropFirst(before).sorted() == ["c1", "c2", "c4"])
    #expect(try await world.hubs.store.leftOut(of: second.number) == [.capped: 2])
    // Cancelled before its second attempt it was not taken, either.
    _ = try await world.hubs.cancel(first.id, of: world.hub)
    _ = try await world.campaign(#"{"cap":{"most":1,"hours":24}}"#)
    _ = try await world.runner.runAll()
    #expect(world.sender.channels.dropFirst(before).sorted() == ["c1", "c2", "c3", "c4"])
}

@Test func `whom a broadcast could not be handed over to has it not counted by the cap`() async throws {
    let (world, server) = try await HubWorld.withDevices(3)
    try await world.put("nobody", channel: "no token", platform: "aldaba")
    _ = try await world.campaign("{}")
    _ = try await world.runner.runAll()
    try await world.put("nobody", channel: try await server.register(4), platform: "aldaba")
    let second = try await world.campaign(#"{"cap":{"most":1,"hours":24}}"#)
    _ = try await world.runner.runAll()
    for number in 1...4 { try await server.login(UInt64(number)) }
    try await server.settle()
    #expect(try await world.hubs.store.leftOut(of: second.number) == [.capped: 3])
    #expect(try await server.payloads(4).count == 1)
    try await server.stop()
}

private let experiment = #"""
    {"experiment":{"holdOut":20,"variants":[{"name":"a","share":40,"content":{"title":"A"}},
     {"name":"b","share":40,"content":{"title":"B"}}]}}
    """#

@Test func `an experiment divides people, the same way again, with all their devices`() async throws {
    let world = try await HubWorld()
    for number in 0..<400 {
        try await world.put("i\(number)", #","userId":"User\#(number / 2)""#, channel: "c\(number)")
    }
    let record = try await world.campaign(experiment)
    _ = try await world.runner.runAll()
    var bodies: [String: String] = [:]
    for push in world.sender.pushes { bodies[push.channel.key] = String(decoding: push.body, as: UTF8.self) }
    for user in 0..<200 { #expect(bodies["c\(2 * user)"] == bodies["c\(2 * user + 1)"]) }
    let parts = ["A", "B"].map { title in bodies.values.filter { $0.contains("\"\(title)\"") }.count }
    let leftOut = try await world.hubs.store.leftOut(of: record.number)[.heldOut] ?? 0
    #expect(parts.reduce(0, +) + leftOut == 400)
    // The campaign's id is another each time: five standard deviations of 200 people round 40, 40 and 20 per cent.
    for part in parts { #expect((90...230).contains(part)) }
    #expect((23...137).contains(leftOut))
    #expect(try await world.hubs.store.variants(of: record.number) == ["a": parts[0], "b": parts[1]])
    #expect(try await world.now(record).targeted == 400)
    let plan = try CampaignPlan(text: experiment)
    let group = plan.experiment?.group(campaign: PersonNumber("x"), person: PersonNumber("anna"))
    #expect(plan.experiment?.group(campaign: PersonNumber("x"), person: PersonNumber("anna")) == group)
    // Another campaign divides otherwise.
    let groups = (0..<50).compactMap {
        plan.experiment?.group(campaign: PersonNumber("c\($0)"), person: PersonNumber("anna"))
    }
    #expect(Set(groups).count == 3)
}

@Test(arguments: [
    #"{"experiment":{"variants":[{"name":"a","share":50,"content":{"title":"A"}}]}}"#,
    #"{"experiment":{"holdOut":0}}"#, #"{"cap":{"most":0,"hours":1}}"#, #"{"cap":{"most":1}}"#,
    #"{"quiet":{"from":"8:00","to":"09:00","then":"wait","unknownZone":"UTC"}}"#,
    #"{"quiet":{"from":"08:00","to":"08:00","then":"wait","unknownZone":"UTC"}}"#,
    #"{"quiet":{"from":"08:00","to":"24:00","then":"wait","unknownZone":"UTC"}}"#,
    #"{"local":{"time":"2026-01-01","past":"now","gap":"end","overlap":"first","unknownZone":"UTC"}}"#,
    #"{"local":{"time":"2026-01-01T09:00:00Z","past":"now","gap":"end","overlap":"first","unknownZone":"UTC"}}"#,
])
func `a wrong plan is told by its member`(text: String) {
    #expect {
        try CampaignPlan(text: text)
    } throws: { ($0 as? InstallationError)?.path.split(separator: "/").count ?? 0 >= 2 }
}

@Test(arguments: [
    experiment,
    #"{"quiet":{"from":"22:00","to":"08:05","then":"wait","unknownZone":"UTC"},"cap":{"most":3,"hours":5}}"#,
    #"{"local":{"time":"2026-01-01T09:00:30","past":"next-day","gap":"shift","overlap":"second","unknownZone":"skip"}}"#,
])
func `a plan is read back as it was`(text: String) throws {
    let plan = try CampaignPlan(text: text)
    #expect(try CampaignPlan(text: plan.tree.json) == plan)
    #expect(try JSONValue(text: plan.tree.json) == JSONValue(text: text))
}

@Test func `test devices get every variant, and are in no count`() async throws {
    let world = try await HubWorld()
    try await world.put("mine", #","tags":["test-device"]"#, channel: "mine")
    try await world.put("others", channel: "others")
    let plan = try CampaignPlan(text: experiment)
    let request = SendRequest(
        format: .content, body: Array(#"{"title":"A"}"#.utf8), target: .audience(nil), campaign: "c", plan: plan)
    let trials = try await world.hubs.tryOut(request, on: nil, of: world.hub)
    #expect(trials.map(\.variant) == ["a", "b"])
    #expect(trials.flatMap { $0.results.map(\.outcome) } == [.success, .success])
    #expect(world.sender.channels == ["mine", "mine"])
    _ = try await world.hubs.tryOut(request, on: ["OTHERS"], of: world.hub)
    #expect(world.sender.channels == ["mine", "mine", "others", "others"])
    await #expect(throws: HubError.self) { try await world.hubs.tryOut(request, on: ["nobody"], of: world.hub) }
    _ = try await world.campaign(#"{"cap":{"most":1,"hours":24}}"#)
    _ = try await world.runner.runAll()
    #expect(world.sender.channels.count == 6)
}

private let templates = #"""
    ,"locale":"de-AT","templates":{"t":{"body":"{\"aps\":{\"alert\":\"{'Hi ' + $(name)}\"}}",
     "locales":{"de":{"body":"{\"aps\":{\"alert\":\"{'Hallo ' + $(name)}\"}}"}}}}
    """#

private func texts(_ preview: NotificationHubs.Preview) -> [String] {
    preview.renderings.map { String(decoding: $0.body, as: UTF8.self) }
}

@Test func `a template has a text for the language of the installation`() async throws {
    let world = try await HubWorld()
    try await world.put("one", templates + #","pushVariables":{"name":"\"Anna\""}"#)
    try await world.put("two", templates.replacing("de-AT", with: "fr"))
    let record = try await world.campaign("{}", format: .template, body: #"{"name":"you"}"#)
    let preview = try await world.hubs.preview(record.request, for: "one", of: world.hub)
    #expect(texts(preview) == [#"{"aps":{"alert":"Hallo \"Anna\""}}"#])
    #expect(preview.limit == 4096)
    _ = try await world.runner.runAll()
    #expect(
        world.sender.pushes.map { String(decoding: $0.body, as: UTF8.self) }.sorted() == [
            #"{"aps":{"alert":"Hallo \"Anna\""}}"#, #"{"aps":{"alert":"Hi you"}}"#,
        ])
    #expect(try await world.now(record).state == .completed)
}

@Test func `a preview tells when a campaign comes to an installation, and why it does not`() async throws {
    let world = try await HubWorld()
    try world.set("2026-06-01T21:00:00Z")
    try await world.put("one", #","timeZone":"Europe/Berlin","locale":"de""#)
    let plan = #"{"quiet":{"from":"22:00","to":"08:00","then":"wait","unknownZone":"UTC"}}"#
    let body = #"{"title":"Hello","locales":{"de":{"title":"Hallo"}}}"#
    let record = try await world.campaign(plan, body: body)
    let preview = try await world.hubs.preview(record.request, for: "one", of: world.hub)
    #expect(preview.quietUntil.map(WireTime.write) == "2026-06-02T06:00:00Z")
    #expect(texts(preview) == [#"{"aps":{"alert":{"title":"Hallo"}}}"#])
    var late = record.request
    late.plan = try CampaignPlan(
        text: #"""
            {"local":{"time":"2026-06-01T09:00:00","past":"skip","gap":"end","overlap":"first","unknownZone":"UTC"}}
            """#)
    #expect(try await world.hubs.preview(late, for: "one", of: world.hub).leftOut == .leftOut(.past))
}

@Test func `a key counts once, with another plan it is refused`() async throws {
    let world = try await HubWorld()
    try await world.put("one")
    let first = try await world.campaign("{}", key: "k")
    #expect(try await world.campaign("{}", key: "k").id == first.id)
    await #expect(throws: HubError.keyReused) {
        try await world.campaign(#"{"cap":{"most":1,"hours":24}}"#, key: "k")
    }
    _ = try await world.runner.runAll()
    #expect(world.sender.pushes.count == 1)
}
