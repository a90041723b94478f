import HubProtocol
import HubServer
import PushCore
import Testing

private func listed(_ world: HubWorld, _ expression: String? = nil, isDead: Bool? = nil) async throws -> [String] {
    try await world.hubs.list(.init(expression: expression, isDead: isDead), of: world.hub).map(\.installation.id)
}

@Test func `what was put is seen by the next question`() async throws {
    let world = try await HubWorld()
    try await world.put("one", #","tags":["a"],"userId":"Anna""#)
    #expect(try await listed(world, "a") == ["one"])
    #expect(try await listed(world, "$UserId:{ANNA}") == ["one"])
    #expect(try await listed(world, "$InstallationId:{ONE}") == ["one"])
    try await world.put("ONE", #","tags":["b"]"#)
    #expect(try await listed(world, "a").isEmpty)
    #expect(try await listed(world, "b") == ["ONE"])
    #expect(try await world.hubs.installation("one", of: world.hub).version == 2)
    #expect(try await world.hubs.delete("one", of: world.hub))
    #expect(try await listed(world).isEmpty)
    #expect(try await listed(world, "!x").isEmpty)
    await #expect(throws: HubError.self) { try await world.hubs.installation("one", of: world.hub) }
}

@Test func `a channel belongs to whoever named it last`() async throws {
    let world = try await HubWorld()
    try await world.put("old", #","tags":["a"]"#, channel: "same")
    try await world.put("new", #","tags":["a"]"#, channel: "same")
    #expect(try await listed(world, "a") == ["new"])
    #expect(try await listed(world, isDead: true) == ["old"])
    #expect(try await world.hubs.installation("old", of: world.hub).fault?.word == "TakenOver")
    try await world.put("old", #","tags":["a"]"#, channel: "other")
    #expect(try await listed(world, "a") == ["old", "new"])
}

@Test func `a change under a condition is made where that holds`() async throws {
    let world = try await HubWorld()
    let read = try InstallationJSON.read(
        try JSONValue(text: #"{"installationId":"i","platform":"apns","pushChannel":"t"}"#), id: nil)
    func put(_ condition: EntityCondition) async throws -> Int64 {
        try await world.hubs.put(read, of: world.hub, condition: condition).0.version
    }
    await #expect(throws: HubError.conditionFailed) { try await put(.exists) }
    #expect(try await put(.isMissing) == 1)
    await #expect(throws: HubError.conditionFailed) { try await put(.isMissing) }
    #expect(try await put(.version(1)) == 2)
    await #expect(throws: HubError.conditionFailed) { try await put(.version(1)) }
    await #expect(throws: HubError.conditionFailed) {
        try await world.hubs.delete("i", of: world.hub, condition: .version(1))
    }
    #expect(try await world.hubs.delete("i", of: world.hub, condition: .version(2)))
}

@Test func `changes that meet are all made`() async throws {
    let world = try await HubWorld()
    try await world.put("one")
    try await withThrowingTaskGroup(of: Void.self) { group in
        for number in 0..<6 {
            group.addTask {
                _ = try await world.hubs.change("one", of: world.hub) { document throws(InstallationError) in
                    try InstallationPatch.apply(
                        .array([
                            .object([
                                .init("op", .string("add")), .init("path", .string("/tags")),
                                .init("value", .string("t\(number)")),
                            ])
                        ]), to: document)
                }
            }
        }
        try await group.waitForAll()
    }
    let tags = try await world.hubs.installation("one", of: world.hub).installation.tags.map(\.text)
    #expect(tags.sorted() == (0..<6).map { "t\($0)" })
}

@Test func `installations whose time is over are deleted`() async throws {
    let world = try await HubWorld()
    try await world.put("short", #","tags":["a"],"expirationTime":"2026-06-01T00:00:01Z""#)
    try await world.put("long", #","tags":["a"]"#)
    world.clock.advance(milliseconds: 2000)
    try await world.hubs.deleteExpired()
    #expect(try await listed(world, "a") == ["long"])
}

@Test func `one whose time is over is refused, and takes no channel`() async throws {
    let world = try await HubWorld()
    try await world.put("other", #","tags":["a"]"#, channel: "one")
    let isOver = HubError.document(
        InstallationError("/expirationTime", "2026-06-01T00:00:00Z is over; name a later instant, or none"))
    await #expect(throws: isOver) {
        try await world.put("one", #","tags":["a"],"expirationTime":"2026-06-01T00:00:00Z""#, channel: "one")
    }
    #expect(try await listed(world) == ["other"])
    #expect(try await world.hubs.installation("other", of: world.hub).fault == nil)
    // Nor is one changed so, nor one whose time is over before it was deleted.
    func change(_ text: String) async throws {
        _ = try await world.hubs.change("other", of: world.hub) { tree throws(InstallationError) in
            var tree = tree
            tree.set("expirationTime", .string(text))
            return tree
        }
    }
    await #expect(throws: isOver) { try await change("2026-06-01T00:00:00Z") }
    try await change("2026-06-01T00:00:01Z")
    world.clock.advance(milliseconds: 1000)
    await #expect(throws: HubError.self) { try await change("2026-06-01T00:00:01Z") }
    try await change("2026-06-02T00:00:00Z")
}

@Test func `a person is erased with a receipt`() async throws {
    let world = try await HubWorld()
    try await world.put("one", #","userId":"Anna""#)
    try await world.put("two", #","userId":"anna""#)
    try await world.put("three", #","userId":"Ben""#)
    #expect(try await world.erase("ANNA").installations == ["one", "two"])
    #expect(try await listed(world) == ["three"])
}

@Test func `audiences are read again after a restart`() async throws {
    let world = try await HubWorld()
    try await world.put(
        "one", #","tags":["a"],"locale":"de-AT","appVersion":"2.1","templates":{"t":{"body":"{}","tags":["x"]}}"#)
    try await world.put("two", #","tags":["a"]"#, channel: "same")
    try await world.put("three", #","tags":["b"]"#, channel: "same")
    try world.database.close()
    let again = try await HubWorld(folder: world.folder)
    #expect(try await listed(again, "a && $Locale:{de} && $AppVersion:{>2}") == ["one"])
    #expect(try await again.hubs.audience("x", of: again.hub, for: .template, readsFields: false).numbers() == [1])
    #expect(try await again.hubs.size(of: again.hub).installations == 2)
}

@Test func `keys are taken and revoked at the next request`() async throws {
    let world = try await HubWorld()
    let access = HubAccess(store: world.database) { ServerNames(["h"], ports: [1]) }
    let key = HubKey(name: "k", rights: .send, primary: "first", secondary: "second", createdAt: world.clock.now)
    try await world.database.setKey(key, of: world.hub.number)
    func check(_ text: String, _ right: HubRights = .send, seconds: Int64 = 60, host: String = "h") async throws {
        let authorization = SharedAccessSignature.authorization(
            resource: "https://\(host)/todo", expiresAt: world.clock.now.rawValue / 1000 + seconds, keyName: "k",
            key: text)
        try await access.check(
            authorization, for: right, of: world.hub, path: "/todo/messages", now: world.clock.now)
    }
    try await check("first")
    try await check("second", host: "H:1")
    await #expect(throws: HubAccess.Refusal.forbidden) { try await check("first", .listen) }
    for attempt in [("third", Int64(60), "h"), ("first", 0, "h"), ("first", 60, "other"), ("", 60, "h")] {
        await #expect(throws: HubAccess.Refusal.self) {
            try await check(attempt.0, seconds: attempt.1, host: attempt.2)
        }
    }
    #expect(try await world.database.removeKey("k", of: world.hub.number))
    await #expect(throws: HubAccess.Refusal.self) { try await check("first") }
    // A key that is not there is not one with an empty text.
    await #expect(throws: HubAccess.Refusal.self) { try await check("") }
}

@Test func `the dead are found by what they are, page by page`() async throws {
    let world = try await HubWorld()
    for number in 0..<3 { try await world.put("a\(number)", #","tags":["a"],"userId":"Anna""#, channel: "c\(number)") }
    try await world.put("b", #","tags":["b"]"#, channel: "c3", platform: "gcm")
    try await world.put("thief", channel: "c0")
    try await world.put("thief", channel: "c2")
    try await world.put("thief", channel: "c3")
    #expect(try await listed(world, "a", isDead: true) == ["a0", "a2"])
    #expect(try await listed(world, "a", isDead: false) == ["a1"])
    #expect(try await listed(world, "$UserId:{anna}", isDead: true) == ["a0", "a2"])
    #expect(try await listed(world, "$Platform:{gcm}", isDead: true) == ["b"])
    #expect(try await listed(world, "!a", isDead: true) == ["b"])
    let first = try await world.hubs.list(.init(expression: "a", isDead: true, limit: 1), of: world.hub)
    #expect(first.map(\.installation.id) == ["a0"])
    let rest = try await world.hubs.list(
        .init(expression: "a", isDead: true, after: try #require(first.last).number), of: world.hub)
    #expect(rest.map(\.installation.id) == ["a2"])
}

@Test(arguments: ["apns", "aldaba"])
func `a device token in another spelling is the same channel`(platform: String) async throws {
    let world = try await HubWorld()
    try await world.put("old", channel: "0A1B2C", platform: "apns")
    try await world.put("new", channel: "0a1b2c", platform: platform)
    #expect(try await listed(world, isDead: true) == ["old"])
    try await world.put("other", channel: "AB:Cd", platform: "gcm")
    try await world.put("another", channel: "ab:cd", platform: "gcm")
    #expect(try await listed(world, isDead: true) == ["old"])
    for spelling in ["0A1B2C", "0a1b2c"] {
        #expect(
            try await world.database.installations(hub: world.hub.number, channel: spelling).map(\.installation.id)
                == ["new"])
    }
    #expect(
        try await world.database.installations(hub: world.hub.number, channel: "ab:cd").map(\.installation.id)
            == ["another"])
    // As it was written.
    #expect(try await world.hubs.installation("old", of: world.hub).installation.channel == .handle("0A1B2C"))
}
