import GRDB
import HubWire
import PushModel
import ServerCore
import Testing

@testable import Hub
@testable import StoreHub

/// Nothing is known of any notification.
private struct NoTimelines: TimelineService {
    func timelines(of reference: String, team: TeamID?) async throws -> [NotificationTimeline] { [] }
}

/// Nothing can be taken back.
private struct NoWithdrawal: NotificationWithdrawal {
    func withdraw(
        _ id: NotificationID, of device: DeviceID, then complete: @escaping @Sendable (WithdrawalOutcome) -> Void
    ) { complete(.unknown) }
}

extension HubWorld {
    /// Erases a person of whom nothing waits.
    func erase(_ user: String) async throws -> Erasure {
        try await hubs.erase(user: user, of: hub, timelines: NoTimelines(), by: NoWithdrawal())
    }
}

@Test func `what waits for an erased person is taken back, and nobody else's`() async throws {
    let (world, server) = try await HubWorld.withDevices(3) { #","userId":"\#($0 < 3 ? "anna" : "ben")""# }
    for number in 1...3 { try await server.login(UInt64(number)) }
    // As one, and to each.
    _ = try await world.send(nil, body: #"{"aps":{"alert":"One"}}"#)
    _ = try await world.runner.runAll()
    try await server.settle()
    for number in 1...3 { #expect(try await server.payloads(UInt64(number)).count == 1) }
    let erasure = try await world.hubs.erase(
        user: "Anna", of: world.hub, timelines: server.timelines, by: try server.service)
    #expect(erasure.installations == ["i1", "i2"])
    #expect(erasure.notifications == 2)
    try await server.settle()
    for number in 1...2 { #expect(try await server.payloads(UInt64(number)).isEmpty) }
    #expect(try await server.payloads(3).count == 1)
    try await server.stop()
}

@Test func `events that name an erased person are not sent, and the others are`() async throws {
    let world = try await HubWorld()
    try await world.database.setWebhook(
        HubWebhook(hub: world.hub.number, url: "https://example.com/a", secret: "s", setAt: world.clock.now),
        of: world.hub.number)
    try await world.put("one", #","userId":"anna""#)
    try await world.put("two", #","userId":"ben""#)
    for id in ["one", "two"] { world.sender.refuse("token of \(id)", PushVerdict(.expiredChannel)) }
    _ = try await world.send(nil)
    _ = try await world.runner.runAll()
    #expect(try await world.database.events(of: world.hub.number, limit: 9).count == 3)
    let erasure = try await world.erase("anna")
    #expect(erasure == Erasure(installations: ["one"], notifications: 0, events: 1))
    let events = try await world.database.events(of: world.hub.number, limit: 9)
    #expect(events.compactMap { $0.data["installationId"]?.text } == ["two"])
    #expect(events.count == 2)
}

@Test func `events that name an installation are found by their index`() async throws {
    let world = try await HubWorld()
    let file = try DatabaseQueue(path: world.folder.path("hub.sqlite"))
    let plan = try await file.read { database in
        try Row.fetchAll(
            database, sql: "EXPLAIN QUERY PLAN \(HubDatabase.erasingEvents)", arguments: [1, "x"]
        ).map { $0["detail"] as String }
    }
    #expect(plan.contains { $0.contains("INDEX hub_event_installation (hub=? AND <expr>=?)") }, "\(plan)")
}
