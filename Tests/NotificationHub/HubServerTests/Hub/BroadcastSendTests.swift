import HubProtocol
import PushCore
import Testing

@testable import HubServer

private let hello = #"{"aps":{"alert":"Hello"}}"#

/// Each device's payloads.
private func payloads(_ count: UInt64, _ server: DeviceServer) async throws -> [[String]] {
    var all: [[String]] = []
    for number in 1...count { all.append(try await server.payloads(number)) }
    return all
}

/// Everybody's end states, those that nobody has left out.
private func ends(_ report: SendReport) -> [SendReport.End: Int] { report.ends.filter { $0.value > 0 } }

@Test func `those who are connected get a send at once, the others when they connect, each once`() async throws {
    let (world, server) = try await HubWorld.withDevices(4)
    for number in 1...3 { try await server.login(UInt64(number)) }
    let record = try await world.send(nil, body: hello)
    _ = try await world.runner.runAll()
    try await server.settle()
    #expect(try await payloads(4, server) == [[hello], [hello], [hello], []])
    #expect(world.sender.pushes.isEmpty)
    #expect(try await world.now(record).state == .completed)
    let parts = try await world.hubs.store.parts(ofSend: record.number)
    #expect(parts.map(\.count) == [4])
    #expect(parts.allSatisfy { $0.broadcast != nil })
    #expect(ends(try await world.report(record, server)) == [.waiting: 4])
    // Who has not connected has a row all the same, on whatever page.
    for limit in [1, 3, 4, 10] {
        var all: [SendRecipient] = []
        while all.count < 9 {
            let page = try await world.hubs.recipients(
                of: record, hub: world.hub, after: all.last.map { (installation: $0.installation, part: $0.part) },
                limit: limit,
                by: server.timelines)
            all += page
            if page.count < limit { break }
        }
        #expect(all.map(\.name) == ["i1", "i2", "i3", "i4"])
        #expect(all.allSatisfy { $0.end == .waiting && $0.attempts == 1 && $0.outcome == .success })
        #expect(all.map { $0.notification == nil } == [false, false, false, true])
    }
    for _ in 0..<2 { try await server.login(4) }
    try await server.login(1)
    try await server.settle()
    #expect(try await payloads(4, server) == Array(repeating: [hello], count: 4))
    let report = try await world.report(record, server)
    #expect(ends(report) == [.waiting: 4])
    #expect(report.funnel[.targeted] == 4)
    #expect(report.funnel[.accepted] == 4)
    let rows = try await world.hubs.recipients(
        of: record, hub: world.hub, after: nil, limit: 10, by: server.timelines)
    #expect(rows.map(\.name) == ["i1", "i2", "i3", "i4"])
    #expect(rows.allSatisfy { $0.notification != nil })
    #expect(try await world.hubs.store.outcomes(of: record.number).map(\.count) == [4])
    try await server.stop()
}

@Test func `who has no copy yet is in the report under their own language and version`() async throws {
    let (world, server) = try await HubWorld.withDevices(6) { number in
        #","locale":"\#(number % 2 == 0 ? "de-AT" : "fr")","appVersion":"\#(number > 4 ? "2.0" : "1.0")""#
    }
    try await server.login(1)
    let record = try await world.send(nil, body: hello)
    _ = try await world.runner.runAll()
    try await server.settle()
    // What each part of the report has of a step.
    func counts(_ step: SendFunnel.Step) async throws -> [SendReport.Dimension: [String: Int]] {
        let report = try await world.report(record, server)
        return report.parts.filter { $0.key != .reason }.mapValues { $0.mapValues { $0[step] } }
    }
    let all: [SendReport.Dimension: [String: Int]] = [
        .platform: ["aldaba": 6], .locale: ["de-at": 3, "fr": 3], .version: ["1.0": 4, "2.0": 2],
    ]
    #expect(try await counts(.targeted) == all)
    #expect(try await counts(.accepted) == all)
    // One dies, of whom the store still knows all; another is deleted, of whom nothing is known any more.
    let second = try await world.hubs.installation("i2", of: world.hub)
    try await world.put("thief", channel: try #require(second.installation.channel).key, platform: "aldaba")
    #expect(try await counts(.targeted) == all)
    _ = try await world.hubs.delete("i6", of: world.hub)
    #expect(
        try await counts(.targeted) == [
            .platform: ["aldaba": 6], .locale: ["": 1, "de-at": 2, "fr": 3], .version: ["": 1, "1.0": 4, "2.0": 1],
        ])
    for number in 1...6 { try await server.login(UInt64(number)) }
    try await server.settle()
    #expect(try await counts(.targeted)[.platform] == ["aldaba": 6])
    try await server.stop()
}

