import HubProtocol
import PushCore
import PushServer
import Testing

@testable import HubServer

@Test func `an export has everything of a person, and nothing of others`() async throws {
    let (world, server) = try await HubWorld.withDevices(3) { #","userId":"\#($0 < 3 ? "anna" : "ben")""# }
    for number in 1...3 { try await server.login(UInt64(number)) }
    _ = try await world.send(nil, body: #"{"aps":{"alert":"One"}}"#)
    _ = try await world.runner.runAll()
    try await server.settle()
    let export = try await world.hubs.export(user: "Anna", of: world.hub, timelines: server.timelines)
    #expect(export.installations.map(\.installation.id) == ["i1", "i2"])
    #expect(export.notifications.map(\.recipient.name) == ["i1", "i2"])
    #expect(export.notifications.allSatisfy { $0.id != nil && $0.timeline.contains { $0.state == .accepted } })
    #expect(
        try await world.hubs.export(user: "nobody", of: world.hub, timelines: server.timelines).installations.isEmpty)
    try await server.stop()
}

@Test func `an export has the events that name the person`() async throws {
    let world = try await HubWorld()
    try await world.database.setWebhook(
        HubWebhook(hub: world.hub.number, url: "https://example.com/a", secret: "s", setAt: world.clock.now),
        of: world.hub.number)
    try await world.put("One", #","userId":"anna""#)
    try await world.put("two", #","userId":"ben""#)
    for id in ["One", "two"] { world.sender.refuse("token of \(id)", PushVerdict(.expiredChannel)) }
    _ = try await world.send(nil)
    _ = try await world.runner.runAll()
    let export = try await world.hubs.export(user: "anna", of: world.hub, timelines: NoTimelines())
    #expect(export.events.compactMap { $0.data["installationId"]?.text } == ["One"])
    #expect(export.notifications.map(\.recipient.name) == ["One"])
}

@Test func `the installations of a person are listed, whatever the id has`() async throws {
    let world = try await HubWorld()
    for id in ["a", "b", "c"] { try await world.put(id, #","userId":"José Ñ","tags":["\#(id)"]"#) }
    try await world.put("other", #","userId":"ben""#)
    func list(_ query: NotificationHubs.Query) async throws -> [StoredInstallation] {
        try await world.hubs.list(query, of: world.hub)
    }
    let all = try await list(.init(user: "josé ñ"))
    #expect(all.map(\.installation.id) == ["a", "b", "c"])
    #expect(try await list(.init(user: "José Ñ", after: all[0].number, limit: 1)).map(\.installation.id) == ["b"])
    #expect(try await list(.init(expression: "a || c", user: "José Ñ")).map(\.installation.id) == ["a", "c"])
    #expect(try await list(.init(user: "José Ñ", isDead: true)).isEmpty)
}
