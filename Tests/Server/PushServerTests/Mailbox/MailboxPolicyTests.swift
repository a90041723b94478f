import PushCore
import PushServer
import Testing

/// What is dropped from a full lane, and what is taken back.
@Suite struct MailboxPolicyTests {
    private static let now = Timestamp(seconds: 1_780_272_000)
    private let now = MailboxPolicyTests.now
    private let app = AppID(rawValue: 1)

    private func id(_ value: Int64) -> NotificationID { NotificationID(rawValue: value) }

    private func entry(
        _ id: Int64, app: AppID = AppID(rawValue: 1), lane: Lane = .fcm, collapse: String? = nil,
        expiresAt: Timestamp = Timestamp(seconds: 1_790_000_000)
    ) -> Mailbox.Entry {
        Mailbox.Entry(
            id: NotificationID(rawValue: id), app: app, environment: .sandbox, lane: lane, collapseID: collapse,
            expiresAt: expiresAt)
    }

    /// Appends entries whose ids are ten apart; a tombstone's would be one below the entry's.
    private func append(
        _ entries: [Mailbox.Entry], to mailbox: inout Mailbox, _ policy: MailboxPolicy, at now: Timestamp = now
    ) -> [Mailbox.Directive] {
        entries.flatMap {
            mailbox.appended(
                $0, policy: policy, tombstoneID: NotificationID(rawValue: $0.id.rawValue - 1), now: now)
        }
    }

    private func tombstone(_ id: Int64, _ count: Int, since: Timestamp = now, lane: Lane = .fcm) -> Mailbox.Tombstone {
        Mailbox.Tombstone(
            id: NotificationID(rawValue: id), app: app, environment: .sandbox, lane: lane, count: count, since: since)
    }

    /// What waits, what comes, and what leaves.
    struct Case: Sendable, CustomTestStringConvertible {
        var testDescription: String
        var policy: MailboxPolicy
        /// Collapse ids of what waits, in order; `-` for none. The last one comes to the others.
        var waiting: String
        /// Places of those that leave as dropped.
        var dropped: [Int] = []
        var replaced: [Int] = []
        /// What the tombstone counts.
        var count: Int?
    }

    static let cases = [
        Case(testDescription: "below the limit", policy: .fcm(limit: 3), waiting: "---"),
        Case(
            testDescription: "the one beyond the limit clears", policy: .fcm(limit: 3), waiting: "----",
            dropped: [0, 1, 2], count: 3),
        Case(testDescription: "collapse ids do not count", policy: .fcm(limit: 3), waiting: "-ab--"),
        Case(
            testDescription: "collapse ids are cleared too", policy: .fcm(limit: 3), waiting: "-ab---",
            dropped: [0, 1, 2, 3, 4], count: 5),
        Case(
            testDescription: "the fifth collapse key drops the oldest alone", policy: .fcm(), waiting: "a-bcd-e",
            dropped: [0]),
        Case(
            testDescription: "a key that waits is replaced and drops nothing", policy: .fcm(), waiting: "abcda",
            replaced: [0]),
        Case(
            testDescription: "the key whose newest is the oldest goes", policy: .fcm(collapseLimit: 2), waiting: "abac",
            dropped: [1], replaced: [0]),
        Case(
            testDescription: "a collapse id clears nothing of FCM's", policy: .fcm(limit: 2), waiting: "--a"),
        Case(
            testDescription: "an app's own limit counts everything", policy: MailboxPolicy(limit: 3, overflow: .clear),
            waiting: "a-bc", dropped: [0, 1, 2], count: 3),
        Case(
            testDescription: "what is replaced makes capacity", policy: MailboxPolicy(limit: 3, overflow: .clear),
            waiting: "a-ba", replaced: [0]),
        Case(
            testDescription: "the oldest is dropped without a tombstone", policy: MailboxPolicy(limit: 3),
            waiting: "a-b-", dropped: [0]),
        Case(
            testDescription: "only the newest is kept", policy: MailboxPolicy(overflow: .keepNewest), waiting: "---",
            replaced: [0, 1]),
    ]

