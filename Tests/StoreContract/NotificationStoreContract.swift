import AldabaTestSupport
import PushCore
import PushServer
import Testing

/// What every ``NotificationStore`` must do; a store's test suite runs each rule against a fresh store.
///
/// The register's part is needed for the app that notifications are of.
package struct NotificationStoreContract<Store: NotificationStore> {
    let store: Store
    let register: any RegisterStore
    let app: RegisteredApp
    let device: DeviceID
    /// One that is not enrolled.
    let stranger: DeviceID
    let now = Timestamp(seconds: 1_780_272_000)

    /// Prepares a fresh store with one app and one device.
    package init(_ store: Store, register: any RegisterStore) async throws {
        self.store = store
        self.register = register
        app = try await register.addApp(
            topic: Topic(rawValue: "com.example.todo"), team: TeamID(rawValue: "TEAM123456"), policy: MailboxPolicy(),
            at: Timestamp(seconds: 1_780_272_000))
        device = try #require(DeviceID(77))
        stranger = try #require(DeviceID(78))
        #expect(try await register.addDevice(device, secretHash: [1, 2, 3], at: now))
    }

    func record(
        _ id: Int64, apnsID: APNsID? = nil, collapse: String? = nil, waits: Bool = true, expiresIn: Int64 = 60_000,
        environment: PushEnvironment = .sandbox, device: DeviceID? = nil, sharing payload: PayloadID? = nil
    ) -> NotificationRecord {
        NotificationRecord(
            id: NotificationID(rawValue: id),
            subject: TokenSubject(
                cell: 0, device: device ?? self.device, app: app.id, environment: environment, generation: 0),
            apnsID: apnsID, pushType: .alert, priority: .considerate, collapseID: collapse, acceptedAt: now,
            expiresAt: waits ? now.adding(milliseconds: expiresIn) : nil, waits: waits, lane: .apns,
            payload: payload.map(NotificationPayload.shared) ?? .own(Array(#"{"n":\#(id)}"#.utf8)))
    }

    func page(
        of device: DeviceID? = nil, after: NotificationID? = nil, limit: Int = 100, at instant: Timestamp? = nil
    ) async throws -> [OutgoingNotification] {
        let when = instant ?? now
        return try await withCheckedThrowingContinuation { continuation in
            store.page(device: device ?? self.device, after: after, limit: limit, now: when) {
                continuation.resume(with: $0)
            }
        }
    }

    /// What the store holds of what the request is filled with.
    func prefetched(since: Timestamp? = nil, _ fill: (inout PrefetchRequest) -> Void) throws -> Prefetched {
        var request = PrefetchRequest(acceptedSince: since ?? now)
        fill(&request)
        return try store.prefetch(request)
    }

    package func `what was inserted is paged in order, whole`() async throws {
        try store.apply([10, 11, 12].map { .insertNotification(record($0, collapse: $0 == 11 ? "c" : nil)) })
        let all = try await page()
        #expect(all.map(\.id.rawValue) == [10, 11, 12])
        #expect(all[1].collapseID == "c")
        #expect(all[0].payload == Array(#"{"n":10}"#.utf8))
        #expect(all[0].team == app.team && all[0].topic == app.topic && all[0].priority == .considerate)
        #expect(try await page(after: NotificationID(rawValue: 10), limit: 1).map(\.id.rawValue) == [11])
        #expect(try await page(at: now.adding(milliseconds: 60_000)).isEmpty)
    }

    package func `changes of which one cannot be made leave nothing behind`() async throws {
        let id = NotificationID(rawValue: 10)
        #expect(throws: (any Error).self) {
            try store.apply([
                .insertNotification(record(10, apnsID: "A")),
                .appendLine(TimelineEntry(at: now, state: .sent, source: .server), to: id),
                .raiseHighWater(to: 500), .insertNotification(record(10)),
            ])
        }
        #expect(try await page().isEmpty)
        #expect(try await store.timelines(id: id, apnsID: "a", team: nil).isEmpty)
        #expect(try store.highWater() == 0)
    }

    package func `what was removed no longer waits and keeps its timeline`() async throws {
        let id = NotificationID(rawValue: 10)
        try store.apply([.insertNotification(record(10)), .insertNotification(record(11))])
        try store.apply([
            .removeWaiting(id, of: device),
            .appendLine(TimelineEntry(at: now, state: .acked, source: .server), to: id),
        ])
        #expect(try await page().map(\.id.rawValue) == [11])
        let timeline = try #require(try await store.timelines(id: id, apnsID: nil, team: nil).first)
        #expect(timeline.entries.map(\.state) == [.accepted, .stored, .acked])
    }

    package func `what a door said of a notification stands beside accepted`() async throws {
        var noted = record(10)
        noted.note = "there is something to say"
        try store.apply([.insertNotification(noted), .insertNotification(record(11))])
        for (id, note) in [(10 as Int64, "there is something to say" as String?), (11, nil)] {
            let timeline = try await store.timelines(id: NotificationID(rawValue: id), apnsID: nil, team: nil).first
            #expect(timeline?.entries.map(\.note) == [note, nil])
        }
    }

    package func `a mailbox is read back as it was`() throws {
        try store.apply([
            .insertNotification(record(10, collapse: "c")), .insertNotification(record(11, waits: false)),
            .insertNotification(record(12, environment: .production)),
        ])
        let found = try prefetched { $0.mailboxes = [device, stranger] }
        let entries = try #require(found.waiting[device])
        #expect(found.waiting[stranger, default: []].isEmpty)
        #expect(entries.map(\.id.rawValue) == [10, 12])
        #expect(entries.map(\.collapseID) == ["c", nil])
        #expect(entries.map(\.app) == [app.id, app.id])
        #expect(entries.map(\.environment) == [.sandbox, .production])
    }

    package func `an identity is found within its window, in any case, for its registration only`() throws {
        let subject = record(10).subject
        var other = subject
        other.environment = .production
        var renewed = subject
        renewed.generation = 1
        try store.apply([
            .insertNotification(record(10, apnsID: "ABC-def")),
            .insertNotification(record(11, apnsID: "attempt", waits: false)),
        ])
        let name = NotificationIdentity(apnsID: "abc-DEF", subject: subject)
        let wrong = [("abc-def", other), ("abc-def", renewed), ("other", subject), ("attempt", subject)]
        let names = wrong.map { NotificationIdentity(apnsID: APNsID(rawValue: $0.0), subject: $0.1) } + [name]
        #expect(
            try prefetched { $0.identities = Set(names) }.identities == [
                name: [AcceptedContent(record(10, apnsID: "ABC-def"))]
            ])
        let later = now.adding(milliseconds: 1)
        #expect(try prefetched(since: later) { $0.identities = [name] }.identities.isEmpty)
        try store.apply([.insertNotification(record(12, apnsID: "abc-def"))])
        #expect(try prefetched { $0.identities = [name] }.identities[name]?.map(\.id.rawValue) == [12, 10])
    }

    package func `one apns-id may name several notifications, refusals too`() async throws {
        try store.apply([
            .insertNotification(record(10, apnsID: "SAME")),
            .insertRefusal(
                RefusalRecord(
                    id: NotificationID(rawValue: 11), team: app.team, topic: "com.example.todo", apnsID: "Same",
                    at: now, code: "PayloadEmpty", note: "byte 3: expected ':'")),
        ])
        let found = try await store.timelines(id: nil, apnsID: "same", team: nil)
        #expect(found.map(\.id.rawValue) == [10, 11])
        #expect(found[0].apnsID == "SAME" && found[0].device == device && found[0].environment == .sandbox)
        #expect(found[1].entries.map(\.state) == [.failed("PayloadEmpty")])
        #expect(found[1].entries.first?.note == "byte 3: expected ':'")
        #expect(found[1].team == app.team)
    }

    package func `no team's refusals hide what another team, or the same, had accepted`() async throws {
        let other = TeamID(rawValue: "OTHER12345")
        let refusals = [(20_000, other), (40_000, app.team)].flatMap { offset, team in
            (0..<1100).map { number in
                RowChange.insertRefusal(
                    RefusalRecord(
                        id: NotificationID(rawValue: offset + number), team: team, topic: "com.example.other",
                        apnsID: "same", at: now, code: "BadPriority", note: nil))
            }
        }
        try store.apply([.insertNotification(record(10, apnsID: "SAME"))] + refusals)
        let own = try await store.timelines(id: nil, apnsID: "same", team: app.team)
        #expect(own.first?.id.rawValue == 10)
        #expect(own.dropFirst().map(\.id.rawValue) == Array(41_050..<41_100))
        #expect(try await store.timelines(id: nil, apnsID: "same", team: other).allSatisfy { $0.team == other })
        #expect(
            try await store.timelines(id: NotificationID(rawValue: 10), apnsID: nil, team: other).isEmpty)
        let all = try await store.timelines(id: nil, apnsID: "same", team: nil).map(\.id.rawValue)
        #expect(all == [10] + Array(21_050..<21_100) + Array(41_050..<41_100), "the newest of each team")
    }

    package func `mail of revoked devices and removed apps is found by the sweep`() async throws {
        let second = try await register.addApp(
            topic: Topic(rawValue: "com.example.second"), team: app.team, policy: MailboxPolicy(), at: now)
        var other = record(11, environment: .production)
        other.subject.app = second.id
        try store.apply([.insertNotification(record(10)), .insertNotification(other)])
        #expect(try store.expired(at: now, awaySince: Timestamp(rawValue: 0), from: nil, limit: 100).ended.isEmpty)
        #expect(try await register.removeApp(topic: second.topic, at: now) == second)
        #expect(
            try store.expired(at: now, awaySince: Timestamp(rawValue: 0), from: nil, limit: 100).ended == [
                RegistrationKey(device: device, app: second.id, environment: .production)
            ])
        #expect(try await register.revokeDevice(device, at: now))
        #expect(try store.expired(at: now, awaySince: Timestamp(rawValue: 0), from: nil, limit: 100).ended.count == 2)
    }

    package func `the notifications of a device are told from another's and from unknown ones`() async throws {
        try store.apply([.insertNotification(record(10))])
        let ids = [10, 11].map { NotificationID(rawValue: $0) }
        #expect(try await notifications(of: device, among: ids) == [ids[0]])
        #expect(try await notifications(of: stranger, among: ids).isEmpty)
    }

    private func notifications(of device: DeviceID, among ids: [NotificationID]) async throws -> Set<NotificationID> {
        try await withCheckedThrowingContinuation { continuation in
            store.notifications(of: device, among: ids) { continuation.resume(with: $0) }
        }
    }

    package func `the same line of a timeline twice is one`() async throws {
        let id = NotificationID(rawValue: 10)
        let entry = TimelineEntry(at: now, state: .handed, source: .app, note: "first")
        var again = entry
        again.note = "second"
        try store.apply([
            .insertNotification(record(10)), .appendLine(entry, to: id), .appendLine(again, to: id),
        ])
        try store.apply([.appendLine(again, to: id)])
        let refused = NotificationID(rawValue: 11)
        try store.apply([
            .insertRefusal(
                RefusalRecord(
                    id: refused, team: app.team, topic: "t", apnsID: nil, at: now, code: "BadTopic", note: nil))
        ])
        let found = try prefetched { $0.notifications = [id, refused, NotificationID(rawValue: 99)] }
        #expect(found.notifications == [id: NotificationFacts(device: device, app: app.id, lines: [entry])])
        #expect(try await store.timelines(id: id, apnsID: nil, team: nil).first?.entries.count == 3)
    }

    package func `a device's secret is known until it is revoked`() async throws {
        #expect(try prefetched { $0.secretHashes = [device, stranger] }.secretHashes == [device: [1, 2, 3]])
        #expect(try await register.revokeDevice(device, at: now))
        #expect(try prefetched { $0.secretHashes = [device] }.secretHashes.isEmpty)
    }

    package func `a sweep finds every device whose mail has expired, slice by slice`() throws {
        try store.apply((0..<25).map { .insertNotification(record(10 + $0, expiresIn: $0 % 2 == 0 ? 1000 : 60_000)) })
        var position: SweepPosition?
        var devices: Set<DeviceID> = []
        var slices = 0
        repeat {
            let slice = try store.expired(
                at: now.adding(milliseconds: 1000), awaySince: Timestamp(rawValue: 0), from: position, limit: 10)
            devices.formUnion(slice.devices)
            position = slice.next
            slices += 1
        } while position != nil
        #expect(devices == [device])
        #expect(slices == 3)
        #expect(try store.expired(at: now, awaySince: Timestamp(rawValue: 0), from: nil, limit: 100).devices.isEmpty)
    }

    package func `a sweep finds the devices that have been away and for which something waits`() throws {
        try store.apply([.insertNotification(record(10)), .insertNotification(record(11, device: stranger))])
        func away(_ since: Timestamp) throws -> Set<DeviceID> {
            try store.expired(at: now, awaySince: since, from: nil, limit: 100).away
        }
        #expect(try away(now) == [device], "it was enrolled then, and a device that never was is not away")
        #expect(try away(now.adding(milliseconds: -1)).isEmpty)
        let later = now.adding(milliseconds: 5)
        try store.apply([.noteSeen(device, at: later)])
        #expect(try prefetched { $0.secretHashes = [device, stranger] }.lastSeen == [device: later])
        #expect(try away(now).isEmpty && away(later) == [device])
        try store.apply([.removeWaiting(NotificationID(rawValue: 10), of: device)])
        #expect(try away(later).isEmpty)
    }

    package func `the ceiling of ids only rises`() throws {
        #expect(try store.highWater() == 0)
        try store.apply([.raiseHighWater(to: 500)])
        try store.apply([.raiseHighWater(to: 400)])
        try store.apply([])
        #expect(try store.highWater() == 500)
    }

    package func `what was not recorded is known as such to its team`() async throws {
        let team = app.team
        try store.apply([
            .noteUnrecorded(
                UnrecordedSpan(
                    team: team, first: NotificationID(rawValue: 50), last: NotificationID(rawValue: 60), count: 4))
        ])
        #expect(try await store.isUnrecorded(NotificationID(rawValue: 55), team: team) == team)
        #expect(try await store.isUnrecorded(NotificationID(rawValue: 55), team: nil) == team)
        #expect(try await store.isUnrecorded(NotificationID(rawValue: 61), team: team) == nil)
        #expect(try await store.isUnrecorded(NotificationID(rawValue: 55), team: TeamID(rawValue: "OTHER12345")) == nil)
    }

    package func `pruning takes what is old, never what waits`() async throws {
        let generator = NotificationIDGenerator(node: 0, highWater: 0)
        let old = generator.floor(at: now.adding(milliseconds: -1_000_000))
        let fresh = generator.floor(at: now)
        try store.apply(
            [old, old + 1, fresh].map { .insertNotification(record($0, apnsID: "ID-\($0)", waits: false)) }
                + [.insertNotification(record(fresh + 1))])
        while try store.prune(
            timelinesBefore: now.adding(milliseconds: -500_000), payloadsBefore: now.adding(milliseconds: 1000),
            now: now.adding(milliseconds: 2000), limit: 1)
        {}
        #expect(try await store.timelines(id: NotificationID(rawValue: old), apnsID: nil, team: nil).isEmpty)
        #expect(try await store.timelines(id: nil, apnsID: "id-\(old)", team: nil).isEmpty)
        #expect(try await store.timelines(id: NotificationID(rawValue: fresh), apnsID: nil, team: nil).count == 1)
        #expect(try await page().map(\.payload) == [Array(#"{"n":\#(fresh + 1)}"#.utf8)])
    }

    private func payload(_ id: PayloadID) -> RowChange {
        .insertPayload(PayloadRecord(id: id, lane: .apns, content: Array(#"{"all":1}"#.utf8), acceptedAt: now))
    }

    package func `a payload is there for everyone who points to it`() async throws {
        let shared = PayloadID(rawValue: 9)
        try store.apply([
            payload(shared), .insertNotification(record(10, sharing: shared)), .insertNotification(record(11)),
        ])
        try store.apply([.insertNotification(record(12, device: stranger, sharing: shared))])
        #expect(try await page().map(\.payload) == [#"{"all":1}"#, #"{"n":11}"#].map { Array($0.utf8) })
        #expect(try await page(of: stranger).map(\.payload) == [Array(#"{"all":1}"#.utf8)])
        #expect(throws: (any Error).self) {
            try store.apply([.insertNotification(record(13, sharing: PayloadID(rawValue: 99)))])
        }
    }

    package func `a shared payload leaves when nobody points to it any more`() async throws {
        let day: Int64 = 24 * 3_600_000
        let shared = PayloadID(rawValue: 9)
        let id = NotificationID(rawValue: NotificationIDGenerator(node: 0, highWater: 0).floor(at: now))
        try store.apply([
            payload(shared), .insertNotification(record(id.rawValue, expiresIn: 100 * day, sharing: shared)),
        ])
        /// Looks at everything, some days after the acceptance.
        func prune(after days: Int64) throws {
            let later = now.adding(milliseconds: days * day + 1)
            while try store.prune(
                timelinesBefore: now.adding(milliseconds: -day), payloadsBefore: later.adding(milliseconds: -day),
                now: later, limit: 10)
            {}
        }
        try prune(after: 1)
        #expect(try await page().map(\.payload) == [Array(#"{"all":1}"#.utf8)])
        try store.apply([
            .appendLine(
                TimelineEntry(at: now.adding(milliseconds: day + 5), state: .acked, source: .server), to: id),
            .removeWaiting(id, of: device),
        ])
        try prune(after: 2)
        // As long as it is there, its id is taken.
        #expect(throws: (any Error).self) { try store.apply([payload(shared)]) }
        try prune(after: 3)
        try store.apply([payload(shared)])
        #expect(try await store.timelines(id: id, apnsID: nil, team: nil).count == 1)
    }
}
