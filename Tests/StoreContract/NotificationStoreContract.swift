import Mailbox
import PushModel
import ServerCore
import Testing

/// What every ``NotificationStore`` must do; a store's test suite runs each rule against a fresh store.
///
/// The register's part is needed for the app that notifications are of.
public struct NotificationStoreContract<Store: NotificationStore & RegisterStore> {
    let store: Store
    let app: RegisteredApp
    let device: DeviceID
    let now = Timestamp(seconds: 1_780_272_000)

    /// Prepares a fresh store with one app and one device.
    public init(_ store: Store) async throws {
        self.store = store
        app = try await store.addApp(
            topic: Topic(rawValue: "com.example.todo"), team: TeamID(rawValue: "TEAM123456"), policy: MailboxPolicy(),
            at: Timestamp(seconds: 1_780_272_000))
        device = try #require(DeviceID(77))
        #expect(try await store.addDevice(device, secretHash: [1, 2, 3], at: now))
    }

    private func record(
        _ id: Int64, apnsID: String? = nil, collapse: String? = nil, waits: Bool = true, expiresIn: Int64 = 60_000,
        environment: PushEnvironment = .sandbox
    ) -> NotificationRecord {
        NotificationRecord(
            id: NotificationID(rawValue: id),
            subject: TokenSubject(cell: 0, device: device, app: app.id, environment: environment, generation: 0),
            apnsID: apnsID, pushType: .alert, priority: .considerate, collapseID: collapse, acceptedAt: now,
            expiresAt: waits ? now.adding(milliseconds: expiresIn) : nil, waits: waits, lane: .apns,
            payload: Array(#"{"n":\#(id)}"#.utf8))
    }

    private func page(
        after: NotificationID? = nil, limit: Int = 100, at instant: Timestamp? = nil
    ) async throws -> [OutgoingNotification] {
        let when = instant ?? now
        return try await withCheckedThrowingContinuation { continuation in
            store.page(device: device, after: after, limit: limit, now: when) { continuation.resume(with: $0) }
        }
    }

    public func `what was inserted is paged in order, whole`() async throws {
        try store.write { transaction in
            for id in [10, 11, 12] as [Int64] { try transaction.insert(record(id, collapse: id == 11 ? "c" : nil)) }
        }
        let all = try await page()
        #expect(all.map(\.id.rawValue) == [10, 11, 12])
        #expect(all[1].collapseID == "c")
        #expect(all[0].payload == Array(#"{"n":10}"#.utf8))
        #expect(all[0].team == app.team && all[0].topic == app.topic && all[0].priority == .considerate)
        #expect(try await page(after: NotificationID(rawValue: 10), limit: 1).map(\.id.rawValue) == [11])
        #expect(try await page(at: now.adding(milliseconds: 60_000)).isEmpty)
    }

    public func `a transaction that throws leaves nothing behind`() async throws {
        #expect(throws: DeliberateFailure.self) {
            try store.write { transaction in
                try transaction.insert(record(10, apnsID: "A"))
                try transaction.append(
                    TimelineEntry(at: now, state: .sent, source: .server), to: NotificationID(rawValue: 10))
                throw DeliberateFailure()
            }
        }
        #expect(try await page().isEmpty)
        #expect(try await store.timelines(id: NotificationID(rawValue: 10), apnsID: "a", team: nil).isEmpty)
    }

    public func `what was removed no longer waits and keeps its timeline`() async throws {
        let id = NotificationID(rawValue: 10)
        try store.write { transaction in
            try transaction.insert(record(10))
            try transaction.insert(record(11))
        }
        try store.write { transaction in
            try transaction.removeWaiting(id, of: device)
            try transaction.append(TimelineEntry(at: now, state: .acked, source: .server), to: id)
        }
        #expect(try await page().map(\.id.rawValue) == [11])
        let timeline = try #require(try await store.timelines(id: id, apnsID: nil, team: nil).first)
        #expect(timeline.entries.map(\.state) == [.accepted, .stored, .acked])
    }

    public func `a mailbox is read back as it was`() throws {
        try store.write { transaction in
            try transaction.insert(record(10, collapse: "c"))
            try transaction.insert(record(11, waits: false))
            try transaction.insert(record(12, environment: .production))
        }
        let entries = try store.write { try $0.waiting(for: device) }
        #expect(entries.map(\.id.rawValue) == [10, 12])
        #expect(entries.map(\.collapseID) == ["c", nil])
        #expect(entries.map(\.app) == [app.id, app.id])
        #expect(entries.map(\.environment) == [.sandbox, .production])
    }

    public func `an identity is found within its window, in any case, for its registration only`() throws {
        let subject = record(10).subject
        var other = subject
        other.environment = .production
        try store.write { transaction in
            try transaction.insert(record(10, apnsID: "ABC-def"))
            #expect(try transaction.identity(apnsID: "abc-DEF", subject: subject, since: now)?.rawValue == 10)
        }
        let later = now.adding(milliseconds: 1)
        let found = try store.write { transaction in
            [
                try transaction.identity(apnsID: "abc-def", subject: subject, since: now)?.rawValue,
                try transaction.identity(apnsID: "abc-def", subject: other, since: now)?.rawValue,
                try transaction.identity(apnsID: "abc-def", subject: subject, since: later)?.rawValue,
                try transaction.identity(apnsID: "other", subject: subject, since: now)?.rawValue,
            ]
        }
        #expect(found == [10, nil, nil, nil])
    }

    public func `one apns-id may name several notifications, refusals too`() async throws {
        try store.write { transaction in
            try transaction.insert(record(10, apnsID: "SAME"))
            try transaction.insert(
                RefusalRecord(
                    id: NotificationID(rawValue: 11), team: app.team, topic: "com.example.todo", apnsID: "Same",
                    at: now,
                    code: "PayloadEmpty", note: "byte 3: expected ':'"))
        }
        let found = try await store.timelines(id: nil, apnsID: "same", team: nil)
        #expect(found.map(\.id.rawValue) == [10, 11])
        #expect(found[0].apnsID == "SAME" && found[0].device == device && found[0].environment == .sandbox)
        #expect(found[1].entries.map(\.state) == [.failed("PayloadEmpty")])
        #expect(found[1].entries.first?.note == "byte 3: expected ':'")
        #expect(found[1].team == app.team)
    }

    public func `no team's refusals hide what another team, or the same, had accepted`() async throws {
        let other = TeamID(rawValue: "OTHER12345")
        try store.write { transaction in
            try transaction.insert(record(10, apnsID: "SAME"))
            for number in 0..<1100 as Range<Int64> {
                for (offset, team) in [(20_000, other), (40_000, app.team)] as [(Int64, TeamID)] {
                    try transaction.insert(
                        RefusalRecord(
                            id: NotificationID(rawValue: offset + number), team: team, topic: "com.example.other",
                            apnsID: "same", at: now, code: "BadPriority", note: nil))
                }
            }
        }
        let own = try await store.timelines(id: nil, apnsID: "same", team: app.team)
        #expect(own.first?.id.rawValue == 10)
        #expect(own.dropFirst().map(\.id.rawValue) == Array(41_050..<41_100))
        #expect(try await store.timelines(id: nil, apnsID: "same", team: other).allSatisfy { $0.team == other })
        #expect(
            try await store.timelines(id: NotificationID(rawValue: 10), apnsID: nil, team: other).isEmpty)
    }

