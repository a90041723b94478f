import HubProtocol
import PushCore
import Testing

@testable import HubServer

@Test func `many changes by another process are read once, however many ask`() async throws {
    var reading: DyingStore?
    let world = try await HubWorld(store: { database in
        let store = DyingStore(database, atWrite: 0, isBefore: false)
        reading = store
        return store
    })
    let store = try #require(reading)
    try await world.put("zero")
    #expect(try await world.hubs.size(of: world.hub).installations == 1)
    var versions: [HubRecord] = []
    for id in ["one", "two", "three"] {
        let installation = Installation(id: id, platform: .apns, channel: .handle(id))
        _ = try await world.database.importAll(
            [ReadInstallation(installation)], hub: world.hub.number, at: world.clock.now)
        versions.append(try #require(try await world.database.hub(named: "todo")))
    }
    let hubs = world.hubs
    // Who knows of the first change alone asks first.
    for version in versions {
        try await withThrowingTaskGroup(of: Int.self) { group in
            for _ in 0..<8 { group.addTask { try await hubs.size(of: version).installations } }
            for try await count in group { #expect(count == 4) }
        }
    }
    #expect(store.pagesRead.filter { $0 == .max }.count == 2)
}
