import AldabaTestSupport
import PushCore
import PushServer
import Testing

/// A mailbox beside a store that only does what the directives say, and what happened to it.
private struct Simulation {
    var random: SeededGenerator
    /// The policy of each lane.
    let policies: [Lane: MailboxPolicy]
    var mailbox = Mailbox()
    /// The rows that a store would hold.
    var rows: [Mailbox.Entry] = []
    var tombstones: [Mailbox.Tombstone] = []
    var recalls: [Mailbox.Recall] = []
    /// How many notifications a lane was cleared of, and how many of those the device was told of.
    var cleared = 0
    var told = 0
    var inFlight: Set<NotificationID> = []
    /// How each id ended.
    var ends: [NotificationID: NotificationState] = [:]
    var accepted: [Mailbox.Entry] = []
    var now = Timestamp(seconds: 1_780_272_000)
    var next: Int64 = 1
    var faults: [String] = []

    init(seed: UInt64) {
        random = SeededGenerator(seed: seed)
        let limit = Int.random(in: 1...6, using: &random)
        policies = [
            .apns: MailboxPolicy(
                limit: limit, overflow: MailboxPolicy.Overflow.allCases.randomElement(using: &random) ?? .clear),
            .fcm: .fcm(limit: limit, collapseLimit: Int.random(in: 1...2, using: &random)),
        ]
    }

    /// Does what the directives say; `isTrue` says whether a reason fits the row that leaves.
    mutating func apply(
        _ directives: [Mailbox.Directive], isTrue: (Mailbox.Entry, NotificationState) -> Bool
    ) {
        for directive in directives {
            switch directive {
            case .remove(let id, let state): apply(id, state, isTrue)
            case .tombstone(let tombstone):
                tombstones.removeAll { Self.share($0, tombstone) }
                tombstones.append(tombstone)
            case .removeTombstone(let id):
                if !tombstones.contains(where: { $0.id == id }) { faults.append("no tombstone has the id \(id)") }
                tombstones.removeAll { $0.id == id }
            case .recall(let recall): recalls.append(recall)
            case .removeRecall(let id):
                if !recalls.contains(where: { $0.id == id }) { faults.append("no recall has the id \(id)") }
                recalls.removeAll { $0.id == id }
            }
        }
    }

    private mutating func apply(
        _ id: NotificationID, _ state: NotificationState, _ isTrue: (Mailbox.Entry, NotificationState) -> Bool
    ) {
        guard let index = rows.firstIndex(where: { $0.id == id }) else {
            faults.append("\(id) left as \(state.text) without waiting")
            return
        }
        if !isTrue(rows[index], state) { faults.append("\(id) left as \(state.text), which is not true") }
        if ends.updateValue(state, forKey: id) != nil { faults.append("\(id) left twice") }
        rows.remove(at: index)
    }

    private static func share(_ one: Mailbox.Entry, _ other: Mailbox.Entry) -> Bool {
        one.app == other.app && one.environment == other.environment && one.lane == other.lane
    }

    private static func share(_ one: Mailbox.Tombstone, _ other: Mailbox.Tombstone) -> Bool {
        one.app == other.app && one.environment == other.environment && one.lane == other.lane
    }

    private static func share(_ tombstone: Mailbox.Tombstone, _ entry: Mailbox.Entry) -> Bool {
        tombstone.app == entry.app && tombstone.environment == entry.environment && tombstone.lane == entry.lane
    }

    mutating func append() {
        let tombstoneID = NotificationID(rawValue: next)
        next += 1
        let entry = Mailbox.Entry(
            id: NotificationID(rawValue: next), app: AppID(rawValue: UInt32.random(in: 1...2, using: &random)),
            environment: Bool.random(using: &random) ? .sandbox : .production,
            lane: Bool.random(using: &random) ? .apns : .fcm,
            collapseID: ["a", "b", nil, nil].randomElement(using: &random) ?? nil,
            expiresAt: now.adding(milliseconds: Int64.random(in: 1...400, using: &random)))
        next += Int64.random(in: 1...3, using: &random)
        accepted.append(entry)
        guard let policy = policies[entry.lane] else { return }
        let (rows, inFlight, now) = (rows, inFlight, now)
        let shelf = rows.filter { Self.share($0, entry) }
        let directives = mailbox.appended(entry, policy: policy, tombstoneID: tombstoneID, now: now)
        let earlier = tombstones.first { Self.share($0, entry) }
        apply(directives) { row, state in
            guard Self.share(row, entry) else { return false }
            switch state {
            case .replaced:
                return !inFlight.contains(row.id)
                    && (policy.overflow == .keepNewest || row.collapseID != nil && row.collapseID == entry.collapseID)
            case .expired: return row.expiresAt <= now
            case .dropped(.overflow): return Self.mayDrop(row, for: entry, of: shelf, policy, directives, now)
            default: return false
            }
        }
        checkTombstone(of: directives, for: entry, policy, tombstoneID, earlier)
        self.rows.append(entry)
        let waiting = self.rows.filter { Self.share($0, entry) }
        switch policy.overflow {
        case .dropOldest: if waiting.count > policy.limit { faults.append("more than the limit wait") }
        case .clear:
            let plain = policy.collapseLimit == nil ? waiting : waiting.filter { $0.collapseID == nil }
            let collapseIDs = Set(waiting.compactMap(\.collapseID))
            if plain.count > policy.limit { faults.append("more than the limit wait") }
            if collapseIDs.count > policy.collapseLimit ?? .max {
                faults.append("more collapse ids than the limit wait")
            }
        case .keepNewest: break
        }
    }

