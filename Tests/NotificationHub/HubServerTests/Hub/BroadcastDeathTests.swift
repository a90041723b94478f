import AldabaTestSupport
import Foundation
import HubProtocol
import HubServer
import PushCore
import Testing

private let devices: UInt64 = 12

/// A campaign with waves and an experiment, and a plain send.
private let plans: [String?] = [
    nil,
    #"""
    {"local":{"time":"2026-06-01T23:30:00","past":"now","gap":"end","overlap":"first","unknownZone":"UTC"},
     "quiet":{"from":"22:00","to":"23:45","then":"wait","unknownZone":"UTC"},
     "experiment":{"holdOut":10,"variants":[{"name":"a","share":45,"content":{"title":"A"}},
      {"name":"b","share":45,"content":{"title":"B"}}]}}
    """#,
]

/// Sends to twelve devices, and runs that to its end; the server begins again where it died.
///
/// - Parameter number: At which write it dies; 0 for never.
private func run(
    _ plan: String?, dyingAt number: Int, isBefore: Bool
) async throws -> (world: HubWorld, server: DeviceServer, record: SendRecord, died: Bool) {
    let zones = ["Europe/Berlin", "Asia/Tokyo", "Moon/Base"]
    let (people, server) = try await HubWorld.withDevices(devices) { #","timeZone":"\#(zones[Int($0 % 3)])""# }
    await (try server.service).stop()
    try people.database.close()
    var dying: DyingStore?
    var world = try await HubWorld(
        after: people,
        store: { database in
            let store = DyingStore(database, atWrite: number, isBefore: isBefore)
            dying = store
            return store
        }, gateway: server.gateway)
    func beginAgain() async throws {
        await (try server.service).stop()
        try world.database.close()
        world = try await HubWorld(after: people, gateway: server.gateway)
        // Some are connected, and look at once.
        for number in 1...devices / 2 { try await server.login(number) }
    }
    for number in 1...devices / 2 { try await server.login(number) }
    var accepted: SendRecord?
    while accepted == nil {
        do {
            accepted =
                if let plan { try await world.campaign(plan, key: "k") } else {
                    try await world.send(nil, body: #"{"aps":{"alert":"Hello"}}"#, key: "k")
                }
        } catch is DyingStore.Dead { try await beginAgain() }
    }
    let record = try #require(accepted)
    var due: Timestamp?
    repeat {
        do {
            due = try await world.runner.runAll()
            try await server.settle()
            _ = try await world.report(record, server)
        } catch is DyingStore.Dead {
            try await beginAgain()
            due = world.clock.now
            continue
        }
        if let due { world.clock.advance(milliseconds: max(0, due.milliseconds(since: world.clock.now))) }
    } while due != nil
    // The others come, too.
    for number in 1...devices { try await server.login(number) }
    try await server.settle()
    do { _ = try await world.report(record, server) } catch is DyingStore.Dead {
        try await beginAgain()
        for number in 1...devices { try await server.login(number) }
        try await server.settle()
    }
    return (world, server, record, dying?.isDead ?? false)
}

@Test(arguments: plans)
private func `what is handed over as one comes once to everybody, wherever the server dies`(plan: String?) async throws
{
    for isBefore in [true, false] {
        var number = 0
        while true {
            let (world, server, record, died) = try await run(plan, dyingAt: number, isBefore: isBefore)
            let place: Comment = "write \(number), \(isBefore ? "before" : "behind") it"
            let leftOut = try await world.hubs.store.leftOut(of: record.number).values.reduce(0, +)
            var got = 0
            for number in 1...devices {
                let count = try await server.payloads(number).count
                #expect(count <= 1, place)
                got += count
            }
            #expect(got + leftOut == Int(devices), place)
            #expect(try await world.now(record).state == .completed, place)
            #expect(world.sender.pushes.isEmpty, place)
            let report = try await world.report(record, server)
            let sum = report.ends.values.reduce(0, +)
            #expect(sum == Int(devices), place)
            #expect(report.ends[.waiting, default: 0] == got, place)
            try await server.stop()
            try world.database.close()
            guard number == 0 || died else { break }
            number += 1
        }
        #expect(number > 4)
    }
}
