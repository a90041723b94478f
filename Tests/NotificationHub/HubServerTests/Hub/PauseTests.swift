import AldabaTestSupport
import HubProtocol
import HubServer
import PushCore
import Synchronization
import Testing

private let hello = #"{"title":"Hello"}"#
/// Half of the devices have their turn at once, the others, who are in Tokyo, in the morning: the campaign goes on until then.
private let plan = #"{"quiet":{"from":"22:00","to":"07:00","then":"wait","unknownZone":"UTC"}}"#

/// A campaign of which the devices with odd numbers were handed over as one, and the others wait.
private func begun(
    _ count: UInt64, headers: [String: String] = [:]
) async throws -> (HubWorld, DeviceServer, SendRecord, due: Timestamp) {
    let (world, server) = try await HubWorld.withDevices(count) { number in
        #","timeZone":"\#(number % 2 == 0 ? "Asia/Tokyo" : "Europe/Berlin")""#
    }
    try world.set("2026-06-01T14:00:00Z")
    try await server.login(1)
    let record = try await world.hubs.accept(
        SendRequest(
            format: .content, body: Array(hello.utf8), headers: headers, target: .audience(nil), campaign: "c",
            readsFields: true, plan: try CampaignPlan(text: plan)), for: world.hub)
    let due = try #require(try await world.runner.runAll())
    try await server.settle()
    return (world, server, record, due)
}

/// How many payloads each device has.
private func counts(_ count: UInt64, _ server: DeviceServer) async throws -> [Int] {
    var all: [Int] = []
    for number in 1...count { all.append(try await server.payloads(number).count) }
    return all
}

private func ends(_ report: SendReport) -> [SendReport.End: Int] { report.ends.filter { $0.value > 0 } }