    /// Whether a row may make capacity for an entry.
    private static func mayDrop(
        _ row: Mailbox.Entry, for entry: Mailbox.Entry, of shelf: [Mailbox.Entry], _ policy: MailboxPolicy,
        _ directives: [Mailbox.Directive], _ now: Timestamp
    ) -> Bool {
        let left = Set(directives.compactMap(\.removed))
        switch policy.overflow {
        case .keepNewest: return false
        case .dropOldest:
            return shelf.count >= policy.limit
                && shelf.allSatisfy { $0.id >= row.id || $0.expiresAt <= now || left.contains($0.id) }
        case .clear:
            guard let collapseLimit = policy.collapseLimit, entry.collapseID != nil else {
                let counted = policy.collapseLimit == nil ? shelf : shelf.filter { $0.collapseID == nil }
                return counted.count >= policy.limit && shelf.allSatisfy { left.contains($0.id) }
            }
            let other = Set(shelf.compactMap(\.collapseID)).subtracting([entry.collapseID])
            return row.collapseID != nil && row.collapseID != entry.collapseID && other.count >= collapseLimit
        }
    }

    /// What a lane was cleared of is counted, and nothing else.
    private mutating func checkTombstone(
        of directives: [Mailbox.Directive], for entry: Mailbox.Entry, _ policy: MailboxPolicy, _ id: NotificationID,
        _ earlier: Mailbox.Tombstone?
    ) {
        let dropped = directives.count { if case .remove(_, .dropped(.overflow)) = $0 { true } else { false } }
        let isCleared =
            dropped > 0 && policy.overflow == .clear && (policy.collapseLimit == nil || entry.collapseID == nil)
        let expected = Mailbox.Tombstone(
            id: id, app: entry.app, environment: entry.environment, lane: entry.lane,
            count: (earlier?.count ?? 0) + dropped, since: earlier?.since ?? now)
        let found = directives.compactMap { if case .tombstone(let tombstone) = $0 { tombstone } else { nil } }
        if found != (isCleared ? [expected] : []) { faults.append("\(found) stands for \(dropped) that were dropped") }
        if isCleared { cleared += dropped }
    }

    mutating func acknowledge() {
        let ids = rows.map(\.id).filter { _ in Bool.random(using: &random) }
        apply(mailbox.acknowledged(ids + [NotificationID(rawValue: 1_000_000)])) { row, state in
            state == .acked && ids.contains(row.id)
        }
        for id in ids where ends[id] != .acked { faults.append("\(id) was acknowledged and did not leave so") }
    }

    /// The device has stored a tombstone, or an earlier one that another took the place of.
    mutating func acknowledgeTombstone() {
        guard let tombstone = tombstones.randomElement(using: &random) else { return }
        let stale = NotificationID(rawValue: 1_000_001)
        let directives = mailbox.acknowledged([stale, tombstone.id])
        if directives != [.removeTombstone(tombstone.id)] {
            faults.append("an acknowledged tombstone gave \(directives)")
        }
        apply(directives) { _, _ in false }
        told += tombstone.count
    }

    mutating func withdraw() {
        let waiting = Set(rows.map(\.id).filter { _ in Int.random(in: 0..<4, using: &random) == 0 })
        let absent = [NotificationID(rawValue: 1_000_000)] + ends.keys.sorted().prefix(1)
        check(mailbox.withdrawn(waiting.sorted() + absent), waiting, absent: absent)
        guard let row = rows.randomElement(using: &random), let collapseID = row.collapseID else { return }
        let same = Set(rows.filter { Self.share($0, row) && $0.collapseID == collapseID }.map(\.id))
        check(
            mailbox.withdrawn(collapseID: collapseID, app: row.app, environment: row.environment, lane: row.lane), same,
            absent: [])
    }

    private mutating func check(
        _ withdrawal: Mailbox.Withdrawal, _ ids: Set<NotificationID>, absent: [NotificationID]
    ) {
        apply(withdrawal.directives) { row, state in state == .withdrawn && ids.contains(row.id) }
        for id in ids where ends[id] != .withdrawn { faults.append("\(id) was withdrawn and did not leave so") }
        if Set(withdrawal.inFlight) != ids.intersection(inFlight) {
            faults.append("wrong ones are told to be in flight")
        }
        if withdrawal.absent != absent { faults.append("wrong ones are told not to wait") }
        for id in withdrawal.inFlight { recall(id) }
    }

