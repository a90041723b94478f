import HubProtocol
import HubServer
import PushCore
import Synchronization
import Testing

/// Sends to a few devices at once, to try them.
struct TestSendTests {
    private func request(key: String? = nil) -> SendRequest {
        SendRequest(
            format: .content, body: Array(#"{"title":"A"}"#.utf8), target: .audience(nil), idempotencyKey: key)
    }

    @Test(arguments: [1, 2], [true, false])
    func `a test that the power cut off goes to nobody but its devices`(write: Int, isBefore: Bool) async throws {
        let dying = Mutex<DyingStore?>(nil)
        let before = try await HubWorld(store: { database in
            let store = DyingStore(database, atWrite: write, isBefore: isBefore)
            dying.withLock { $0 = store }
            return store
        })
        try await before.put("mine", #","tags":["test-device"]"#, channel: "mine")
        for number in 0..<20 { try await before.put("i\(number)", channel: "c\(number)") }
        await #expect(throws: DyingStore.Dead.self) {
            try await before.hubs.tryOut(request(), on: nil, of: before.hub)
        }
        let world = try await HubWorld(after: before)
        _ = try await world.runner.runAll()
        // What was not ended goes on after a while.
        world.clock.advance(milliseconds: 601_000)
        _ = try await world.runner.runAll()
        #expect(Set(world.sender.channels).subtracting(["mine"]).isEmpty)
        #expect(world.sender.channels.isEmpty == (write == 1 && isBefore))
    }

    @Test func `a test and a send share no key, and a test is made once under its key`() async throws {
        let world = try await HubWorld()
        try await world.put("one", channel: "one")
        let (first, results) = try await world.hubs.test(request(key: "k"), for: world.hub)
        #expect(results.map(\.outcome) == [.success])
        let (again, none) = try await world.hubs.test(request(key: "k"), for: world.hub)
        #expect(again.id == first.id && none.isEmpty)
        #expect(world.sender.channels == ["one"])
        await #expect(throws: HubError.self) { try await world.hubs.accept(request(key: "k"), for: world.hub) }
    }

    @Test func `faults of channels that nobody has are told, and pages lose none`() async throws {
        let world = try await HubWorld()
        let channels = (0..<7).map { "unknown \($0)" }
        for channel in channels { world.sender.refuse(channel, PushVerdict(.badChannel)) }
        let record = try await world.hubs.accept(
            SendRequest(format: .native(.apns), body: Array("{}".utf8), target: .channels(channels)), for: world.hub)
        _ = try await world.runner.runAll()
        var found: [SendFault] = []
        while true {
            let page = try await world.database.faults(of: record.number, after: found.last?.number ?? 0, limit: 3)
            found += page
            if page.count < 3 { break }
        }
        #expect(found.map(\.name) == channels)
    }
}
