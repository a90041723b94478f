import AldabaTestSupport
import Foundation
import HubProtocol
import HubServer
import PushCore
import Testing

/// A campaign with everything: a check or an experiment, several zones, quiet hours, a cap, several slices.
private struct Scene: Sendable, CustomTestStringConvertible {
    var testDescription: String
    var plan: String
    var format = SendFormat.content
    var body = #"{"title":"Hello"}"#
}

private let scenes = [
    Scene(testDescription: "one wave", plan: "{}"),
    Scene(
        testDescription: "a check of templates", plan: #"{"cap":{"most":2,"hours":48}}"#, format: .template,
        body: #"{"name":"you"}"#),
    Scene(
        testDescription: "local times, quiet hours and an experiment",
        plan: #"""
            {"local":{"time":"2026-06-01T23:30:00","past":"now","gap":"end","overlap":"first","unknownZone":"UTC"},
             "quiet":{"from":"22:00","to":"23:45","then":"wait","unknownZone":"UTC"},
             "experiment":{"holdOut":10,"variants":[{"name":"a","share":45,"content":{"title":"A"}},
              {"name":"b","share":45,"content":{"title":"B"}}]}}
            """#),
]

/// Accepts a campaign and runs it to its end; the server begins again where it died.
///
/// - Parameter number: At which write it dies; 0 for never.
/// - Returns: The world after it, and whether it died.
private func run(
    _ scene: Scene, in people: HubWorld, dyingAt number: Int, isBefore: Bool
) async throws -> (HubWorld, SendRecord, Bool) {
    let folder = try TemporaryFolder()
    try FileManager.default.copyItem(
        atPath: people.folder.path("hub.sqlite"), toPath: folder.path("hub.sqlite"))
    let first = try await HubWorld(folder: folder)
    var dying: DyingStore?
    try first.database.close()
    let doomed = try await HubWorld(after: first) { database in
        let store = DyingStore(database, atWrite: number, isBefore: isBefore)
        dying = store
        return store
    }
    var world = doomed
    var accepted: SendRecord?
    // Who accepts it asks again with the same key, until it is told.
    while accepted == nil {
        do {
            accepted = try await world.campaign(scene.plan, format: scene.format, body: scene.body, key: "k")
        } catch is DyingStore.Dead {
            try world.database.close()
            world = try await HubWorld(after: first)
        }
    }
    var due: Timestamp?
    repeat {
        do { due = try await world.runner.runAll() } catch is DyingStore.Dead {
            try world.database.close()
            world = try await HubWorld(after: first)
            due = world.clock.now
            continue
        }
        if let due { world.clock.advance(milliseconds: max(0, due.milliseconds(since: world.clock.now))) }
    } while due != nil
    return (world, try await world.now(try #require(accepted)), dying?.isDead ?? false)
}

/// A hub of 600 installations that is closed; more than one slice has.
private func people() async throws -> HubWorld {
    let world = try await HubWorld()
    let zones = ["Europe/Berlin", "Asia/Tokyo", "Moon/Base"]
    for number in 0..<600 {
        try await world.put(
            "i\(number)",
            #","timeZone":"\#(zones[number % 3])","templates":{"t":{"body":"{\"a\":\"$(name)\"}"}}"#,
            channel: "c\(number)")
    }
    try world.database.close()
    return world
}

@Test(.onFiles, arguments: scenes)
private func `a campaign comes once to everybody, wherever the server dies`(scene: Scene) async throws {
    let people = try await people()
    let (calm, record, _) = try await run(scene, in: people, dyingAt: 0, isBefore: true)
    #expect(record.state == .completed)
    let leftOut = try await calm.hubs.store.leftOut(of: record.number)
    let expected = 600 - leftOut.values.reduce(0, +)
    #expect(calm.sender.pushes.count == expected)
    for isBefore in [true, false] {
        var number = 1
        while true {
            let (world, record, died) = try await run(scene, in: people, dyingAt: number, isBefore: isBefore)
            guard died else { break }
            let place = "write \(number), \(isBefore ? "before" : "behind") it"
            #expect(record.state == .completed, "\(place)")
            // What was handed over twice has the same id, which the gateway delivers once.
            var ids: [String: Set<String>] = [:]
            for push in world.sender.pushes { ids[push.channel.key, default: []].insert(push.id.rawValue) }
            #expect(ids.values.allSatisfy { $0.count == 1 }, "\(place)")
            let told = try await world.hubs.store.outcomes(of: record.number).reduce(0) { $0 + $1.count }
            #expect(told == ids.count, "\(place)")
            let left = try await world.hubs.store.leftOut(of: record.number).values.reduce(0, +)
            #expect(ids.count + left == 600, "\(place)")
            let sends = try await world.hubs.store.sends(
                hub: world.hub.number, before: .max, states: nil, campaigns: false, limit: 9)
            #expect(sends.count == 1, "\(place)")
            try world.database.close()
            number += 1
        }
        #expect(number > 3)
    }
    try calm.database.close()
}