    @Test(arguments: cases)
    func `what gives way follows from the policy`(_ what: Case) {
        let entries = what.waiting.enumerated().map { index, key in
            entry(Int64(index + 1) * 10, collapse: key == "-" ? nil : String(key))
        }
        var mailbox = Mailbox()
        let directives = append(entries, to: &mailbox, what.policy)
        func ids(_ state: NotificationState) -> [Int] {
            directives.compactMap { directive in
                if case .remove(let id, state) = directive { Int(id.rawValue / 10) - 1 } else { nil }
            }
        }
        #expect(ids(.dropped(.overflow)) == what.dropped)
        #expect(ids(.replaced) == what.replaced)
        #expect(mailbox.tombstones.map(\.count) == (what.count.map { [$0] } ?? []))
        #expect(mailbox.count == entries.count - what.dropped.count - what.replaced.count)
    }

    @Test func `FCM's hundred and first clears and leaves one tombstone`() {
        var mailbox = Mailbox()
        #expect(append((1...100).map { entry($0 * 10) }, to: &mailbox, .fcm()).isEmpty)
        let directives = append([entry(1010)], to: &mailbox, .fcm())
        #expect(directives.count == 101 && directives.last == .tombstone(tombstone(1009, 100)))
        #expect(mailbox.ids == [id(1010)] && mailbox.tombstones == [tombstone(1009, 100)])
        let later = now.adding(milliseconds: 500)
        let more = append((102...202).map { entry($0 * 10) }, to: &mailbox, .fcm(), at: later)
        let tombstones = more.filter { if case .tombstone = $0 { true } else { false } }
        #expect(tombstones == [.tombstone(tombstone(2009, 200))])
        #expect(mailbox.tombstones == [tombstone(2009, 200)], "it says since when, and of all")
    }