@Test func `of a large send the connected ones have it a second before its members are looked at`() async throws {
    let (world, server) = try await HubWorld.withDevices(200)
    try await server.login(7)
    let record = try await world.send(nil, body: hello)
    #expect(try await world.runner.runAll() == world.clock.now.adding(milliseconds: 1000))
    try await server.settle()
    #expect(try await server.payloads(7) == [hello])
    #expect(try await world.now(record).state == .processing)
    world.clock.advance(milliseconds: 1000)
    _ = try await world.runner.runAll()
    #expect(try await world.now(record).state == .completed)
    #expect(ends(try await world.report(record, server)) == [.waiting: 200])
    try await server.stop()
}

@Test func `who has left gets nothing, and who came later does not either`() async throws {
    let (world, server) = try await HubWorld.withDevices(6)
    let record = try await world.send(nil, body: hello)
    _ = try await world.runner.runAll()
    _ = try await world.hubs.delete("i1", of: world.hub)
    // Another channel, of a device that was there before; and back again.
    let other = try await server.register(7)
    let token = try #require(try await world.hubs.installation("i2", of: world.hub).installation.channel)
    try await world.put("i2", channel: other, platform: "aldaba")
    try await world.put("i2", channel: token.key, platform: "aldaba")
    let third = try #require(try await world.hubs.installation("i3", of: world.hub).installation.channel)
    try await world.put("late", channel: try await server.register(8), platform: "aldaba")
    // Whose channel another installation takes has left, too.
    try await world.put("thief", channel: third.key, platform: "aldaba")
    try await world.put("i4", #","tags":["new"]"#, channel: try await server.register(4), platform: "aldaba")
    for number in 1...8 { try await server.login(UInt64(number)) }
    try await server.settle()
    let got = try await payloads(8, server)
    #expect([0, 1, 2, 6, 7].allSatisfy { got[$0].isEmpty })
    #expect(Array(got[4...5]) == [[hello], [hello]])
    let report = try await world.report(record, server)
    #expect(report.ends.values.reduce(0, +) == 6)
    #expect(report.funnel[.targeted] == 6)
    try await server.stop()
}

@Test func `a campaign is one broadcast for each payload that there is`() async throws {
    let (world, server) = try await HubWorld.withDevices(60) { number in
        #","locale":"\#(["de-AT", "de", "fr"][Int(number % 3)])","userId":"u\#(number)""#
    }
    let record = try await world.campaign(
        #"""
        {"experiment":{"holdOut":20,"variants":[
         {"name":"a","share":40,"content":{"title":"A","locales":{"de":{"title":"A auf Deutsch"}}}},
         {"name":"b","share":40,"content":{"title":"B"}}]}}
        """#)
    _ = try await world.runner.runAll()
    for number in 1...60 { try await server.login(UInt64(number)) }
    try await server.settle()
    let parts = try await world.hubs.store.parts(ofSend: record.number)
    #expect(Set(parts.map { "\($0.variant ?? "") \($0.locale ?? "")" }) == ["a de", "a fr", "b de"])
    let heldOut = try await world.hubs.store.leftOut(of: record.number)[.heldOut] ?? 0
    let inParts = parts.map(\.count).reduce(0, +)
    #expect(inParts + heldOut == 60)
    var titles: [String: Int] = [:]
    for (index, got) in try await payloads(60, server).enumerated() {
        #expect(got.count <= 1)
        guard let one = got.first else { continue }
        let title = ["A auf Deutsch", "A", "B"].first { one.contains("\"title\":\"\($0)\"") } ?? ""
        titles[title, default: 0] += 1
        if title.hasPrefix("A") { #expect((title == "A") == ((index + 1) % 3 == 2)) }
    }
    let sum = titles.values.reduce(0, +)
    #expect(sum + heldOut == 60)
    #expect(titles.count == 3)
    let variants = try await world.hubs.store.variants(of: record.number)
    let ofA = (titles["A"] ?? 0) + (titles["A auf Deutsch"] ?? 0)
    #expect(variants["a"] == ofA)
    #expect(variants["b"] == titles["B"])
    let report = try await world.report(record, server)
    #expect(report.ends == [.waiting: sum, .ineligible: heldOut])
    #expect(report.funnel[.targeted] == 60)
    #expect(report.parts[.variant]?.mapValues { $0[.accepted] } == ["a": ofA, "b": titles["B"] ?? 0])
    #expect(report.parts[.reason]?["heldOut"]?[.targeted] == heldOut)
    let rows = try await world.hubs.recipients(
        of: record, hub: world.hub, after: nil, limit: 100, by: server.timelines)
    #expect(rows.count == 60)
    #expect(rows.filter { $0.reason == "heldOut" && $0.end == .ineligible && $0.variant == nil }.count == heldOut)
    #expect(rows.filter { $0.variant == "a" }.count == ofA)
    try await server.stop()
}

@Test func `what differs by recipient, is paced, is for few or is attempted once goes in slices`() async throws {
    let (world, server) = try await HubWorld.withDevices(3, minimum: 3) { number in
        #","tags":["\#(number)"],"templates":{"t":{"body":"{\"a\":\"$(name)\"}"}}"#
    }
    let sends = [
        try await world.send("1 || 2", body: hello),
        try await world.send(nil, format: .template, body: #"{"name":"you"}"#),
        try await world.campaign("{}", rate: 1000),
        try await world.hubs.accept(
            SendRequest(
                format: .native(.apns), body: Array(hello.utf8), headers: ["apns-expiration": "0"],
                target: .audience(nil)), for: world.hub),
        try await world.send(nil, body: "no JSON"),
    ]
    _ = try await world.runner.runAll()
    for record in sends {
        #expect(try await world.hubs.store.parts(ofSend: record.number).isEmpty)
        #expect(try await world.now(record).state == .completed)
    }
    #expect(world.sender.pushes.count == 14)
    try await server.stop()
}

@Test func `what cannot be reached is told, and the others get it`() async throws {
    let (world, server) = try await HubWorld.withDevices(3)
    try await world.put("nobody", channel: "no token", platform: "aldaba")
    try await world.put("apple", channel: "an Apple's")
    let record = try await world.send(nil, body: hello)
    _ = try await world.runner.runAll()
    for number in 1...3 { try await server.login(UInt64(number)) }
    try await server.settle()
    #expect(try await payloads(3, server) == [[hello], [hello], [hello]])
    #expect(world.sender.channels == ["an Apple's"])
    let report = try await world.report(record, server)
    #expect(ends(report) == [.waiting: 3, .refused: 1, .accepted: 1])
    #expect(report.parts[.reason]?.keys.sorted() == ["BadChannel"])
    let dead = try await world.hubs.installation("nobody", of: world.hub)
    #expect(dead.fault?.word == "BadChannel")
    try await server.stop()
}

@Test func `what was taken back reaches nobody any more, and has gone from the others`() async throws {
    let (world, server) = try await HubWorld.withDevices(3)
    try await server.login(1)
    let record = try await world.send(nil, body: hello)
    _ = try await world.runner.runAll()
    try await server.settle()
    #expect(
        try await world.hubs.withdraw(
            record.id, of: world.hub, timelines: server.timelines, by: server.service) == 3)
    try await server.login(2)
    try await server.settle()
    #expect(try await payloads(2, server).last == [])
    let report = try await world.report(record, server)
    #expect(report.ends.values.reduce(0, +) == 3)
    let ended = report.ends[.ended] ?? 0
    #expect(ended >= 2)
    try await server.stop()
}

@Test func `a send that is cancelled while it begins makes no copy`() async throws {
    let (world, server) = try await HubWorld.withDevices(2)
    let record = try await world.send(nil, body: hello)
    let audience = Bitmap([1, 2])
    try await world.hubs.store.begin(
        record.number, audience: audience, targeted: 2, waves: nil, parts: [SendPartDraft(audience: audience)],
        at: world.clock.now)
    let begun = try await world.now(record)
    let part = try #require(try await world.hubs.store.nextPart(ofSend: record.number))
    try await world.hubs.handOver(part, of: begun, world.hub)
    _ = try await world.hubs.cancel(record.id, of: world.hub)
    for number in 1...2 { try await server.login(UInt64(number)) }
    try await server.settle()
    #expect(try await payloads(2, server) == [[], []])
    #expect(ends(try await world.report(record, server)) == [.ended: 2])
    try await server.stop()
}

@Test func `who has not come when it expires has expired`() async throws {
    let (world, server) = try await HubWorld.withDevices(2)
    let record = try await world.hubs.accept(
        SendRequest(
            format: .native(.apns), body: Array(hello.utf8), headers: ["servicebusnotification-timetolive": "60"],
            target: .audience(nil)), for: world.hub)
    _ = try await world.runner.runAll()
    try await server.login(1)
    try await server.settle()
    world.clock.advance(milliseconds: 60_000)
    try await server.login(2)
    try await server.settle()
    #expect(try await payloads(2, server) == [[], []])
    let report = try await world.report(record, server)
    #expect(report.ends.values.reduce(0, +) == 2)
    #expect(report.ends[.expired] == 1)
    #expect(report.funnel[.expired] == 1)
    try await server.stop()
}

@Test func `each wave is a broadcast of its own, and who waits for the end of quiet hours is in a later one`()
    async throws
{
    let (world, server) = try await HubWorld.withDevices(4) { number in
        #","timeZone":"\#(number % 2 == 0 ? "Asia/Tokyo" : "Europe/Berlin")""#
    }
    try world.set("2026-06-01T14:00:00Z")
    let record = try await world.campaign(
        #"{"quiet":{"from":"22:00","to":"07:00","then":"wait","unknownZone":"UTC"}}"#)
    let due = try #require(try await world.runner.runAll())
    for number in 1...4 { try await server.login(UInt64(number)) }
    try await server.settle()
    #expect(try await payloads(4, server).map(\.count) == [1, 0, 1, 0])
    #expect(ends(try await world.report(record, server)) == [.waiting: 2, .pending: 2])
    world.clock.advance(milliseconds: due.milliseconds(since: world.clock.now))
    _ = try await world.runner.runAll()
    try await server.settle()
    #expect(try await payloads(4, server).map(\.count) == [1, 1, 1, 1])
    #expect(try await world.hubs.store.parts(ofSend: record.number).map(\.count) == [2, 2])
    #expect(ends(try await world.report(record, server)) == [.waiting: 4])
    try await server.stop()
}

@Test func `while it cannot be told who is in, nobody is passed over`() async throws {
    let (world, server) = try await HubWorld.withDevices(2)
    try await server.login(1)
    server.isDeaf.withLock { $0 = true }
    _ = try await world.send(nil, body: hello)
    _ = try await world.runner.runAll()
    try await server.login(2)
    try await server.settle()
    #expect(try await payloads(2, server) == [[], []])
    server.isDeaf.withLock { $0 = false }
    try await server.login(1)
    try await server.login(2)
    try await server.settle()
    #expect(try await payloads(2, server) == [[hello], [hello]])
    try await server.stop()
}

@Test func `lists of a damaged database are asked for once by each login, and nobody is passed over`() async throws {
    let (world, server) = try await HubWorld.withDevices(2)
    try await server.login(1)
    server.damage.withLock { $0.isThere = true }
    _ = try await world.send(nil, body: hello)
    _ = try await world.runner.runAll()
    try await server.login(2)
    for _ in 0..<100 { try await server.settle() }
    #expect(server.damage.withLock { $0.asked } <= 3)
    #expect(try await payloads(2, server) == [[], []])
    server.damage.withLock { $0.isThere = false }
    try await server.login(1)
    try await server.login(2)
    try await server.settle()
    #expect(try await payloads(2, server) == [[hello], [hello]])
    try await server.stop()
}

@Test func `who is deleted between their copy and the slice counts once`() async throws {
    let (world, server) = try await HubWorld.withDevices(3)
    for number in 1...3 { try await server.login(UInt64(number)) }
    let record = try await world.send(nil, body: hello)
    let audience = Bitmap([1, 2, 3])
    try await world.hubs.store.begin(
        record.number, audience: audience, targeted: 3, waves: nil, parts: [SendPartDraft(audience: audience)],
        at: world.clock.now)
    let begun = try await world.now(record)
    try await world.hubs.handOver(
        try #require(try await world.hubs.store.nextPart(ofSend: record.number)), of: begun, world.hub)
    try await server.settle()
    #expect(try await payloads(3, server) == [[hello], [hello], [hello]])
    _ = try await world.hubs.delete("i1", of: world.hub)
    _ = try await world.runner.runAll()
    let report = try await world.report(record, server)
    #expect(ends(report) == [.waiting: 3])
    let rows = try await world.hubs.recipients(
        of: try await world.now(record), hub: world.hub, after: nil, limit: 9, by: server.timelines)
    #expect(rows.count == 3)
    try await server.stop()
}
