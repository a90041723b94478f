import AldabaTestSupport
import Mailbox
import PushModel
import Testing

/// Random lives of a mailbox, beside a store that only does what the directives say.
@Suite struct MailboxSimulationTests {
    /// What the outside knows: the rows that a store would hold, and how each id ended.
    private struct Outside {
        var rows: [Mailbox.Entry] = []
        var ends: [NotificationID: NotificationState] = [:]
        var faults: [String] = []

        mutating func apply(_ directives: [Mailbox.Directive]) {
            for case .remove(let id, let state) in directives {
                guard let index = rows.firstIndex(where: { $0.id == id }) else {
                    faults.append("\(id) left as \(state.text) without waiting")
                    continue
                }
                rows.remove(at: index)
                ends[id] = state
            }
        }
    }

    @Test(arguments: 0..<400)
    func `whatever happens, each notification leaves once, with a reason that is true`(seed: UInt64) {
        var random = SeededGenerator(seed: seed)
        let policy = MailboxPolicy(
            limit: Int.random(in: 1...6, using: &random),
            overflow: Bool.random(using: &random) ? .dropOldest : .keepNewest)
        var mailbox = Mailbox()
        var outside = Outside()
        var inFlight: Set<NotificationID> = []
        var now = Timestamp(seconds: 1_780_272_000)
        var next: Int64 = 1
        for step in 0..<120 {
            switch Int.random(in: 0..<10, using: &random) {
            case 0..<5:
                let entry = Mailbox.Entry(
                    id: NotificationID(rawValue: next), app: AppID(rawValue: UInt32.random(in: 1...2, using: &random)),
                    lane: .apns, collapseID: ["a", "b", nil, nil].randomElement(using: &random) ?? nil,
                    expiresAt: now.adding(milliseconds: Int64.random(in: 1...400, using: &random)))
                next += Int64.random(in: 1...3, using: &random)
                let directives = mailbox.appended(entry, policy: policy, now: now)
                check(directives, entry, inFlight, &outside)
                outside.apply(directives)
                outside.rows.append(entry)
                if policy.overflow == .dropOldest, mailbox.count(app: entry.app, lane: .apns) > policy.limit {
                    outside.faults.append("step \(step): more than the limit wait")
                }
            case 5:
                let ids = outside.rows.map(\.id).filter { _ in Bool.random(using: &random) }
                mailbox.sent(ids)
                inFlight.formUnion(ids)
            case 6:
                let ids = outside.rows.map(\.id).filter { _ in Bool.random(using: &random) }
                outside.apply(mailbox.acknowledged(ids + [NotificationID(rawValue: 1_000_000)]))
            case 7:
                outside.apply(mailbox.sessionOpened(received: Array(inFlight.prefix(2)), now: now))
                inFlight = []
                let collapses = outside.rows.compactMap { row in row.collapseID.map { "\(row.app)\($0)" } }
                if Set(collapses).count != collapses.count {
                    outside.faults.append("step \(step): two of one collapse id wait after a login")
                }
            case 8:
                now = now.adding(milliseconds: Int64.random(in: 0...60, using: &random))
                outside.apply(mailbox.expired(now: now))
                if outside.rows.contains(where: { $0.expiresAt <= now }) {
                    outside.faults.append("step \(step): something expired still waits")
                }
            default:
                // A crash: the engine is made again of what the store holds.
                mailbox = Mailbox(entries: outside.rows)
                inFlight = []
            }
            if mailbox.ids != outside.rows.map(\.id) {
                outside.faults.append(
                    "step \(step): the mailbox has \(mailbox.ids), the store \(outside.rows.map(\.id))")
            }
        }
        #expect(outside.faults.isEmpty, "seed \(seed)")
    }

    private func check(
        _ directives: [Mailbox.Directive], _ entry: Mailbox.Entry, _ inFlight: Set<NotificationID>,
        _ outside: inout Outside
    ) {
        for case .remove(let id, let state) in directives where state == .replaced && inFlight.contains(id) {
            outside.faults.append("\(id) was replaced by \(entry.id) while in flight")
        }
    }
}