    @Test func `a lane is cleared for itself`() {
        let policy = MailboxPolicy(limit: 1, overflow: .clear)
        var mailbox = Mailbox()
        let others = [entry(10, lane: .apns), entry(20, app: AppID(rawValue: 2)), entry(30)]
        #expect(append(others, to: &mailbox, policy).isEmpty)
        #expect(append([entry(40)], to: &mailbox, policy).count == 2)
        #expect(mailbox.ids == [id(10), id(20), id(40)])
        #expect(
            append([entry(50, lane: .apns)], to: &mailbox, policy).last == .tombstone(tombstone(49, 1, lane: .apns)))
        #expect(mailbox.tombstones.count == 2)
    }

    @Test func `what has expired makes capacity before anything is cleared`() {
        let soon = now.adding(milliseconds: 10)
        for collapse in [nil, "b"] {
            var mailbox = Mailbox()
            let policy = MailboxPolicy.fcm(limit: 1, collapseLimit: 1)
            _ = append([entry(10, collapse: collapse.map { _ in "a" }, expiresAt: soon)], to: &mailbox, policy)
            #expect(
                append([entry(20, collapse: collapse)], to: &mailbox, policy, at: soon) == [.remove(id(10), .expired)])
            #expect(mailbox.tombstones.isEmpty)
        }
    }

    @Test func `a tombstone stays until the device has acknowledged it, through a restart too`() {
        var mailbox = Mailbox()
        _ = append([entry(10), entry(20)], to: &mailbox, .fcm(limit: 1))
        mailbox = Mailbox(entries: [entry(20)], tombstones: mailbox.tombstones)
        #expect(mailbox.sessionOpened(now: now).isEmpty)
        #expect(mailbox.acknowledged([id(19), id(20)]) == [.removeTombstone(id(19)), .remove(id(20), .acked)])
        #expect(mailbox.tombstones.isEmpty && mailbox.acknowledged([id(19)]).isEmpty)
    }

    @Test func `a tombstone goes with its app's registration`() {
        var mailbox = Mailbox()
        _ = append([entry(10), entry(20)], to: &mailbox, .fcm(limit: 1))
        #expect(mailbox.unregistered(app: AppID(rawValue: 2), environment: .sandbox).isEmpty)
        #expect(
            mailbox.unregistered(app: app, environment: .sandbox)
                == [.remove(id(20), .dropped(.unregistered)), .removeTombstone(id(19))])
    }

    @Test func `what is withdrawn waits no more, and what may have arrived is told`() {
        var mailbox = Mailbox()
        _ = append([entry(10), entry(20), entry(30)], to: &mailbox, .fcm())
        mailbox.sent([id(10)])
        let withdrawal = mailbox.withdrawn([id(10), id(20), id(99)])
        #expect(withdrawal.directives == [.remove(id(10), .withdrawn), .remove(id(20), .withdrawn)])
        #expect(withdrawal.inFlight == [id(10)] && withdrawal.absent == [id(99)])
        #expect(mailbox.ids == [id(30)] && mailbox.acknowledged([id(10)]).isEmpty)
    }

    @Test func `a collapse id of which only what was overtaken waits still counts`() {
        var mailbox = Mailbox()
        let policy = MailboxPolicy.fcm(limit: 3, collapseLimit: 1)
        _ = append([entry(10, collapse: "a")], to: &mailbox, policy)
        mailbox.sent([id(10)])
        _ = append([entry(20, collapse: "a")], to: &mailbox, policy)
        _ = mailbox.withdrawn([id(20)])
        #expect(append([entry(30, collapse: "b")], to: &mailbox, policy) == [.remove(id(10), .dropped(.overflow))])
        #expect(mailbox.ids == [id(30)])
    }

    @Test func `a recall stays until the device has acknowledged it, one for each notification`() {
        var mailbox = Mailbox()
        let recall = Mailbox.Recall(id: id(20), notification: id(10), at: now)
        #expect(mailbox.recalled(recall) == [.recall(recall)])
        #expect(mailbox.recalled(Mailbox.Recall(id: id(21), notification: id(10), at: now)).isEmpty)
        mailbox = Mailbox(recalls: mailbox.recalls)
        #expect(mailbox.sessionOpened(now: now).isEmpty && mailbox.count == 0)
        #expect(mailbox.acknowledged([id(20), id(21)]) == [.removeRecall(id(20))])
        #expect(mailbox.recalls.isEmpty && mailbox.acknowledged([id(20)]).isEmpty)
    }

    @Test func `of too many recalls the oldest leave`() {
        var mailbox = Mailbox()
        for number in 0..<Int64(Mailbox.recallLimit) {
            let recall = Mailbox.Recall(id: id(2000 + number), notification: id(1 + number), at: now)
            #expect(mailbox.recalled(recall) == [.recall(recall)])
        }
        let last = Mailbox.Recall(id: id(9000), notification: id(1999), at: now)
        #expect(mailbox.recalled(last) == [.removeRecall(id(2000)), .recall(last)])
        #expect(mailbox.recalls.count == Mailbox.recallLimit)
    }

    @Test func `a collapse id is withdrawn within its app and lane, with what it overtook`() {
        var mailbox = Mailbox()
        _ = append([entry(10, collapse: "a"), entry(20, lane: .apns, collapse: "a")], to: &mailbox, .fcm())
        mailbox.sent([id(10)])
        _ = append([entry(30, collapse: "a"), entry(40, collapse: "b")], to: &mailbox, .fcm())
        let withdrawal = mailbox.withdrawn(collapseID: "a", app: app, environment: .sandbox, lane: .fcm)
        #expect(withdrawal.directives == [.remove(id(10), .withdrawn), .remove(id(30), .withdrawn)])
        #expect(withdrawal.inFlight == [id(10)] && withdrawal.absent.isEmpty)
        #expect(mailbox.ids == [id(20), id(40)])
        #expect(
            mailbox.withdrawn(collapseID: "a", app: app, environment: .production, lane: .fcm) == Mailbox.Withdrawal())
    }
}
