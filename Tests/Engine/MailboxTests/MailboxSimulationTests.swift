import AldabaTestSupport
import Mailbox
import PushModel
import Testing

/// A mailbox beside a store that only does what the directives say, and what happened to it.
private struct Simulation {
    var random: SeededGenerator
    let policy: MailboxPolicy
    var mailbox = Mailbox()
    /// The rows that a store would hold.
    var rows: [Mailbox.Entry] = []
    var inFlight: Set<NotificationID> = []
    /// How each id ended.
    var ends: [NotificationID: NotificationState] = [:]
    var accepted: [Mailbox.Entry] = []
    var now = Timestamp(seconds: 1_780_272_000)
    var next: Int64 = 1
    var faults: [String] = []

    init(seed: UInt64) {
        random = SeededGenerator(seed: seed)
        policy = MailboxPolicy(
            limit: Int.random(in: 1...6, using: &random),
            overflow: Bool.random(using: &random) ? .dropOldest : .keepNewest)
    }

    /// Does what the directives say; `isTrue` says whether a reason fits the row that leaves.
    mutating func apply(
        _ directives: [Mailbox.Directive], isTrue: (Mailbox.Entry, NotificationState) -> Bool
    ) {
        for case .remove(let id, let state) in directives {
            guard let index = rows.firstIndex(where: { $0.id == id }) else {
                faults.append("\(id) left as \(state.text) without waiting")
                continue
            }
            if !isTrue(rows[index], state) { faults.append("\(id) left as \(state.text), which is not true") }
            if ends.updateValue(state, forKey: id) != nil { faults.append("\(id) left twice") }
            rows.remove(at: index)
        }
    }

    private static func share(_ one: Mailbox.Entry, _ other: Mailbox.Entry) -> Bool {
        one.app == other.app && one.environment == other.environment && one.lane == other.lane
    }

    mutating func append() {
        let entry = Mailbox.Entry(
            id: NotificationID(rawValue: next), app: AppID(rawValue: UInt32.random(in: 1...2, using: &random)),
            environment: Bool.random(using: &random) ? .sandbox : .production,
            lane: Bool.random(using: &random) ? .apns : .fcm,
            collapseID: ["a", "b", nil, nil].randomElement(using: &random) ?? nil,
            expiresAt: now.adding(milliseconds: Int64.random(in: 1...400, using: &random)))
        next += Int64.random(in: 1...3, using: &random)
        accepted.append(entry)
        let (rows, inFlight, policy, now) = (rows, inFlight, policy, now)
        let shelf = rows.filter { Self.share($0, entry) }
        let directives = mailbox.appended(entry, policy: policy, now: now)
        apply(directives) { row, state in
            guard Self.share(row, entry) else { return false }
            switch state {
            case .replaced:
                return !inFlight.contains(row.id)
                    && (policy.overflow == .keepNewest || row.collapseID != nil && row.collapseID == entry.collapseID)
            case .expired: return row.expiresAt <= now
            case .dropped(.overflow):
                let older = shelf.filter { $0.id < row.id && $0.expiresAt > now }
                return policy.overflow == .dropOldest && shelf.count >= policy.limit
                    && older.allSatisfy { old in directives.contains { $0.id == old.id } }
            default: return false
            }
        }
        self.rows.append(entry)
        let count = mailbox.count(app: entry.app, environment: entry.environment, lane: entry.lane)
        if policy.overflow == .dropOldest, count > policy.limit { faults.append("more than the limit wait") }
    }

    mutating func acknowledge() {
        let ids = rows.map(\.id).filter { _ in Bool.random(using: &random) }
        apply(mailbox.acknowledged(ids + [NotificationID(rawValue: 1_000_000)])) { row, state in
            state == .acked && ids.contains(row.id)
        }
        for id in ids where ends[id] != .acked { faults.append("\(id) was acknowledged and did not leave so") }
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
        apply(mailbox.unregistered(app: app, environment: environment)) { row, state in
            state == .dropped(.unregistered) && row.app == app && row.environment == environment
        }
        if rows.contains(where: { $0.app == app && $0.environment == environment }) {
            faults.append("mail of an ended registration still waits")
        }
    }

    mutating func step() {
        switch Int.random(in: 0..<24, using: &random) {
        case 0..<12: append()
        case 12..<14:
            let ids = rows.map(\.id).filter { _ in Bool.random(using: &random) }
            mailbox.sent(ids)
            inFlight.formUnion(ids)
        case 14..<17: acknowledge()
        case 17..<19: login()
        case 19..<21: passTime()
        case 21: unregister()
        default:
            // A crash: the engine is made again of what the store holds.
            mailbox = Mailbox(entries: rows)
            inFlight = []
        }
        if mailbox.ids != rows.map(\.id) {
            faults.append("the mailbox has \(mailbox.ids), the store \(rows.map(\.id))")
        }
        if ends.count + rows.count != accepted.count { faults.append("something left without an end") }
    }
}

extension Mailbox.Directive {
    fileprivate var id: NotificationID {
        switch self {
        case .remove(let id, _): id
        }
    }
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
        for seed in 0..<40 as Range<UInt64> {
            var simulation = Simulation(seed: seed)
            for _ in 0..<150 { simulation.step() }
            reasons.formUnion(simulation.ends.values)
        }
        #expect(reasons == [.acked, .expired, .replaced, .dropped(.overflow), .dropped(.unregistered)])
    }
}
