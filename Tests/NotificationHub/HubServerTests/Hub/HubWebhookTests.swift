import AldabaTestSupport
import HubProtocol
import HubServer
import Logging
import PushCore
import PushServer
import Testing

/// Webhooks of several hubs, of which some do not answer.
@Suite(.timeLimit(.minutes(5))) struct HubWebhookTests {
    /// A receiver that takes everything, at `hanging.example` not before a latch opens.
    private final class HangingReceiver: WebhookSender {
        let asked = Inbox<String>()
        let latch = Latch()

        func send(_ body: [UInt8], signature: String, to address: WebhookAddress) async throws -> Int {
            asked.put(address.host)
            if address.host == "hanging.example" { await latch.wait() }
            return 200
        }
    }

    private func addHub(_ name: String, host: String, in world: HubWorld) async throws -> HubRecord {
        let hub = try #require(
            try await world.database.addHub(
                name: name, team: TeamID(rawValue: "TEAM000002"), topic: Topic(rawValue: "com.example.\(name)"),
                isStrict: false, keys: [], at: world.clock.now))
        try await world.database.setWebhook(
            HubWebhook(hub: hub.number, url: "https://\(host)/", secret: "s", setAt: world.clock.now), of: hub.number)
        return hub
    }

    /// Makes events of a hub: sends to nobody, which end at once.
    private func makeEvents(_ count: Int, of hub: HubRecord, in world: HubWorld) async throws {
        for _ in 0..<count {
            _ = try await world.hubs.accept(
                SendRequest(format: .native(.apns), body: Array("{}".utf8), target: .audience(nil)), for: hub)
        }
        _ = try await world.runner.runAll()
    }

    @Test func `a webhook that does not answer holds up no other hub's events`() async throws {
        let world = try await HubWorld()
        let receiver = HangingReceiver()
        let courier = HubWebhookDispatcher(
            store: world.database, sender: receiver, reports: { _, _ in [] }, clock: world.clock.function,
            logger: Logger(label: "test", factory: { _ in SwiftLogNoOpLogHandler() }))
        let hanging = try await addHub("hanging", host: "hanging.example", in: world)
        try await makeEvents(2, of: hanging, in: world)
        let first = Task { try await courier.round() }
        #expect(await receiver.asked.next() == "hanging.example")
        let other = try await addHub("other", host: "other.example", in: world)
        try await makeEvents(1, of: other, in: world)
        // The first request is open all the while.
        try await courier.round()
        #expect(try await world.database.events(of: other.number, limit: 9).isEmpty)
        #expect(try await world.database.events(of: hanging.number, limit: 9).count == 2)
        receiver.latch.open()
        try await first.value
        #expect(try await world.database.events(of: hanging.number, limit: 9).isEmpty)
        receiver.asked.finish()
        var asked: [String] = []
        while let host = await receiver.asked.next() { asked.append(host) }
        #expect(asked == ["other.example", "hanging.example"], "each hub has one request at a time")
    }

    @Test func `where too many events wait, those of the hub with the most give way, the oldest first`() async throws {
        let world = try await HubWorld()
        let many = try await addHub("many", host: "a.example", in: world)
        let few = try await addHub("few", host: "b.example", in: world)
        try await makeEvents(3, of: few, in: world)
        try await makeEvents(20, of: many, in: world)
        let newest = try await world.database.events(of: many.number, limit: 99).suffix(7).map(\.number)
        let lost = try await world.database.deleteEvents(before: world.clock.now, most: 10)
        #expect(lost.expired == 0)
        #expect(lost.full == 13)
        #expect(try await world.database.events(of: few.number, limit: 99).count == 3)
        #expect(try await world.database.events(of: many.number, limit: 99).map(\.number) == newest)
        let rest = try await world.database.deleteEvents(before: world.clock.now.adding(milliseconds: 1), most: 10)
        #expect(rest.expired == 10)
    }

    @Test(
        arguments: [
            ([5, 5], 10, [:]), ([3, 20], 10, [1: 13]), ([9, 9, 9], 9, [0: 6, 1: 6, 2: 6]), ([0, 7], 0, [1: 7]),
            ([1, 8, 8], 11, [1: 3, 2: 3]), ([], 4, [:]),
        ] as [([Int], Int, [Int: Int])])
    func `who has less than an equal share keeps all`(counts: [Int], most: Int, excess: [Int: Int]) {
        let owned = Dictionary(uniqueKeysWithValues: counts.enumerated().map { ($0.offset, $0.element) })
        #expect(FairShare.excess(owned, most: most) == excess)
    }
}
