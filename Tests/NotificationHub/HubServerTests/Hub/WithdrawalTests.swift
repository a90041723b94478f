import HubProtocol
import HubServer
import PushCore
import PushServer
import Synchronization
import Testing

/// This server as far as it knows what a push service of the test's was given: each has a timeline and can be taken back.
final class KnownDevices: TimelineService, NotificationWithdrawal {
    private let sender: RecordingSender
    private let platforms: Set<HubPlatform>
    private let state = Mutex<(taken: [APNsID], outcome: WithdrawalOutcome, states: [NotificationState])>(
        ([], .withdrawn, []))

    init(_ sender: RecordingSender, _ platforms: Set<HubPlatform> = [.aldaba]) {
        self.sender = sender
        self.platforms = platforms
    }

    /// The ids of what was taken back.
    var taken: [APNsID] { state.withLock { $0.taken } }
    /// Has every withdrawal come to this.
    func answer(_ outcome: WithdrawalOutcome) { state.withLock { $0.outcome = outcome } }
    /// Has every timeline tell these states.
    func tell(_ states: [NotificationState]) { state.withLock { $0.states = states } }

    private var known: [HubPush] { sender.pushes.filter { platforms.contains($0.platform) } }

    func timelines(of reference: String, team: TeamID?) async throws -> [NotificationTimeline] {
        let states = state.withLock { $0.states }
        return known.enumerated().filter { $0.element.id.rawValue == reference }.map { place, push in
            NotificationTimeline(
                id: NotificationID(rawValue: Int64(place)), apnsID: push.id, team: TeamID(rawValue: "TEAM000001"),
                topic: Topic(rawValue: "com.example.todo"), device: DeviceID(1), environment: .sandbox,
                entries: states.map { TimelineEntry(at: Timestamp(rawValue: 0), state: $0, source: .server) })
        }
    }

    func withdraw(
        _ id: NotificationID, of device: DeviceID, then complete: @escaping @Sendable (WithdrawalOutcome) -> Void
    ) {
        let push = known[Int(id.rawValue)]
        complete(
            state.withLock { state in
                if state.outcome == .withdrawn || state.outcome == .mayHaveArrived { state.taken.append(push.id) }
                return state.outcome
            })
    }
}

extension HubWorld {
    /// Takes a send back, as far as devices are known.
    func withdraw(_ record: SendRecord, _ devices: KnownDevices) async throws -> Int {
        try await hubs.withdraw(record.id, of: hub, timelines: devices, by: devices)
    }
}

@Test func `a campaign is taken back from this server's devices, whoever else had a turn after them`() async throws {
    let world = try await HubWorld()
    try await world.put("one")
    try await world.put("two", platform: "aldaba")
    try await world.put("three")
    try await world.put("four", platform: "aldaba")
    let record = try await world.campaign("{}")
    while let due = try await world.runner.runAll() {
        world.clock.advance(milliseconds: due.milliseconds(since: world.clock.now))
    }
    #expect(world.sender.pushes.count == 4)
    let devices = KnownDevices(world.sender)
    #expect(try await world.withdraw(record, devices) == 2)
    #expect(Set(devices.taken) == Set(world.sender.pushes.filter { $0.platform == .aldaba }.map(\.id)))
}

@Test func `of templates each notification is taken back, and what went to channels that were named`() async throws {
    let world = try await HubWorld()
    let templates = #","templates":{"a":{"body":"{\"x\":\"$(y)\"}"},"b":{"body":"{\"z\":\"$(y)\"}"}}"#
    for id in ["one", "two"] { try await world.put(id, templates, platform: "aldaba") }
    let devices = KnownDevices(world.sender, [.aldaba, .apns])
    let campaign = try await world.campaign("{}", format: .template, body: #"{"y":"1"}"#)
    _ = try await world.runner.runAll()
    #expect(try await world.withdraw(campaign, devices) == 4)
    #expect(Set(devices.taken) == Set(world.sender.pushes.map(\.id)))
    let direct = try await world.hubs.accept(
        SendRequest(format: .native(.apns), body: Array("{}".utf8), target: .channels(["here", "there"])),
        for: world.hub)
    _ = try await world.runner.runAll()
    #expect(try await world.withdraw(direct, devices) == 2)
}

@Test(.timeLimit(.minutes(5)))
func `what a slice hands over that was under way when a send was taken back is taken back, too`() async throws {
    let meanwhile = Mutex<(@Sendable () async -> Void)?>(nil)
    let sender = RecordingSender()
    let world = try await HubWorld(senders: [
        .aldaba: Beside(sender: sender) { await meanwhile.withLock { $0 }?() }
    ])
    try await world.put("one", platform: "aldaba")
    let devices = KnownDevices(sender)
    let record = try await world.send(nil)
    let withdrawing = Mutex<Task<Int, any Error>?>(nil)
    let (hubs, hub) = (world.hubs, world.hub)
    meanwhile.withLock {
        $0 = {
            let task = Task { try await hubs.withdraw(record.id, of: hub, timelines: devices, by: devices) }
            withdrawing.withLock { $0 = task }
            // The slice goes on when the send has ended.
            while (try? await hubs.send(record.id, of: hub))?.state.isFinal == false { await Task.yield() }
        }
    }
    _ = try await world.runner.runAll()
    #expect(try await withdrawing.withLock { $0 }?.value == 1)
    #expect(devices.taken == sender.pushes.map(\.id))
    #expect(sender.pushes.count == 1)
}