    /// The device is told of a withdrawal, once for each notification.
    private mutating func recall(_ id: NotificationID) {
        let recall = Mailbox.Recall(id: NotificationID(rawValue: next), notification: id, at: now)
        next += 1
        let expected: [Mailbox.Directive] = recalls.contains { $0.notification == id } ? [] : [.recall(recall)]
        let directives = mailbox.recalled(recall)
        if directives != expected { faults.append("a recall gave \(directives)") }
        apply(directives) { _, _ in false }
    }

    /// The device has stored a recall.
    mutating func acknowledgeRecall() {
        guard let recall = recalls.randomElement(using: &random) else { return }
        apply(mailbox.acknowledged([recall.id])) { _, _ in false }
        if recalls.contains(recall) { faults.append("an acknowledged recall stays") }
    }

    mutating func login() {
        let (accepted, now) = (accepted, now)
        apply(mailbox.sessionOpened(now: now)) { row, state in
            switch state {
            case .replaced:
                accepted.contains { Self.share($0, row) && $0.collapseID == row.collapseID && $0.id > row.id }
            case .expired: row.expiresAt <= now
            default: false
            }
        }
        inFlight = []
        let collapses = self.rows.compactMap { row in
            row.collapseID.map { "\(row.app) \(row.environment) \(row.lane) \($0)" }
        }
        if Set(collapses).count != collapses.count { faults.append("two of one collapse id wait after a login") }
    }

    mutating func passTime() {
        now = now.adding(milliseconds: Int64.random(in: 0...60, using: &random))
        let now = now
        apply(mailbox.expired(now: now)) { row, state in state == .expired && row.expiresAt <= now }
        if rows.contains(where: { $0.expiresAt <= now }) { faults.append("something expired still waits") }
    }

    mutating func unregister() {
        let app = AppID(rawValue: UInt32.random(in: 1...2, using: &random))
        let environment: PushEnvironment = Bool.random(using: &random) ? .sandbox : .production
        cleared -= tombstones.filter { $0.app == app && $0.environment == environment }.reduce(0) { $0 + $1.count }
        apply(mailbox.unregistered(app: app, environment: environment)) { row, state in
            state == .dropped(.unregistered) && row.app == app && row.environment == environment
        }
        if rows.contains(where: { $0.app == app && $0.environment == environment }) {
            faults.append("mail of an ended registration still waits")
        }
        if tombstones.contains(where: { $0.app == app && $0.environment == environment }) {
            faults.append("a tombstone of an ended registration stays")
        }
    }

    mutating func step() {
        switch Int.random(in: 0..<27, using: &random) {
        case 0..<12: append()
        case 12..<14:
            let ids = rows.map(\.id).filter { _ in Bool.random(using: &random) }
            mailbox.sent(ids)
            inFlight.formUnion(ids)
        case 14..<17: acknowledge()
        case 17..<19: login()
        case 19..<21: passTime()
        case 21: unregister()
        case 22: withdraw()
        case 23:
            acknowledgeTombstone()
            acknowledgeRecall()
        default:
            // A crash: the engine is made again of what the store holds.
            mailbox = Mailbox(entries: rows, tombstones: tombstones, recalls: recalls)
            inFlight = []
        }
        if mailbox.tombstones != tombstones {
            faults.append("the mailbox has \(mailbox.tombstones), the store \(tombstones)")
        }
        if mailbox.recalls != recalls { faults.append("the mailbox has \(mailbox.recalls), the store \(recalls)") }
        if tombstones.reduce(told, { $0 + $1.count }) != cleared { faults.append("tombstones lack what was cleared") }
        if mailbox.ids != rows.map(\.id) {
            faults.append("the mailbox has \(mailbox.ids), the store \(rows.map(\.id))")
        }
        if ends.count + rows.count != accepted.count { faults.append("something left without an end") }
    }
}

extension Mailbox.Directive {
    /// The notification that leaves.
    fileprivate var removed: NotificationID? { if case .remove(let id, _) = self { id } else { nil } }
}

/// Random lives of a mailbox.
@Suite struct MailboxSimulationTests {
    @Test(arguments: 0..<400)
    func `whatever happens, each notification leaves once, with a reason that is true`(seed: UInt64) {
        var simulation = Simulation(seed: seed)
        for _ in 0..<150 where simulation.faults.isEmpty { simulation.step() }
        #expect(simulation.faults.isEmpty, "seed \(seed)")
        #expect(!simulation.ends.isEmpty)
    }

    @Test func `the simulation meets every reason`() {
        var reasons: Set<NotificationState> = []
        var told = 0
        for seed in 0..<40 as Range<UInt64> {
            var simulation = Simulation(seed: seed)
            for _ in 0..<150 { simulation.step() }
            reasons.formUnion(simulation.ends.values)
            told += simulation.told
        }
        #expect(
            reasons == [.acked, .expired, .replaced, .withdrawn, .dropped(.overflow), .dropped(.unregistered)])
        #expect(told > 0)
    }
}
