import AldabaTestSupport
import PushCore
import PushServer
import Testing

/// What every ``ReportStore`` must do; a store's test suite runs each rule against a fresh store.
package struct ReportStoreContract<Store: ReportStore & NotificationStore & TopicStore> {
    let store: Store
    let register: any RegisterStore
    private let now = Timestamp(seconds: 1_780_272_000)
    private let team = TeamID(rawValue: "TEAM123456")
    private var today: ClosedRange<ReportDay> { ReportDay(now)...ReportDay(now) }

    /// The rules for a store and the register in the same database.
    package init(_ store: Store, register: any RegisterStore) {
        self.store = store
        self.register = register
    }

    private func app(_ topic: String = "com.example.todo") async throws -> RegisteredApp {
        try await register.addApp(topic: Topic(rawValue: topic), team: team, policy: MailboxPolicy(), at: now)
    }

    private func id(_ number: Int64) -> NotificationID {
        NotificationID(rawValue: NotificationIDGenerator(node: 0, highWater: 0).floor(at: now) + number)
    }

    private func record(
        _ number: Int64, of app: RegisteredApp, device: UInt64 = 1, lane: Lane = .fcm, isAttempt: Bool = false,
        payload: String = "{}"
    ) throws -> NotificationRecord {
        NotificationRecord(
            id: id(number),
            subject: TokenSubject(
                cell: 0, device: try #require(DeviceID(device)), app: app.id, environment: .sandbox, generation: 0),
            apnsID: nil, pushType: .alert, priority: .immediate, collapseID: nil, acceptedAt: now,
            expiresAt: isAttempt ? nil : now + .seconds(60), waits: !isAttempt, lane: lane,
            payload: .own(Array(payload.utf8)))
    }

    private func line(
        _ state: NotificationState, after seconds: Int64 = 1, by source: TimelineSource = .server
    ) -> TimelineEntry { TimelineEntry(at: now + .seconds(seconds), state: state, source: source) }

    private func count() async throws {
        while try await store.countChanges(limit: 7).isMore {}
    }

    private func rows(_ change: (inout ReportChoice) -> Void = { _ in }) async throws -> [ReportRow] {
        var choice = ReportChoice(days: today)
        change(&choice)
        return try await store.reports(choice, limit: 10_000)
    }

    private func everything(limit: Int) async throws -> [ReportedNotification] {
        let choice = EventChoice(accepted: now..<(now + .seconds(1)))
        var (found, cursor): ([ReportedNotification], NotificationID?) = ([], NotificationID(rawValue: 0))
        while let from = cursor {
            let page = try await store.events(choice, after: from, limit: limit)
            found += page.notifications
            cursor = page.next
        }
        return found
    }

    private static var states: [(NotificationState, TimelineSource)] {
        [
            (.sent, .server), (.acked, .server), (.presented, .desktop), (.opened, .app), (.action("x"), .desktop),
            (.dismissed, .desktop), (.handed, .app), (.expired, .server), (.expired, .agent), (.replaced, .server),
            (.withdrawn, .server), (.withdrawn, .agent), (.dropped(.overflow), .server), (.dropped(.inactive), .server),
            (.dropped(.unregistered), .agent), (.dropped(.offline), .server), (.failed("x"), .agent),
            (.suppressed(.settings), .agent), (.decrypted, .agent),
        ]
    }

    // MARK: Rules

    package func `over any history the ends add up to what was accepted`() async throws {
        let apps = [try await app(), try await app("com.example.other")]
        let payloads = ["{}", #"{"aps":{"alert":"x"}}"#, #"{"google.c.a.m_l":"spring","aps":{"alert":"x"}}"#]
        var marks: [NotificationID: PayloadMarks] = [:]
        for seed in 1...8 as ClosedRange<UInt64> {
            var generator = SeededGenerator(seed: seed)
            var changes: [RowChange] = []
            for number in 0..<40 as Range<Int64> {
                let payload = payloads[Int.random(in: 0...2, using: &generator)]
                let record = try record(
                    Int64(seed) * 100 + number, of: apps[Int.random(in: 0...1, using: &generator)],
                    lane: Bool.random(using: &generator) ? .fcm : .apns, isAttempt: number % 7 == 0, payload: payload)
                marks[record.id] = PayloadMarks(Array(payload.utf8))
                changes.append(.insertNotification(record))
                for _ in 0..<Int.random(in: 0...6, using: &generator) {
                    let (state, source) = Self.states[Int.random(in: 0..<Self.states.count, using: &generator)]
                    let seconds = Int64.random(in: 0...30, using: &generator)
                    changes.append(.appendLine(line(state, after: seconds, by: source), to: record.id))
                }
            }
            while !changes.isEmpty {
                let batch = Array(changes.prefix(Int.random(in: 1...20, using: &generator)))
                changes.removeFirst(batch.count)
                try store.apply(batch)
                guard Bool.random(using: &generator) else { continue }
                _ = try await store.countChanges(limit: Int.random(in: 1...30, using: &generator))
            }
        }
        try await count()
        let found = try await rows()
        for row in found { #expect(row.counts.ended == row.counts.accepted, "\(row)") }
        #expect(found.reduce(0) { $0 + $1.counts.accepted } == 320)
        var expected: [ReportRow: ReportCounts] = [:]
        for notification in try await everything(limit: 50) {
            let mark = try #require(marks[notification.id])
            let app = try #require(apps.first { $0.topic == notification.topic })
            let place = ReportRow(
                app: app.id, topic: app.topic, day: ReportDay(now), lane: notification.lane, label: mark.label,
                counts: ReportCounts())
            expected[place, default: ReportCounts()].accept(hasAlert: mark.hasAlert)
            expected[place, default: ReportCounts()].count(
                DeliveryOutcome(acceptedAt: now, lines: notification.entries))
        }
        #expect(found.count == expected.count)
        for row in found {
            var place = row
            place.counts = ReportCounts()
            #expect(expected[place] == row.counts, "\(row)")
        }
    }

    package func `a report is chosen by app, label, lane and day`() async throws {
        let (app, other) = (try await app(), try await app("com.example.other"))
        let labelled = #"{"google.c.a.m_l":"spring"}"#
        try store.apply([
            .insertNotification(try record(1, of: app, payload: labelled)), .insertNotification(try record(2, of: app)),
            .insertNotification(try record(3, of: app, lane: .apns, payload: labelled)),
            .insertNotification(try record(4, of: other)),
        ])
        try await count()
        #expect(try await rows().map(\.counts.accepted) == [1, 1, 1, 1])
        #expect(try await rows { $0.topic = app.topic }.count == 3)
        #expect(try await rows { $0.label = "spring" }.map(\.lane) == [.apns, .fcm])
        #expect(try await rows { $0.label = "" }.count == 2)
        #expect(try await rows { $0.lane = .apns }.count == 1)
        #expect(try await rows { $0.team = TeamID(rawValue: "OTHER12345") }.isEmpty)
        let tomorrow = ReportDay(now) + 1
        #expect(try await rows { $0.days = tomorrow...tomorrow }.isEmpty)
        try await store.forgetReports(before: ReportDay(now))
        #expect(try await rows().count == 4)
        try await store.forgetReports(before: tomorrow)
        #expect(try await rows().isEmpty)
    }

    package func `labels beyond a hundred a day are counted without one`() async throws {
        let app = try await app()
        let labels = ReportChoice.labelLimit + 5
        for number in 1...Int64(labels) {
            let payload = #"{"google.c.a.m_l":"label-\#(number)"}"#
            try store.apply([.insertNotification(try record(number, of: app, payload: payload))])
        }
        try await count()
        let found = try await rows()
        #expect(found.count == ReportChoice.labelLimit + 1)
        #expect(found.first { $0.label.isEmpty }?.counts.accepted == 5)
    }

    package func `events come in the order of their notifications, slice by slice`() async throws {
        let (app, other) = (try await app(), try await app("com.example.other"))
        for number in 1...9 as ClosedRange<Int64> {
            try store.apply([
                .insertNotification(try record(number, of: number % 3 == 0 ? other : app)),
                .appendLine(line(.acked), to: id(number)),
            ])
        }
        let all = try await everything(limit: 2)
        #expect(all.map(\.id) == (1...9).map { id($0) })
        #expect(all.allSatisfy { $0.entries.map(\.state) == [.accepted, .stored, .acked] })
        let choice = EventChoice(team: team, topic: other.topic, accepted: now..<(now + .seconds(1)))
        let page = try await store.events(choice, after: id(3), limit: 100)
        #expect(page.notifications.map(\.id) == [id(6), id(9)])
        #expect(page.next == nil)
        let foreign = EventChoice(team: TeamID(rawValue: "OTHER12345"), accepted: now..<(now + .seconds(1)))
        #expect(try await store.events(foreign, after: id(0), limit: 3).notifications.isEmpty)
        #expect(try await store.events(foreign, after: id(0), limit: 3).next == id(3))
    }

    package func `events say under which label they count and to which topic they were sent`() async throws {
        let app = try await app()
        let labelled = Array(#"{"google.c.a.m_l":"spring"}"#.utf8)
        func broadcast(_ number: Int64, to target: BroadcastTarget, _ written: String) async throws {
            _ = try await store.insertBroadcast(
                BroadcastDraft(
                    id: id(number), team: team, name: written, to: target, written: written, content: .fcm(labelled),
                    acceptedAt: now, expiresAt: now + .seconds(60)))
        }
        try await broadcast(1, to: .topics(try TopicCondition(parsing: "'news' in topics")), "/topics/news")
        let list = RecipientList(number: 1, place: AppPlace(app: app.id, environment: .sandbox))
        try await broadcast(2, to: .list(list), "hub 1")
        for (number, payload) in [(11, 1), (12, 2)] as [(Int64, Int64)] {
            var copy = try record(number, of: app)
            copy.payload = .shared(PayloadID(rawValue: id(payload).rawValue))
            try store.apply([.insertNotification(copy)])
        }
        try store.apply([.insertNotification(try record(13, of: app))])
        try await count()
        let found = try await everything(limit: 2)
        #expect(found.map(\.label) == ["spring", "spring", ""])
        #expect(found.map(\.audience) == ["/topics/news", nil, nil])
    }

    package func `what is answered on one device is taken off those of its group`() async throws {
        let (app, other) = (try await app(), try await app("com.example.other"))
        let (mine, another) = (#"{"aldaba":{"sync-group":"mine"}}"#, #"{"aldaba":{"sync-group":"another"}}"#)
        try store.apply([
            .insertNotification(try record(1, of: app, device: 1, payload: mine)),
            .insertNotification(try record(2, of: app, device: 2, payload: mine)),
            .insertNotification(try record(3, of: app, device: 3, payload: another)),
            .insertNotification(try record(4, of: other, device: 2, payload: mine)),
            .insertNotification(try record(5, of: app, device: 4, payload: mine)),
            .insertNotification(try record(6, of: app, device: 4)),
        ])
        try store.apply([.appendLine(line(.presented, by: .desktop), to: id(1))])
        try await count()
        #expect(try await store.clearings(limit: 10).isEmpty)
        try store.apply([.appendLine(line(.dismissed, by: .desktop), to: id(1))])
        #expect(try await store.countChanges(limit: 100).hasClearings)
        let clearings = [
            Clearing(id: id(2), device: try #require(DeviceID(2))),
            Clearing(id: id(5), device: try #require(DeviceID(4))),
        ]
        #expect(try await store.clearings(limit: 10) == clearings)
        #expect(try await store.clearings(limit: 1) == [clearings[0]])
        try await store.forgetClearings([id(2)])
        #expect(try await store.clearings(limit: 10) == [clearings[1]])
        try await store.forgetClearings([id(5)])
        try store.apply([.insertNotification(try record(7, of: app, device: 5, payload: mine))])
        try store.apply([.appendLine(line(.opened, by: .app), to: id(2))])
        try await count()
        #expect(try await store.clearings(limit: 10).isEmpty, "a later send is another group")
    }

    /// All that a store of reports must do.
    package static var rules: [ContractRule<Self>] {
        [
            ContractRule("sums") { try await $0.`over any history the ends add up to what was accepted`() },
            ContractRule("choice") { try await $0.`a report is chosen by app, label, lane and day`() },
            ContractRule("labels") { try await $0.`labels beyond a hundred a day are counted without one`() },
            ContractRule("events") {
                try await $0.`events come in the order of their notifications, slice by slice`()
            },
            ContractRule("labels and topics of events") {
                try await $0.`events say under which label they count and to which topic they were sent`()
            },
            ContractRule("sync group") {
                try await $0.`what is answered on one device is taken off those of its group`()
            },
        ]
    }
}
