import HubProtocol
import PushCore
import Testing

@testable import HubServer

private func installations(_ numbers: Range<Int>, tag: String) throws -> [ReadInstallation] {
    try numbers.map { number in
        ReadInstallation(
            try InstallationJSON.read(
                try JSONValue(
                    text: """
                        {"installationId":"I\(number)","platform":"apns","pushChannel":"c\(number)","tags":["\(tag)"],
                         "userId":"User\(number)","timeZone":"Asia/Tokyo"}
                        """), id: nil))
    }
}

@Test func `what is imported is meant by the next question, and puts are known still`() async throws {
    let world = try await HubWorld()
    try await world.put("other", #","tags":["old"]"#, channel: "c3")
    try await world.put("i5", #","tags":["old"]"#, channel: "before")
    try await world.hubs.prepare(world.hub)
    // As another process does it: this one is told by the generation alone.
    let added = try await world.database.importAll(
        try installations(0..<10, tag: "new"), hub: world.hub.number, at: world.clock.now)
    #expect(added == 9)
    let hub = try #require(try await world.database.hub(named: "todo"))
    #expect(hub.generation == 1)
    let meant = try await world.hubs.audience("new", of: hub, for: nil, readsFields: true)
    #expect(meant.count == 10)
    #expect(try await world.hubs.audience("old", of: hub, for: nil, readsFields: true).isEmpty)
    #expect(try await world.hubs.installation("other", of: hub).fault?.word == "TakenOver")
    let replaced = try await world.hubs.installation("i5", of: hub)
    #expect(replaced.version == 2)
    #expect(replaced.installation.userID == "User5")
    try await world.put("i6", #","tags":["newer"]"#, channel: "c6")
    #expect(try await world.hubs.audience("new", of: hub, for: nil, readsFields: true).count == 9)
    #expect(
        try await world.database.importAll(
            try installations(0..<10, tag: "new"), hub: hub.number, at: world.clock.now) == 0)
}

@Test func `an import finds the same audiences as single puts`() async throws {
    let imported = try await HubWorld()
    let single = try await HubWorld()
    let all = try installations(0..<50, tag: "t")
    _ = try await imported.database.importAll(all, hub: imported.hub.number, at: imported.clock.now)
    for read in all { _ = try await single.hubs.put(read.installation, of: single.hub) }
    let left = try await imported.hubs.list(.init(limit: 100), of: imported.hub)
    #expect(left == (try await single.hubs.list(.init(limit: 100), of: single.hub)))
    #expect(left.count == 50)
}
