import HubProtocol
import HubServer
import PushCore
import PushServer
import Synchronization
import Testing

private let busy = PushVerdict(.unavailable, reason: "HTTP 503", retryAfter: 0)

private func night(_ then: String) -> String {
    #"{"quiet":{"from":"22:00","to":"08:00","then":"\#(then)","unknownZone":"UTC"}}"#
}

extension HubWorld {
    fileprivate func ends(_ record: SendRecord) async throws -> [SendReport.End: Int] {
        try await hubs.report(record.id, of: hub, by: NoTimelines()).ends
    }

    /// Advances to an instant that the runner told.
    fileprivate func advance(to due: Timestamp) { clock.advance(milliseconds: due.milliseconds(since: clock.now)) }
}

@Test func `what is tried again keeps to the rate`() async throws {
    let world = try await HubWorld()
    for number in 0..<20 {
        try await world.put("i\(number)")
        world.sender.refuse("token of i\(number)", busy)
    }
    let record = try await world.hubs.accept(
        SendRequest(format: .native(.apns), body: Array("{}".utf8), target: .audience(nil), rate: 4), for: world.hub)
    var handed: [(at: Timestamp, count: Int)] = []
    var before = 0
    while let due = try await world.runner.runAll() {
        let count = world.sender.pushes.count
        handed.append((world.clock.now, count - before))
        before = count
        if count > 40 { for number in 0..<20 { world.sender.take("token of i\(number)") } }
        world.advance(to: due)
    }
    for (index, each) in handed.enumerated() {
        let second = handed[index...].prefix { $0.at.milliseconds(since: each.at) < 1000 }
        #expect(second.reduce(0) { $0 + $1.count } <= 4)
    }
    #expect(try await world.now(record).state == .completed)
    #expect(try await world.ends(record) == [.accepted: 20])
}

@Test func `whom another attempt would wake in quiet hours has it at their end, and is patient from then on`()
    async throws
{
    let world = try await HubWorld()
    try world.set("2026-06-01T21:59:30Z")
    try await world.put("one", #","timeZone":"UTC""#)
    try await world.put("york", #","timeZone":"America/New_York""#)
    for id in ["one", "york"] {
        world.sender.refuse("token of \(id)", PushVerdict(.unavailable, reason: "busy", retryAfter: 60_000))
    }
    let record = try await world.campaign(night("wait"))
    world.advance(to: try #require(try await world.runner.runAll()))
    #expect(WireTime.write(world.clock.now) == "2026-06-01T22:00:30Z")
    world.sender.take("token of york")
    let due = try #require(try await world.runner.runAll())
    #expect(WireTime.write(due) == "2026-06-02T08:00:00Z")
    #expect(world.sender.channels.filter { $0 == "token of one" }.count == 1)
    #expect(try await world.ends(record) == [.pending: 1, .accepted: 1])
    // The push service is busy still: the half hour is not over.
    world.advance(to: due)
    let later = try #require(try await world.runner.runAll())
    #expect(later.milliseconds(since: due) == 60_000)
    world.sender.take("token of one")
    world.advance(to: later)
    #expect(try await world.runner.runAll() == nil)
    #expect(try await world.now(record).state == .completed)
    #expect(try await world.ends(record) == [.accepted: 2])
    #expect(Set(world.sender.pushes.map(\.id)).count == 2)
}

@Test func `quiet hours leave those out of another attempt who are not to wait`() async throws {
    let world = try await HubWorld()
    try world.set("2026-06-01T21:59:30Z")
    try await world.put("one", #","timeZone":"UTC""#)
    world.sender.refuse("token of one", PushVerdict(.unavailable, reason: "busy", retryAfter: 60_000))
    let record = try await world.campaign(night("skip"))
    world.advance(to: try #require(try await world.runner.runAll()))
    #expect(try await world.runner.runAll() == nil)
    #expect(world.sender.pushes.count == 1)
    #expect(try await world.now(record).state == .completed)
    #expect(try await world.ends(record) == [.ineligible: 1])
    let rows = try await world.database.recipients(of: record.number, after: nil, limit: 9)
    #expect(rows.map(\.reason) == ["quiet"])
}

@Test func `what is tried again and later waves come once each, in their time`() async throws {
    let world = try await HubWorld()
    try world.set("2026-06-01T00:00:00Z")
    for number in 0..<3 {
        try await world.put("early\(number)", #","timeZone":"Test/TenMinutesEast""#)
        try await world.put("late\(number)", #","timeZone":"UTC""#)
        world.sender.refuse("token of early\(number)", PushVerdict(.unavailable, reason: "busy", retryAfter: 420_000))
    }
    let record = try await world.campaign(
        #"{"local":{"time":"2026-06-02T09:00:00","past":"skip","gap":"end","overlap":"first","unknownZone":"skip"}}"#)
    var arrivals: [String: [String]] = [:]
    var known = 0
    while let due = try await world.runner.runAll() {
        world.advance(to: due)
        // Two attempts fail, before the second wave and after it.
        if due >= (try #require(WireTime.read("2026-06-02T09:04:00Z"))) {
            for number in 0..<3 { world.sender.take("token of early\(number)") }
        }
        let begin = known
        _ = try await world.runner.runAll()
        known = world.sender.pushes.count
        for push in world.sender.pushes[begin..<known] {
            arrivals[push.channel.key, default: []].append(WireTime.write(world.clock.now))
        }
    }
    for number in 0..<3 {
        #expect(
            arrivals["token of early\(number)"] == [
                "2026-06-02T08:50:00Z", "2026-06-02T08:57:00Z", "2026-06-02T09:04:00Z",
            ])
        #expect(arrivals["token of late\(number)"] == ["2026-06-02T09:00:00Z"])
    }
    #expect(Set(world.sender.pushes.map(\.id)).count == 6)
    #expect(try await world.now(record).state == .completed)
    #expect(try await world.ends(record) == [.accepted: 6])
}

/// A push service beside which somebody else acts while a slice is with it.
private struct InterruptedSender: PushSender {
    let verdict: PushVerdict
    let act: @Sendable () async -> Void

    func deliver(_ pushes: [HubPush], of hub: HubRecord) async -> [PushVerdict?] {
        await act()
        return pushes.map { _ in verdict }
    }
}

@Test(arguments: [false, true])
func `what a slice brings that was under way when its send was cancelled is not tried again`(
    isCampaign: Bool
) async throws {
    let meanwhile = Mutex<(@Sendable () async -> Void)?>(nil)
    let world = try await HubWorld(senders: [
        .apns: InterruptedSender(verdict: busy) { await meanwhile.withLock { $0 }?() }
    ])
    for id in ["one", "two"] { try await world.put(id) }
    let record = try await isCampaign ? world.campaign("{}") : world.send(nil)
    let (hubs, hub) = (world.hubs, world.hub)
    meanwhile.withLock {
        $0 = { _ = try? await hubs.cancel(record.id, of: hub) }
    }
    #expect(try await world.runner.runAll() == nil)
    #expect(try await world.now(record).state == .canceled)
    #expect(try await world.ends(record) == [.ended: 2])
    let rows = try await world.database.recipients(of: record.number, after: nil, limit: 9)
    #expect(rows.map(\.retryAt) == [nil, nil])
}
