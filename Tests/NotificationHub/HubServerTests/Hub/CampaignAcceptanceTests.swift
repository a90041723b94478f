import HubProtocol
import PushCore
import Testing

@testable import HubServer

private func installations(_ count: Int) throws -> [Installation] {
    try (0..<count).map { number in
        try InstallationJSON.read(
            try JSONValue(text: #"{"installationId":"i\#(number)","platform":"apns","pushChannel":"c\#(number)"}"#),
            id: nil)
    }
}

@Test func `a campaign to all is durable before anybody is looked up, and goes out in pages`() async throws {
    let people = 1200
    let before = try await HubWorld()
    for installation in try installations(people) { _ = try await before.hubs.put(installation, of: before.hub) }
    try before.database.close()
    var watched: DyingStore?
    let world = try await HubWorld(after: before) { database in
        let store = DyingStore(database, atWrite: 0, isBefore: true)
        watched = store
        return store
    }
    let store = try #require(watched)
    let accepted = try await world.campaign("{}")
    #expect(store.pagesRead.isEmpty)
    // The power goes off with the answer; what was accepted is there.
    try world.database.close()
    let after = try await HubWorld(after: before) { database in
        let store = DyingStore(database, atWrite: 0, isBefore: true)
        watched = store
        return store
    }
    _ = try await after.runner.runAll()
    let again = try #require(watched)
    // The audience is read once, as bits; of the installations a slice at a time.
    #expect(again.pagesRead.filter { $0 == .max }.count == 1)
    #expect(again.pagesRead.filter { $0 != .max }.allSatisfy { $0 <= 512 })
    #expect(try await after.now(accepted).state == .completed)
    #expect(Set(after.sender.channels).count == people)
    #expect(after.sender.pushes.count == people)
}
