import PushCore
import PushServer
import Testing

/// Seeded histories against a model that writes down, for every broadcast, who was in at that moment.
@Suite struct FanoutSimulationTests {
    @Test(arguments: 0..<200 as Range<UInt64>)
    func `nobody who was in is forgotten, nobody else gets anything, and nobody gets it twice`(seed: UInt64) throws {
        var world = FanoutWorld(seed: seed)
        for _ in 0..<300 { try world.step() }
        try world.finish()
    }
}

/// Devices, a store that may lose what was not committed, and the model.
private struct FanoutWorld {
    private static let conditions = [
        "'a' in topics", "'b' in topics", "'a' in topics && 'b' in topics", "'a' in topics || 'c' in topics",
        "!('a' in topics)", "'b' in topics && !('a' in topics)", "!('a' in topics) || 'b' in topics && 'c' in topics",
    ]
    private static let numbers = ["a": 1 as Int64, "b": 2, "c": 3]

    private struct Random: RandomNumberGenerator {
        var state: UInt64
        mutating func next() -> UInt64 {
            state &+= 0x9E37_79B9_7F4A_7C15
            var mixed = state
            mixed = (mixed ^ (mixed >> 30)) &* 0xBF58_476D_1CE4_E5B9
            mixed = (mixed ^ (mixed >> 27)) &* 0x94D0_49BB_1331_11EB
            return mixed ^ (mixed >> 31)
        }
    }

    /// What is durable of a device.
    private struct Stored {
        var cursor: Int64 = 0
        var memberships: [Membership] = []
        var registration: FanoutRegistration
        var copies: [NotificationID] = []
        /// The broadcasts that had their turn.
        var looked: Set<NotificationID> = []
    }

    private var random: Random
    private var now = Timestamp(seconds: 1_780_272_000)
    private var sequence: Int64 = 0
    private var stored: [DeviceID: Stored] = [:]
    private var broadcasts: [NotificationID: Broadcast] = [:]
    private var live = LiveAudience()
    private var connected: Set<DeviceID> = []
    private let place = AppPlace(app: AppID(rawValue: 1), environment: .sandbox)
    private let team = TeamID(rawValue: "TEAM123456")
    /// The model: of each broadcast, who was in, with the topics that each of them was in then.
    private var audience: [NotificationID: [DeviceID: Set<Int64>]] = [:]
    /// What each device has left since a broadcast for which it was in.
    private var left: [NotificationID: [DeviceID: Set<Int64>]] = [:]
    private var conditions: [NotificationID: Condition<TopicNumber>] = [:]

    init(seed: UInt64) {
        random = Random(state: seed &* 7919 &+ 13)
        for number in 1...6 as ClosedRange<UInt64> {
            guard let device = DeviceID(number) else { continue }
            stored[device] = Stored(
                registration: FanoutRegistration(place: place, generation: 0, team: team, registeredAt: now))
        }
    }

    private var devices: [DeviceID] { stored.keys.sorted() }

