import AldabaTestSupport
import HubProtocol
import HubServer
import PushCore
import Testing

private let devices: UInt64 = 6
private let plan = #"{"quiet":{"from":"22:00","to":"07:00","then":"wait","unknownZone":"UTC"}}"#

/// Runs of the server one after the other, on the same files and devices.
private final class Runs {
    private let first: HubWorld
    private(set) var world: HubWorld
    let server: DeviceServer
    private var dying: DyingStore?

    /// - Parameter number: At which write the first run dies; 0 for never.
    init(dyingAt number: Int, isBefore: Bool) async throws {
        (first, server) = try await HubWorld.withDevices(devices) { number in
            #","timeZone":"\#(number == devices ? "Asia/Tokyo" : "Europe/Berlin")""#
        }
        try first.set("2026-06-01T14:00:00Z")
        world = first
        try await beginAgain { database in
            let store = DyingStore(database, atWrite: number, isBefore: isBefore)
            self.dying = store
            return store
        }
    }

    var isDead: Bool { dying?.isDead ?? false }

    func beginAgain(_ store: (HubDatabase) -> any HubStore = { $0 }) async throws {
        await (try server.service).stop()
        try world.database.close()
        world = try await HubWorld(after: first, store: store, gateway: server.gateway)
    }

    /// Does something, once more where the server dies beside it.
    @discardableResult
    func lasting<Result>(_ body: (HubWorld) async throws -> Result) async throws -> Result {
        do { return try await body(world) } catch is DyingStore.Dead {
            try await beginAgain()
            return try await body(world)
        }
    }

    /// Runs what can go now, and has every turn taken.
    func run() async throws {
        try await lasting { world in
            _ = try await world.runner.runAll()
            try await self.server.settle()
            return ()
        }
    }

    func counts() async throws -> [Int] {
        var all: [Int] = []
        for number in 1...devices { all.append(try await server.payloads(number).count) }
        return all
    }

    /// Whoever is in has it once in the end, and the report has everybody.
    func expectAll(_ record: SendRecord, but gone: Set<UInt64> = [], _ place: Comment) async throws {
        // It is day everywhere.
        world.clock.advance(milliseconds: 57_600_000)
        try await run()
        for number in 1...devices { try await server.login(number) }
        try await server.settle()
        let counts = try await counts()
        for number in 1...devices where !gone.contains(number) { #expect(counts[Int(number) - 1] == 1, place) }
        for number in gone { #expect(counts[Int(number) - 1] <= 1, place) }
        #expect(try await world.now(record).state == .completed, place)
        let report = try await lasting { try await $0.report(record, self.server) }
        #expect(report.ends.values.reduce(0, +) == Int(devices), place)
        #expect(report.funnel[.targeted] == Int(devices), place)
        #expect(world.sender.pushes.isEmpty, place)
    }
}

@Test(arguments: [true, false])
private func `what is held twice comes once to everybody, wherever the server dies`(isBefore: Bool) async throws {
    var number = 0
    while true {
        let runs = try await Runs(dyingAt: number, isBefore: isBefore)
        let place: Comment = "write \(number), \(isBefore ? "before" : "behind") it"
        let record = try await runs.lasting { try await $0.campaign(plan, key: "k") }
        try await runs.server.login(1)
        try await runs.run()
        for next in [2, 3] as [UInt64] {
            try await runs.lasting { world in
                guard try await world.now(record).state != .paused else { return }
                _ = try await world.hubs.pause(record.id, of: world.hub)
            }
            let held = try await runs.counts()
            try await runs.server.login(next)
            try await runs.run()
            #expect(try await runs.counts() == held, place)
            try await runs.lasting { world in
                guard try await world.now(record).state == .paused else { return }
                _ = try await world.hubs.resume(record.id, of: world.hub)
            }
            try await runs.run()
            try await runs.server.login(next)
            try await runs.server.settle()
            #expect(try await runs.counts()[Int(next) - 1] == 1, place)
        }
        try await runs.expectAll(record, place)
        let parts = try await runs.world.hubs.store.parts(ofSend: record.number).map(\.count)
        #expect(parts.reduce(0, +) == Int(devices), place)
        if number == 0 { #expect(parts == [1, 1, 3, 1]) }
        let died = runs.isDead
        try await runs.server.stop()
        try runs.world.database.close()
        guard number == 0 || died else { break }
        number += 1
    }
    #expect(number > 12)
}

@Test(arguments: 0..<40 as Range<UInt64>)
private func `whatever happens, who is in gets it once, and nobody while it is held`(seed: UInt64) async throws {
    var random = SeededGenerator(seed: seed)
    let runs = try await Runs(dyingAt: 0, isBefore: true)
    let place: Comment = "seed \(seed)"
    let record = try await runs.world.campaign(plan)
    _ = try await runs.world.runner.runAll()
    var gone: Set<UInt64> = []
    var isHeld = false
    for _ in 0..<24 {
        let before = try await runs.counts()
        let device = UInt64.random(in: 1...devices, using: &random)
        switch Int.random(in: 0..<8, using: &random) {
        case 0 where !isHeld:
            _ = try await runs.world.hubs.pause(record.id, of: runs.world.hub)
            isHeld = true
            continue
        case 1 where isHeld:
            _ = try await runs.world.hubs.resume(record.id, of: runs.world.hub)
            isHeld = false
        case 2: try await runs.beginAgain()
        case 3: _ = try await runs.world.report(record, runs.server)
        case 4 where gone.count < 2 && device < devices && !gone.contains(device):
            _ = try await runs.world.hubs.delete("i\(device)", of: runs.world.hub)
            gone.insert(device)
        case 5, 6: try await runs.server.login(device)
        default: _ = try await runs.world.runner.runAll()
        }
        if Bool.random(using: &random) { try await runs.server.settle() }
        if isHeld { #expect(try await runs.counts() == before, place) }
    }
    if isHeld { _ = try await runs.world.hubs.resume(record.id, of: runs.world.hub) }
    try await runs.expectAll(record, but: gone, place)
    try await runs.server.stop()
    try runs.world.database.close()
}