@Test func `while a campaign is held nobody new gets it, and when it goes on they get it once`() async throws {
    let (world, server, record, due) = try await begun(8)
    #expect(try await counts(8, server) == [1, 0, 0, 0, 0, 0, 0, 0])
    _ = try await world.hubs.pause(record.id, of: world.hub)
    try await server.login(3)
    try await server.settle()
    #expect(try await counts(8, server) == [1, 0, 0, 0, 0, 0, 0, 0])
    #expect(ends(try await world.report(record, server)) == [.waiting: 4, .pending: 4])
    // A later send to the same devices is not held up by the one that is.
    let other = try await world.send(nil, body: #"{"aps":{"alert":"Other"}}"#)
    _ = try await world.runner.runAll()
    try await server.settle()
    #expect(try await counts(8, server) == [2, 0, 1, 0, 0, 0, 0, 0])
    // The server begins again, and holds it.
    await (try server.service).stop()
    try world.database.close()
    let again = try await HubWorld(after: world, gateway: server.gateway)
    try await server.login(5)
    _ = try await again.runner.runAll()
    try await server.settle()
    #expect(try await counts(8, server) == [2, 0, 1, 0, 1, 0, 0, 0])
    _ = try await again.hubs.resume(record.id, of: again.hub)
    #expect(try await again.runner.runAll() == due)
    try await server.settle()
    for number in 1...8 { try await server.login(UInt64(number)) }
    try await server.settle()
    #expect(try await counts(8, server) == [2, 1, 2, 1, 2, 1, 2, 1])
    let report = try await again.report(record, server)
    #expect(ends(report) == [.waiting: 4, .pending: 4])
    #expect(try await again.hubs.store.parts(ofSend: record.number).map(\.count) == [1, 3])
    again.clock.advance(milliseconds: due.milliseconds(since: again.clock.now))
    _ = try await again.runner.runAll()
    try await server.settle()
    #expect(try await counts(8, server) == Array(repeating: 2, count: 8))
    #expect(try await again.now(record).state == .completed)
    let rows = try await again.hubs.recipients(
        of: record, hub: again.hub, after: nil, limit: 20, by: server.timelines)
    #expect(rows.map(\.name) == (1...8).map { "i\($0)" })
    #expect(rows.allSatisfy { $0.notification != nil })
    #expect(try await again.hubs.store.parts(ofSend: other.number).map(\.count) == [8])
    try await server.stop()
}

@Test func `a campaign that is held can be ended or taken back, and reaches nobody then`() async throws {
    for isTakenBack in [false, true] {
        let (world, server, record, _) = try await begun(6)
        _ = try await world.hubs.pause(record.id, of: world.hub)
        if isTakenBack {
            let count = try await world.hubs.withdraw(
                record.id, of: world.hub, timelines: server.timelines, by: server.service)
            #expect(count == 3)
        } else {
            _ = try await world.hubs.cancel(record.id, of: world.hub)
        }
        _ = try await world.runner.runAll()
        for number in 2...6 { try await server.login(UInt64(number)) }
        try await server.settle()
        #expect(try await counts(6, server) == [isTakenBack ? 0 : 1, 0, 0, 0, 0, 0])
        let ends = ends(try await world.report(record, server))
        #expect(ends == (isTakenBack ? [.ended: 6] : [.waiting: 1, .ended: 5]))
        await #expect(throws: HubError.self) { try await world.hubs.resume(record.id, of: world.hub) }
        try await server.stop()
    }
}

@Test func `what is held expires when it would have, held or not`() async throws {
    let ttl = ["servicebusnotification-timetolive": "60"]
    for resumesAfter in [30_000, 60_000] as [Int64] {
        let (world, server, record, _) = try await begun(6, headers: ttl)
        _ = try await world.hubs.pause(record.id, of: world.hub)
        world.clock.advance(milliseconds: resumesAfter)
        _ = try await world.hubs.resume(record.id, of: world.hub)
        _ = try await world.runner.runAll()
        if resumesAfter < 60_000 { try await server.login(3) }
        try await server.settle()
        world.clock.advance(milliseconds: 60_000 - resumesAfter)
        for number in 2...6 { try await server.login(UInt64(number)) }
        try await server.settle()
        let got = resumesAfter < 60_000 ? 2 : 1
        let rows = try await world.hubs.recipients(
            of: record, hub: world.hub, after: nil, limit: 10, by: server.timelines)
        #expect(rows.filter { $0.notification != nil }.count == got)
        #expect(try await world.report(record, server).ends[.expired, default: 0] >= 3 - got)
        #expect(try await counts(6, server) == [0, 0, 0, 0, 0, 0])
        try await server.stop()
    }
}

@Test func `who leaves while it is held gets nothing, and is still counted`() async throws {
    let (world, server, record, _) = try await begun(10)
    _ = try await world.hubs.pause(record.id, of: world.hub)
    // One that has it, one that has not, and one with another channel.
    for name in ["i1", "i3"] { _ = try await world.hubs.delete(name, of: world.hub) }
    let fifth = try #require(try await world.hubs.installation("i5", of: world.hub).installation.channel)
    try await world.put("i5", channel: try await server.register(11), platform: "aldaba")
    try await world.put("new", channel: fifth.key, platform: "aldaba")
    _ = try await world.hubs.resume(record.id, of: world.hub)
    _ = try await world.runner.runAll()
    for number in 1...11 { try await server.login(UInt64(number)) }
    try await server.settle()
    #expect(try await counts(11, server) == [1, 0, 0, 0, 0, 0, 1, 0, 1, 0, 0])
    let parts = try await world.hubs.store.parts(ofSend: record.number)
    #expect(parts.map(\.count) == [3, 2])
    let report = try await world.report(record, server)
    #expect(ends(report) == [.waiting: 4, .ineligible: 1, .pending: 5])
    #expect(report.parts[.reason]?["Gone"]?[.targeted] == 1)
    let rows = try await world.hubs.recipients(
        of: record, hub: world.hub, after: nil, limit: 100, by: server.timelines)
    #expect(!rows.contains { $0.end == .waiting && $0.name.isEmpty && $0.notification == nil })
    #expect(rows.contains { $0.end == .ineligible && $0.reason == "Gone" })
    #expect(report.funnel[.targeted] == 10)
    try await server.stop()
}

@Test func `a send that is held while its last slice is under way ends when it goes on`() async throws {
    for isCampaign in [false, true] {
        let sender = RecordingSender()
        let meanwhile = Mutex<(@Sendable () async -> Void)?>(nil)
        let world = try await HubWorld(
            senders: [.apns: Beside(sender: sender) { await meanwhile.withLock { $0 }?() }])
        try await world.put("a")
        let record = try await isCampaign ? world.campaign("{}") : world.send(nil)
        let paused = Mutex(false)
        meanwhile.withLock {
            $0 = {
                do { _ = try await world.hubs.pause(record.id, of: world.hub) } catch { return }
                paused.withLock { $0 = true }
            }
        }
        _ = try await world.runner.runAll()
        #expect(paused.withLock { $0 })
        #expect(try await world.now(record).state == .paused)
        _ = try await world.hubs.resume(record.id, of: world.hub)
        _ = try await world.runner.runAll()
        #expect(try await world.now(record).state == .completed)
        #expect(sender.channels == ["token of a"])
    }
}

@Test(arguments: [true, false])
func `what is held and goes on while the last slice is under way reaches those who have no copy`(
    isCampaign: Bool
) async throws {
    let meanwhile = Mutex<(@Sendable () async -> Void)?>(nil)
    let sender = RecordingSender()
    let (world, server) = try await HubWorld.withDevices(
        4, senders: [.apns: Beside(sender: sender) { await meanwhile.withLock { $0 }?() }])
    try await world.put("phone")
    try await server.login(1)
    let record = try await isCampaign ? world.campaign("{}") : world.send(nil, body: #"{"aps":{"alert":"Hello"}}"#)
    let wentOn = Mutex(0)
    meanwhile.withLock {
        $0 = {
            do {
                _ = try await world.hubs.pause(record.id, of: world.hub)
                _ = try await world.hubs.resume(record.id, of: world.hub)
            } catch { return }
            wentOn.withLock { $0 += 1 }
        }
    }
    func runToEnd() async throws {
        for _ in 0..<5 {
            guard let due = try await world.runner.runAll() else { return }
            world.clock.advance(milliseconds: max(0, due.milliseconds(since: world.clock.now)))
        }
    }
    try await runToEnd()
    #expect(wentOn.withLock { $0 } == 1)
    for number in 1...4 as ClosedRange<UInt64> { try await server.login(number) }
    try await server.settle()
    try await runToEnd()
    #expect(try await counts(4, server) == [1, 1, 1, 1])
    #expect(try await world.now(record).state == .completed)
    #expect(sender.channels == ["token of phone"])
    try await server.stop()
}