    mutating func step() throws {
        now = now.adding(milliseconds: Int64.random(in: 0...50, using: &random))
        guard let device = devices.randomElement(using: &random) else { return }
        let topic = Int64.random(in: 1...3, using: &random)
        switch Int.random(in: 0..<12, using: &random) {
        case 0, 1, 2: subscribe(device, topic)
        case 3: leave(device, topic)
        case 4, 5: broadcast()
        case 6: connect(device, isLost: false)
        case 7: connect(device, isLost: true)
        case 8: disconnect(device)
        case 9: crash()
        case 10: if Int.random(in: 0..<4, using: &random) == 0 { withdraw() }
        default: walk(limit: 2)
        }
        if connected.contains(device) { #expect(live.count == connected.count) }
    }

    private mutating func subscribe(_ device: DeviceID, _ topic: Int64) {
        guard var entry = stored[device] else { return }
        let number = TopicNumber(rawValue: topic)
        guard !entry.memberships.contains(where: { $0.topic == number && $0.left == nil }) else { return }
        sequence += 1
        entry.memberships.append(Membership(place: place, generation: 0, topic: number, joined: sequence))
        stored[device] = entry
        refresh(device)
    }

    private mutating func leave(_ device: DeviceID, _ topic: Int64) {
        guard var entry = stored[device],
            let index = entry.memberships.firstIndex(where: { $0.topic.rawValue == topic && $0.left == nil })
        else { return }
        sequence += 1
        entry.memberships[index].left = sequence
        stored[device] = entry
        for id in audience.keys { left[id, default: [:]][device, default: []].insert(topic) }
        refresh(device)
    }

    private mutating func refresh(_ device: DeviceID) {
        guard connected.contains(device), let entry = stored[device] else { return }
        live.connected(device, topics: read(entry).topics)
    }

    private mutating func broadcast() {
        guard let text = Self.conditions.randomElement(using: &random),
            let condition = try? TopicCondition(parsing: text)
        else { return }
        sequence += 1
        let compiled = condition.map { TopicNumber(rawValue: Self.numbers[$0.text] ?? -1) }
        let id = NotificationID(rawValue: sequence)
        let broadcast = Broadcast(
            id: id, sequence: sequence, team: team, audience: .topics(compiled), acceptedAt: now,
            expiresAt: now.adding(milliseconds: Int64.random(in: 100...3000, using: &random)))
        broadcasts[id] = broadcast
        conditions[id] = compiled
        audience[id] = stored.mapValues { Set($0.memberships.filter { $0.left == nil }.map(\.topic.rawValue)) }
        live.published(broadcast.audience.entries)
    }

    private mutating func withdraw() {
        guard let id = broadcasts.keys.sorted().randomElement(using: &random) else { return }
        broadcasts[id] = nil
    }

    private func read(_ entry: Stored) -> DeviceAudience {
        let topics = Set(entry.memberships.map(\.topic))
        let candidates = broadcasts.values.filter { broadcast in
            broadcast.sequence > entry.cursor
                && broadcast.audience.entries.contains { $0 == .everyone || topics.contains($0) }
        }
        return DeviceAudience(
            cursor: entry.cursor, memberships: entry.memberships, registrations: [entry.registration],
            broadcasts: candidates.sorted { $0.sequence < $1.sequence }.map(\.id))
    }

    /// A device's turn; when it is lost, nothing of it was committed.
    private mutating func turn(_ device: DeviceID, isLost: Bool) {
        guard let before = stored[device] else { return }
        var entry = before
        for turn in Fanout.replay(read(entry), of: broadcasts, isConnected: true, now: now) {
            let isOpen = broadcasts[turn.broadcast].map { now < $0.expiresAt } ?? false
            #expect(turn.registrations.count == (isOpen && isMeant(turn.broadcast, device) ? 1 : 0))
            entry.copies += turn.registrations.map { _ in turn.broadcast }
            entry.looked.insert(turn.broadcast)
            entry.cursor = turn.cursor
        }
        if !isLost { stored[device] = entry }
    }

    /// A copy is right where the condition held at the broadcast, and holds with what was left since.
    private func isMeant(_ id: NotificationID, _ device: DeviceID) -> Bool {
        guard let condition = conditions[id], let then = audience[id]?[device] else { return false }
        let still = then.subtracting(left[id]?[device] ?? [])
        return condition.matches { then.contains($0.rawValue) } && condition.matches { still.contains($0.rawValue) }
    }

    private mutating func connect(_ device: DeviceID, isLost: Bool) {
        turn(device, isLost: isLost)
        guard !isLost, let entry = stored[device] else { return }
        connected.insert(device)
        live.connected(device, topics: read(entry).topics)
    }

    private mutating func disconnect(_ device: DeviceID) {
        connected.remove(device)
        live.disconnected(device)
    }

    private mutating func crash() {
        connected = []
        live = LiveAudience()
    }

    private mutating func walk(limit: Int) {
        for device in live.next(limit) where connected.contains(device) { turn(device, isLost: false) }
    }

    /// Everybody connects, and what the model says has arrived: of what did not end.
    mutating func finish() throws {
        while live.hasDue { walk(limit: 3) }
        for device in devices where !connected.contains(device) { connect(device, isLost: false) }
        for (device, entry) in stored {
            #expect(Set(entry.copies).count == entry.copies.count, "twice")
            #expect(entry.copies == entry.copies.sorted(), "out of order")
            // What was looked at was decided then, for good.
            for (id, broadcast) in broadcasts where broadcast.expiresAt > now && isMeant(id, device) {
                #expect(entry.looked.contains(id), "\(device) lacks \(id)")
            }
        }
    }
}
