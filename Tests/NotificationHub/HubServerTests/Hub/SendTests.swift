import HubProtocol
import HubServer
import PushCore
import Testing

@Test func `a send reaches whom its expression means, once each`() async throws {
    let world = try await HubWorld()
    try await world.put("one", #","tags":["a","b"]"#)
    try await world.put("two", #","tags":["a"]"#, platform: "aldaba")
    try await world.put("three", #","tags":["a"]"#, platform: "gcm")
    let record = try await world.send("a || b")
    _ = try await world.runner.runAll()
    #expect(world.sender.channels.sorted() == ["token of one", "token of two"])
    #expect(Set(world.sender.pushes.map(\.id)).count == 2)
    let details = try await world.details(record)
    #expect(details.state == .completed)
    #expect(details.outcomes.map(\.count).reduce(0, +) == 2)
    #expect(details.xml.contains("<ApnsOutcomeCounts><Outcome><Name>Success</Name><Count>2</Count></Outcome>"))
}

@Test func `who comes after a send has begun is not meant by it`() async throws {
    let world = try await HubWorld()
    for number in 0..<600 { try await world.put("i\(number)", #","tags":["a"]"#) }
    let record = try await world.send("a")
    world.sender.refuse("token of i599", nil)
    // The push service cannot be asked in the second slice.
    await #expect(throws: (any Error).self) { try await world.runner.runAll() }
    #expect(try await world.details(record).state == .processing)
    try await world.put("late", #","tags":["a"]"#)
    try await world.hubs.delete("i598", of: world.hub)
    world.sender.take("token of i599")
    _ = try await world.runner.runAll()
    #expect(try await world.details(record).state == .completed)
    #expect(!world.sender.channels.contains("token of late"))
    #expect(try await world.details(record).outcomes.map(\.count) == [599])
    // What was handed over again has the id that it had.
    let again = world.sender.pushes.filter { $0.channel.key == "token of i599" }.map(\.id)
    #expect(again.count == 2)
    #expect(Set(again).count == 1)
}

@Test func `a scheduled send begins when it is due, after a restart too, and once`() async throws {
    let world = try await HubWorld()
    try await world.put("one")
    let due = world.clock.now.adding(milliseconds: 60_000)
    let record = try await world.send(nil, dueAt: due)
    #expect(try await world.runner.runAll() == due)
    #expect(world.sender.pushes.isEmpty)
    try world.database.close()
    let again = try await HubWorld(folder: world.folder)
    again.clock.advance(milliseconds: 60_000)
    #expect(try await again.runner.runAll() == nil)
    _ = try await again.runner.runAll()
    #expect(again.sender.pushes.count == 1)
    #expect(try await again.details(record).state == .completed)
}

@Test func `a scheduled send that was cancelled does not begin`() async throws {
    let world = try await HubWorld()
    try await world.put("one")
    let record = try await world.send(nil, dueAt: world.clock.now.adding(milliseconds: 10))
    #expect(try await world.hubs.cancel(record.id, of: world.hub).state == .canceled)
    world.clock.advance(milliseconds: 20)
    _ = try await world.runner.runAll()
    #expect(world.sender.pushes.isEmpty)
    #expect(try await world.hubs.cancel(record.id, of: world.hub) == world.now(record))
}

@Test func `a paused send goes on when it is resumed`() async throws {
    let world = try await HubWorld()
    try await world.put("one")
    let record = try await world.send(nil)
    _ = try await world.hubs.pause(record.id, of: world.hub)
    _ = try await world.runner.runAll()
    #expect(world.sender.pushes.isEmpty)
    _ = try await world.hubs.resume(record.id, of: world.hub)
    _ = try await world.runner.runAll()
    #expect(world.sender.pushes.count == 1)
}

@Test func `a request with the same key counts once`() async throws {
    let world = try await HubWorld()
    try await world.put("one")
    let first = try await world.send(nil, key: "k")
    let second = try await world.send(nil, key: "k")
    #expect(first.id == second.id)
    await #expect(throws: HubError.keyReused) { try await world.send("a", key: "k") }
    _ = try await world.runner.runAll()
    #expect(world.sender.pushes.count == 1)
}

@Test func `a dead channel is marked unless it was put after its death`() async throws {
    let world = try await HubWorld()
    let put = try await world.put("one", #","tags":["a"]"#)
    world.sender.refuse("token of one", PushVerdict(.expiredChannel, diedAt: put.updatedAt.adding(milliseconds: -1)))
    _ = try await world.send("a")
    _ = try await world.runner.runAll()
    #expect(try await world.hubs.installation("one", of: world.hub).fault == nil)
    world.sender.refuse("token of one", PushVerdict(.expiredChannel, diedAt: put.updatedAt))
    let record = try await world.send("a")
    _ = try await world.runner.runAll()
    #expect(try await world.hubs.installation("one", of: world.hub).fault?.word == "ExpiredChannel")
    #expect(try await world.hubs.list(.init(expression: "a"), of: world.hub).isEmpty)
    let number = try await world.hubs.send(record.id, of: world.hub).number
    #expect(try await world.database.faults(of: number, after: 0, limit: 9).map(\.name) == ["one"])
    try await world.put("one", #","tags":["a"]"#)
    #expect(try await world.hubs.list(.init(expression: "a"), of: world.hub).count == 1)
}

@Test func `each template that matches is sent, by its own tags and the installation's`() async throws {
    let world = try await HubWorld()
    try await world.put(
        "one",
        """
        ,"tags":["a"],"pushVariables":{"WHO":"Anna"},"templates":{
            "hello":{"body":"{\\"aps\\":{\\"alert\\":\\"{'Hello ' + $(who)}\\"}}","tags":["news"],
                     "headers":{"apns-priority":"5","x-other":"1"}},
            "loud":{"body":"{\\"aps\\":{\\"alert\\":\\"$(what)\\"}}"}}
        """)
    try await world.put("plain", #","tags":["a","news"]"#)
    _ = try await world.send("a && news", format: .template, body: #"{"what":"x"}"#)
    _ = try await world.runner.runAll()
    #expect(
        world.sender.pushes.map { String(decoding: $0.body, as: UTF8.self) } == [#"{"aps":{"alert":"Hello Anna"}}"#])
    #expect(world.sender.pushes.first?.headers == ["apns-priority": "5"])
    _ = try await world.send("a && !news", format: .template, body: #"{"what":"x"}"#)
    _ = try await world.runner.runAll()
    #expect(
        world.sender.pushes.dropFirst().map { String(decoding: $0.body, as: UTF8.self) } == [#"{"aps":{"alert":"x"}}"#])
    _ = try await world.send("loud || hello", format: .template, body: "{}")
    _ = try await world.runner.runAll()
    #expect(world.sender.pushes.count == 4)
}

@Test func `a platform without a sender has an outcome of its own`() async throws {
    let world = try await HubWorld()
    try await world.put("one", platform: "gcm")
    let record = try await world.send(nil, format: .native(.gcm))
    _ = try await world.runner.runAll()
    #expect(
        try await world.details(record).outcomes == [
            OutcomeCount(platform: .gcm, outcome: .invalidCredentials, count: 1)
        ])
}

@Test func `a test send goes to ten at most and tells of each`() async throws {
    let world = try await HubWorld()
    for number in 0..<12 { try await world.put("i\(number)") }
    world.sender.refuse("token of i3", PushVerdict(.badChannel))
    let (record, results) = try await world.hubs.test(
        SendRequest(format: .native(.apns), body: Array("{}".utf8), target: .audience(nil)), for: world.hub)
    #expect(results.count == 10)
    #expect(Set(results.map(\.installation)).count == 10)
    #expect(try await world.details(record).state == .completed)
    _ = try await world.runner.runAll()
    #expect(world.sender.pushes.count == 10)
}

@Test func `channels that are named are sent to without an installation`() async throws {
    let world = try await HubWorld()
    let record = try await world.hubs.accept(
        SendRequest(format: .native(.apns), body: Array("{}".utf8), target: .channels((0..<600).map { "c\($0)" })),
        for: world.hub)
    _ = try await world.runner.runAll()
    #expect(world.sender.channels == (0..<600).map { "c\($0)" })
    #expect(Set(world.sender.pushes.map(\.id)).count == 600)
    #expect(try await world.details(record).state == .completed)
}

@Test func `nobody is found, and that is told`() async throws {
    let world = try await HubWorld()
    let record = try await world.send("nobody")
    _ = try await world.runner.runAll()
    #expect(try await world.details(record).state == .noTargetFound)
}

@Test func `what cannot be sent is refused before it is accepted`() async throws {
    let world = try await HubWorld(isStrict: true)
    await #expect(throws: HubError.self) { try await world.send("a &&") }
    await #expect(throws: HubError.self) { try await world.send((0..<7).map { "t\($0)" }.joined(separator: "&&")) }
    await #expect(throws: HubError.self) { try await world.send(nil, format: .template, body: "[]") }
    await #expect(throws: HubError.self) {
        try await world.hubs.accept(
            SendRequest(
                format: .native(.apns), body: [], headers: ["apns-priority": "7"], target: .audience(nil)),
            for: world.hub)
    }
}

@Test func `a send that ended a month ago is deleted, with what was noted of it`() async throws {
    let world = try await HubWorld()
    try await world.put("one")
    world.sender.refuse("token of one", PushVerdict(.unavailable))
    let record = try await world.send(nil)
    _ = try await world.runner.runAll()
    world.clock.advance(milliseconds: 29 * 86_400_000)
    try await world.hubs.deleteExpired()
    #expect(try await world.details(record).state == .completed)
    world.clock.advance(milliseconds: 2 * 86_400_000)
    try await world.hubs.deleteExpired()
    await #expect(throws: HubError.self) { try await world.details(record) }
    #expect(try await world.database.faults(of: record.number, after: 0, limit: 9).isEmpty)
}

@Test func `what sends noted of an installation goes with it`() async throws {
    let world = try await HubWorld()
    try await world.put("one", #","userId":"anna""#)
    world.sender.refuse("token of one", PushVerdict(.unavailable))
    let record = try await world.send(nil)
    _ = try await world.runner.runAll()
    #expect(try await world.database.faults(of: record.number, after: 0, limit: 9).count == 1)
    _ = try await world.erase("anna")
    #expect(try await world.database.faults(of: record.number, after: 0, limit: 9).isEmpty)
}

@Test func `a campaign is said to each in their own language`() async throws {
    let world = try await HubWorld()
    try await world.put("one", #","locale":"de-AT""#)
    try await world.put("two", #","locale":"fr""#)
    _ = try await world.send(
        nil, format: .content, body: #"{"title":"Hello","locales":{"de":{"title":"Hallo"}}}"#)
    _ = try await world.runner.runAll()
    #expect(
        world.sender.pushes.map { String(decoding: $0.body, as: UTF8.self) } == [
            #"{"aps":{"alert":{"title":"Hallo"}}}"#, #"{"aps":{"alert":{"title":"Hello"}}}"#,
        ])
    await #expect(throws: HubError.self) {
        try await world.send(nil, format: .content, body: #"{"body":"\#(String(repeating: "x", count: 4096))"}"#)
    }
}

@Test func `a paced send hands over no more than its rate, across a restart too`() async throws {
    let world = try await HubWorld()
    for number in 0..<10 { try await world.put("i\(number)") }
    let request = SendRequest(format: .native(.apns), body: Array("{}".utf8), target: .audience(nil), rate: 4)
    let record = try await world.hubs.accept(request, for: world.hub)
    let begun = world.clock.now
    #expect(try await world.runner.runAll() == begun.adding(milliseconds: 1000))
    _ = try await world.runner.runAll()
    #expect(world.sender.pushes.count == 4)
    world.clock.advance(milliseconds: 999)
    _ = try await world.runner.runAll()
    #expect(world.sender.pushes.count == 4)
    world.clock.advance(milliseconds: 1)
    _ = try await world.runner.runAll()
    #expect(world.sender.pushes.count == 8)
    try world.database.close()
    let again = try await HubWorld(folder: world.folder)
    again.clock.advance(milliseconds: 2000)
    #expect(try await again.runner.runAll() == nil)
    #expect(again.sender.pushes.count == 2)
    #expect(try await again.details(record).state == .completed)
}

@Test func `a send that cannot be read any more holds up no other`() async throws {
    let world = try await HubWorld()
    try await world.put("one")
    let broken = SendRequest(format: .content, body: Array("[]".utf8), target: .audience(nil))
    let first = try #require(
        try await world.database.addSend(
            id: "broken", hub: world.hub.number, broken, state: .enqueued, at: world.clock.now))
    let second = try await world.send(nil)
    _ = try await world.runner.runAll()
    #expect(try await world.details(first).state == .abandoned)
    #expect(try await world.details(second).state == .completed)
}