    public func `mail of revoked devices and removed apps is found by the sweep`() async throws {
        let second = try await store.addApp(
            topic: Topic(rawValue: "com.example.second"), team: app.team, policy: MailboxPolicy(), at: now)
        var other = record(11, environment: .production)
        other.subject.app = second.id
        try store.write { transaction in
            try transaction.insert(record(10))
            try transaction.insert(other)
        }
        #expect(try store.expired(at: now, from: nil, limit: 100).ended.isEmpty)
        #expect(try await store.removeApp(topic: second.topic, at: now) == second)
        #expect(
            try store.expired(at: now, from: nil, limit: 100).ended == [
                RegistrationPlace(device: device, app: second.id, environment: .production)
            ])
        #expect(try await store.revokeDevice(device, at: now))
        #expect(try store.expired(at: now, from: nil, limit: 100).ended.count == 2)
    }

    public func `the notifications of a device are told from another's and from unknown ones`() async throws {
        try store.write { try $0.insert(record(10)) }
        let ids = [10, 11].map { NotificationID(rawValue: $0) }
        let stranger = try #require(DeviceID(78))
        #expect(try await notifications(of: device, among: ids) == [ids[0]])
        #expect(try await notifications(of: stranger, among: ids).isEmpty)
    }

    private func notifications(of device: DeviceID, among ids: [NotificationID]) async throws -> Set<NotificationID> {
        try await withCheckedThrowingContinuation { continuation in
            store.notifications(of: device, among: ids) { continuation.resume(with: $0) }
        }
    }

    public func `the same line of a timeline twice is one`() async throws {
        let id = NotificationID(rawValue: 10)
        let entry = TimelineEntry(at: now, state: .handed, source: .app)
        try store.write { transaction in
            try transaction.insert(record(10))
            try transaction.append(entry, to: id)
            try transaction.append(entry, to: id)
            #expect(try transaction.has(.handed, in: id))
            #expect(try !transaction.has(.presented, in: id))
            #expect(try transaction.lineCount(of: id) == 1)
            #expect(try transaction.device(of: id) == device)
            #expect(try transaction.device(of: NotificationID(rawValue: 99)) == nil)
        }
        #expect(try await store.timelines(id: id, apnsID: nil, team: nil).first?.entries.count == 3)
    }

    public func `a sweep finds every device whose mail has expired, slice by slice`() throws {
        try store.write { transaction in
            for id in 0..<25 as Range<Int64> {
                try transaction.insert(record(10 + id, expiresIn: id % 2 == 0 ? 1000 : 60_000))
            }
        }
        var position: SweepPosition?
        var devices: Set<DeviceID> = []
        var slices = 0
        repeat {
            let slice = try store.expired(at: now.adding(milliseconds: 1000), from: position, limit: 10)
            devices.formUnion(slice.devices)
            position = slice.next
            slices += 1
        } while position != nil
        #expect(devices == [device])
        #expect(slices == 3)
        #expect(try store.expired(at: now, from: nil, limit: 100).devices.isEmpty)
    }

    public func `the ceiling of ids only rises`() throws {
        #expect(try store.highWater() == 0)
        try store.write { try $0.raiseHighWater(to: 500) }
        try store.write { try $0.raiseHighWater(to: 400) }
        #expect(try store.highWater() == 500)
    }

    public func `what was not recorded is known as such to its team`() async throws {
        let team = app.team
        try store.write { transaction in
            try transaction.noteUnrecorded(
                team: team, from: NotificationID(rawValue: 50), to: NotificationID(rawValue: 60), count: 4)
        }
        #expect(try await store.isUnrecorded(NotificationID(rawValue: 55), team: team) == team)
        #expect(try await store.isUnrecorded(NotificationID(rawValue: 55), team: nil) == team)
        #expect(try await store.isUnrecorded(NotificationID(rawValue: 61), team: team) == nil)
        #expect(try await store.isUnrecorded(NotificationID(rawValue: 55), team: TeamID(rawValue: "OTHER12345")) == nil)
    }

    public func `pruning takes what is old, never what waits`() async throws {
        let generator = NotificationIDGenerator(node: 0, highWater: 0)
        let old = generator.floor(at: now.adding(milliseconds: -1_000_000))
        let fresh = generator.floor(at: now)
        try store.write { transaction in
            for id in [old, old + 1, fresh] { try transaction.insert(record(id, apnsID: "ID-\(id)", waits: false)) }
            try transaction.insert(record(fresh + 1))
        }
        var isMore = true
        while isMore {
            isMore = try store.write { transaction in
                try transaction.prune(
                    timelinesBefore: now.adding(milliseconds: -500_000), payloadsBefore: now.adding(milliseconds: 1000),
                    now: now.adding(milliseconds: 2000), limit: 1)
            }
        }
        #expect(try await store.timelines(id: NotificationID(rawValue: old), apnsID: nil, team: nil).isEmpty)
        #expect(try await store.timelines(id: nil, apnsID: "id-\(old)", team: nil).isEmpty)
        #expect(try await store.timelines(id: NotificationID(rawValue: fresh), apnsID: nil, team: nil).count == 1)
        #expect(try await page().map(\.payload) == [Array(#"{"n":\#(fresh + 1)}"#.utf8)])
    }
}

/// What a transaction throws to be rolled back.
private struct DeliberateFailure: Error {}
