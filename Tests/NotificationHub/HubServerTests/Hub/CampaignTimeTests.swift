import HubProtocol
import HubServer
import PushCore
import Testing

private func local(
    _ time: String, past: String = "skip", gap: String = "end", overlap: String = "first", unknown: String = "skip"
) -> String {
    #"{"local":{"time":"\#(time)","past":"\#(past)","gap":"\#(gap)","overlap":"\#(overlap)","unknownZone":"\#(unknown)"}}"#
}

/// Runs a campaign to its end; tells when each channel was handed over, by the clock of the test.
private func arrivals(_ world: HubWorld) async throws -> [String: String] {
    var result: [String: String] = [:]
    var due = try await world.runner.runAll()
    while true {
        for channel in world.sender.channels where result[channel] == nil {
            result[channel] = WireTime.write(world.clock.now)
        }
        guard let next = due else { return result }
        world.clock.advance(milliseconds: max(0, next.milliseconds(since: world.clock.now)))
        due = try await world.runner.runAll()
    }
}

@Test func `a campaign comes at the recipients' own time`() async throws {
    let world = try await HubWorld()
    try world.set("2026-06-01T00:00:00Z")
    try await world.put("berlin", #","timeZone":"Europe/Berlin""#, channel: "b")
    try await world.put("tokyo", #","timeZone":"Asia/Tokyo""#, channel: "t")
    try await world.put("nowhere", #","timeZone":"Moon/Base""#, channel: "n")
    try await world.put("silent", channel: "s")
    let record = try await world.campaign(local("2026-06-02T09:00:00", unknown: "America/New_York"))
    #expect(record.state == .scheduled)
    #expect(
        try await arrivals(world) == [
            "t": "2026-06-02T00:00:00Z", "b": "2026-06-02T07:00:00Z", "n": "2026-06-02T13:00:00Z",
            "s": "2026-06-02T13:00:00Z",
        ])
    #expect(world.sender.pushes.count == 4)
    #expect(try await world.now(record).state == .completed)
}

@Test(arguments: [
    ("now", ["b": "2026-06-01T10:00:00Z", "e": "2026-06-01T13:00:00Z"], [:]),
    ("skip", ["e": "2026-06-01T13:00:00Z"], [ExclusionReason.past: 1]),
    ("next-day", ["b": "2026-06-02T07:00:00Z", "e": "2026-06-01T13:00:00Z"], [:]),
])
func `what is over when a campaign is accepted is done as was said`(
    past: String, expected: [String: String], leftOut: [ExclusionReason: Int]
) async throws {
    let world = try await HubWorld()
    try world.set("2026-06-01T10:00:00Z")
    try await world.put("berlin", #","timeZone":"Europe/Berlin""#, channel: "b")
    try await world.put("york", #","timeZone":"America/New_York""#, channel: "e")
    let record = try await world.campaign(local("2026-06-01T09:00:00", past: past))
    #expect(try await arrivals(world) == expected)
    #expect(try await world.hubs.store.leftOut(of: record.number) == leftOut)
}

@Test(arguments: [
    ("2026-03-29T02:30:00", "end", "first", "2026-03-29T01:00:00Z"),
    ("2026-03-29T02:30:00", "shift", "first", "2026-03-29T01:30:00Z"),
    ("2026-03-29T02:30:00", "skip", "first", nil), ("2026-10-25T02:30:00", "end", "first", "2026-10-25T00:30:00Z"),
    ("2026-10-25T02:30:00", "end", "second", "2026-10-25T01:30:00Z"),
])
func `a change of clocks is done as was said`(time: String, gap: String, overlap: String, expected: String?)
    async throws
{
    let world = try await HubWorld()
    try world.set("2026-01-01T00:00:00Z")
    try await world.put("berlin", #","timeZone":"Europe/Berlin""#, channel: "b")
    let record = try await world.campaign(local(time, gap: gap, overlap: overlap))
    #expect(try await arrivals(world)["b"] == expected)
    #expect(try await world.hubs.store.leftOut(of: record.number) == (expected == nil ? [.gap: 1] : [:]))
    #expect(try await world.now(record).state == .completed)
}

@Test func `a zone that is not known is left out where that was said`() async throws {
    let world = try await HubWorld()
    try world.set("2026-06-01T00:00:00Z")
    try await world.put("nowhere")
    let record = try await world.campaign(local("2026-06-02T09:00:00"))
    #expect(try await arrivals(world) == [:])
    #expect(try await world.hubs.store.leftOut(of: record.number) == [.unknownZone: 1])
    await #expect(throws: HubError.self) {
        try await world.campaign(local("2026-06-02T09:00:00", unknown: "Moon/Base"))
    }
}

@Test(arguments: ["past", "gap", "overlap", "unknownZone"])
func `each of the choices is to be said`(name: String) throws {
    var tree = try JSONValue(text: local("2026-06-02T09:00:00"))
    var part = try #require(tree["local"])
    part.set(name, nil)
    tree.set("local", part)
    #expect {
        try CampaignPlan(tree)
    } throws: { ($0 as? InstallationError)?.path == "/local/\(name)" }
}

private let night = #"{"quiet":{"from":"22:00","to":"08:00","then":"wait","unknownZone":"UTC"}}"#

@Test func `whoever is in quiet hours has it at their end`() async throws {
    let world = try await HubWorld()
    try world.set("2026-06-01T05:00:00Z")
    try await world.put("berlin", #","timeZone":"Europe/Berlin""#, channel: "b")  // 07:00
    try await world.put("tokyo", #","timeZone":"Asia/Tokyo""#, channel: "t")  // 14:00
    try await world.put("york", #","timeZone":"America/New_York""#, channel: "y")  // 01:00
    try await world.put("nowhere", channel: "n")  // 05:00
    let record = try await world.campaign(night)
    #expect(
        try await arrivals(world) == [
            "t": "2026-06-01T05:00:00Z", "b": "2026-06-01T06:00:00Z", "n": "2026-06-01T08:00:00Z",
            "y": "2026-06-01T12:00:00Z",
        ])
    #expect(world.sender.pushes.count == 4)
    #expect(try await world.now(record).state == .completed)
}

@Test func `quiet hours that begin under way hold up the rest`() async throws {
    let world = try await HubWorld()
    try world.set("2026-06-01T21:58:00Z")
    for number in 0..<4 { try await world.put("i\(number)", #","timeZone":"UTC""#, channel: "c\(number)") }
    // Paced to one a minute by the clock: the rate's second is stretched by hand.
    _ = try await world.campaign(night, rate: 1)
    var due = try await world.runner.runAll()
    for _ in 0..<3 {
        world.clock.advance(milliseconds: 60_000)
        due = try await world.runner.runAll()
    }
    #expect(world.sender.pushes.count == 2)
    #expect(due.map(WireTime.write) == "2026-06-02T08:00:00Z")
    try world.set("2026-06-02T08:00:00Z")
    while let next = try await world.runner.runAll() {
        world.clock.advance(milliseconds: max(1, next.milliseconds(since: world.clock.now)))
    }
    #expect(world.sender.channels == ["c0", "c1", "c2", "c3"])
}

@Test func `quiet hours leave out those who are not to wait`() async throws {
    let world = try await HubWorld()
    try world.set("2026-06-01T23:00:00Z")
    try await world.put("one", #","timeZone":"UTC""#)
    let record = try await world.campaign(
        #"{"quiet":{"from":"22:00","to":"08:00","then":"skip","unknownZone":"skip"}}"#)
    #expect(try await arrivals(world) == [:])
    #expect(try await world.hubs.store.leftOut(of: record.number) == [.quiet: 1])
    #expect(try await world.now(record).state == .completed)
}
