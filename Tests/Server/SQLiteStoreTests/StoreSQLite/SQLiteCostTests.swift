import AldabaTestSupport
import Dispatch
import Foundation
import GRDB
import PushCore
import PushServer
import StatementLog
import Testing

@testable import SQLiteStore

/// What a notification costs the server's store does not depend on what is stored already.
@Suite struct SQLiteCostTests {
    private static let many = 5_000
    private static let now = Timestamp(seconds: 1_780_272_000)
    private static let team = TeamID(rawValue: "TEAM123456")
    /// The one that things happen to, and the one for which much waits.
    private static let (device, other) = (DeviceID(77)!, DeviceID(78)!)  // Neither 0 nor beyond Int64.max.

    private static func record(
        _ id: Int64, device: DeviceID = device, apnsID: APNsID, waits: Bool = true,
        payload: NotificationPayload = .own([0x7B, 0x7D])
    ) -> NotificationRecord {
        NotificationRecord(
            id: NotificationID(rawValue: id),
            subject: TokenSubject(
                cell: 0, device: device, app: AppID(rawValue: 1), environment: .sandbox, generation: 0),
            apnsID: apnsID, pushType: .alert, priority: .immediate, collapseID: nil, acceptedAt: now,
            expiresAt: waits ? now.adding(milliseconds: 3_600_000) : nil, waits: waits, lane: .apns,
            payload: payload)
    }

    private static func refusal(_ id: Int64) -> RefusalRecord {
        RefusalRecord(
            id: NotificationID(rawValue: id), team: team, topic: "com.example.todo", apnsID: "refused", at: now,
            code: "BadTopic", note: nil)
    }

    private static func line(_ state: NotificationState) -> TimelineEntry {
        TimelineEntry(at: now, state: state, source: .server)
    }

    /// The ids of what is stored already begin here; those of what happens lie between them and those of long ago.
    private static let first: Int64 = NotificationIDGenerator(node: 0, highWater: 0).floor(at: now)
    private static let longAgo = now.adding(milliseconds: -86_400_000)

    /// So many of each: what waits for another device, what the device has had, attempts of one name, refusals, gaps.
    private func fill(_ store: SQLiteStore, count: Int) throws {
        let changes: [RowChange] = (0..<Int64(count)).flatMap { number -> [RowChange] in
            let id = Self.first + 10_000 + number * 10
            return [
                .insertNotification(Self.record(id, device: Self.other, apnsID: "waiting-\(number)")),
                .insertNotification(Self.record(id + 1, apnsID: "had-\(number)")),
                .appendLine(Self.line(.acked), to: NotificationID(rawValue: id + 1)),
                .removeWaiting(NotificationID(rawValue: id + 1), of: Self.device),
                .insertNotification(Self.record(id + 2, apnsID: "same", waits: false)),
                .insertRefusal(Self.refusal(id + 3)), .noteUnrecorded(Self.gap(id + 4, id + 5)),
                .insertPayload(Self.payload(id)),
                .insertNotification(
                    Self.record(
                        id + 6, device: Self.other, apnsID: "shares-\(number)",
                        payload: .shared(PayloadID(rawValue: number % 2 == 0 ? id : Self.first + 10_000)))),
            ]
        }
        try store.apply(changes)
    }

    private static func payload(_ id: Int64) -> PayloadRecord {
        PayloadRecord(id: PayloadID(rawValue: id), lane: .apns, content: [0x7B, 0x7D], acceptedAt: now)
    }

    private static func gap(_ first: Int64, _ last: Int64) -> UnrecordedSpan {
        UnrecordedSpan(
            team: team, first: NotificationID(rawValue: first), last: NotificationID(rawValue: last), count: 2)
    }

    /// All that is done for notifications, one thing after the other.
    private func pass(_ store: SQLiteStore) async throws {
        let id = NotificationID(rawValue: Self.first + 1)
        var request = PrefetchRequest(acceptedSince: Self.longAgo)
        request.secretHashes = [Self.device]
        request.mailboxes = [Self.device]
        for name in ["new", "same"] as [APNsID] {
            let subject = Self.record(0, apnsID: name).subject
            request.identities.insert(NotificationIdentity(apnsID: name, subject: subject))
        }
        #expect(try store.prefetch(request).identities.isEmpty)
        try store.apply([
            .insertNotification(Self.record(id.rawValue, apnsID: "new")),
            .insertNotification(Self.record(id.rawValue + 1, apnsID: "same", waits: false)),
            .insertPayload(Self.payload(id.rawValue)),
            .insertNotification(
                Self.record(
                    id.rawValue + 3, apnsID: "shares", payload: .shared(PayloadID(rawValue: id.rawValue)))),
            .insertRefusal(Self.refusal(id.rawValue + 2)), .appendLine(Self.line(.sent), to: id),
            .raiseHighWater(to: Self.first + 1_000), .noteUnrecorded(Self.gap(id.rawValue, id.rawValue)),
        ])
        for device in [Self.device, Self.other] {
            _ = try await withCheckedThrowingContinuation { continuation in
                store.page(device: device, after: nil, limit: 5, now: Self.now) { continuation.resume(with: $0) }
            }
        }
        _ = try await withCheckedThrowingContinuation { continuation in
            store.notifications(of: Self.device, among: [id]) { continuation.resume(with: $0) }
        }
        _ = try store.expired(at: Self.now, awaySince: Timestamp(rawValue: 0), from: nil, limit: 5)
        var facts = PrefetchRequest(acceptedSince: Self.longAgo)
        facts.notifications = [id]
        #expect(
            try store.prefetch(facts).notifications
                == [
                    id: NotificationFacts(
                        device: Self.device, app: AppID(rawValue: 1), lines: [Self.line(.sent)])
                ])
        try store.apply([.appendLine(Self.line(.acked), to: id), .removeWaiting(id, of: Self.device)])
        let tombstone = Mailbox.Tombstone(
            id: id, app: AppID(rawValue: 1), environment: .sandbox, lane: .fcm, count: 100, since: Self.now)
        try store.apply([.keepTombstone(tombstone, of: Self.device), .removeTombstone(id, of: Self.device)])
        let missed = MissedNotifications(
            app: AppID(rawValue: 1), environment: .sandbox, lane: .fcm, count: 1, since: Self.now)
        let place = RegistrationKey(device: Self.device, app: missed.app, environment: missed.environment)
        try store.apply([
            .addMissed(missed, of: Self.device), .forgetMissed(of: Self.device, only: place),
            .forgetMissed(of: Self.device, only: nil),
        ])
        try store.apply([.noteSeen(Self.device, at: Self.now)])
        let recall = Mailbox.Recall(id: id, notification: id, at: Self.now)
        try store.apply([.insertRecall(recall, of: Self.device), .removeRecall(id, of: Self.device)])
        // Nothing is old enough to go; some payloads are.
        for _ in 1...2 {
            _ = try store.prune(
                timelinesBefore: Self.longAgo, payloadsBefore: Self.now.adding(milliseconds: 1), now: Self.now,
                limit: 5)
        }
    }

    // MARK: Messages from apps, and reports

    private static func message(_ name: String, device: DeviceID = device, seconds: Int64 = 60) -> AppMessage {
        AppMessage(
            device: device, app: AppID(rawValue: 1), team: team, messageID: name, data: [:],
            expiresAt: now + .seconds(seconds))
    }

    private static var unlimited: MessageLimits {
        var limits = MessageLimits()
        (limits.app, limits.device) = (.max, .max)
        return limits
    }

    /// So many messages that wait, and so many that were taken.
    private func fillMessages(_ store: SQLiteStore, count: Int) async throws {
        for device in [Self.device, Self.other] {
            _ = try await store.register.register(
                device: device, app: AppID(rawValue: 1), environment: .sandbox, at: Self.now)
        }
        _ = try await store.save(
            (0..<count).map { Self.message("taken-\($0)", device: Self.other) }, limits: Self.unlimited, at: Self.now)
        _ = try await store.takeMessages(MessageScope(), through: .max, limit: count, at: Self.now)
        _ = try await store.save(
            (0..<count).map { Self.message("waits-\($0)", device: Self.other) }, limits: Self.unlimited, at: Self.now)
    }

    private func passMessages(_ store: SQLiteStore) async throws {
        let brief = Self.message("brief", seconds: 1)
        #expect(try await store.save([brief, brief], limits: Self.unlimited, at: Self.now) == [.kept, .known])
        for scope in [MessageScope(), MessageScope(team: Self.team), MessageScope(app: AppID(rawValue: 1))] {
            _ = try await store.waitingMessages(scope, after: 0, limit: 2, at: Self.now)
            #expect(try await store.takeMessages(scope, through: .max, limit: 2, at: Self.now) == 2)
        }
        _ = try await store.expireMessages(at: Self.now + .seconds(1), limit: 5)
        _ = try await store.forgetMessages(endedBefore: Self.now + .seconds(5), limit: 2)
        _ = try await store.messageEnds(app: AppID(rawValue: 1), messageID: "brief")
        let choice = EventChoice(accepted: Self.longAgo..<(Self.now + .seconds(60)))
        _ = try await store.events(choice, after: NotificationID(rawValue: 0), limit: 2)
        #expect(try await store.countChanges(limit: 100).added.accepted == 3)
    }

    /// Has every reader read at once, so that each is there to be listened to.
    private func followReaders(of store: SQLiteStore, _ log: StatementLog) throws {
        let all = DispatchGroup()
        let pool = try store.pool.sound()
        let readers = pool.configuration.maximumReaderCount
        for _ in 0..<readers { all.enter() }
        for _ in 0..<readers {
            pool.asyncRead { access in
                if let database = try? access.get() { log.follow(database) }
                all.leave()
                all.wait()
            }
        }
        all.wait()
    }

    private func costs(stored: Int) async throws -> [String: (steps: Int, plan: [String])] {
        let folder = try TemporaryFolder()
        let store = try SQLiteStore(path: folder.path("server.sqlite"))
        _ = try await store.register.addApp(
            topic: Topic(rawValue: "com.example.todo"), team: Self.team, policy: .init(), at: Self.now)
        #expect(try await store.register.addDevice(Self.device, secretHash: [1], at: Self.now))
        try fill(store, count: stored)
        while try await store.countChanges(limit: 10_000).isMore {}
        try await fillMessages(store, count: stored)
        let log = StatementLog()
        try await store.pool.writeWithoutTransaction { log.follow($0) }
        try followReaders(of: store, log)
        try await pass(store)
        try await passMessages(store)
        let found = try log.costs.reduce(into: [String: (steps: Int, plan: [String])]()) { found, cost in
            found[cost.key] = (
                cost.value, try store.pool.read { try StatementLog.plan(of: cost.key, in: $0) }
            )
        }
        try store.close()
        return found
    }

    @Test func `no statement that runs for a notification takes longer because more are stored`() async throws {
        let few = try await costs(stored: 10)
        let many = try await costs(stored: Self.many)
        #expect(Set(few.keys) == Set(many.keys))
        for part in Self.expected { #expect(many.keys.contains { $0.contains(part) }, "\(part) did not run") }
        for (statement, cost) in many {
            #expect(cost.steps <= (few[statement]?.steps ?? 0) + 20, "\(statement)")
            for line in cost.plan {
                #expect(Self.bounded.contains { line.hasSuffix($0) }, "\(line) of \(statement)")
            }
        }
    }

    /// Of each statement some words, so that none goes unseen, on the writer's connection or a reader's.
    private static let expected = [
        "INTO message(id, app", "INTO message(id, lane", "INTO pending", "INTO identity", "INTO refusal",
        "INTO timeline", "DELETE FROM pending WHERE device", "FROM identity JOIN", "SELECT device, app FROM message",
        "note FROM timeline", "SELECT secret_hash, coalesce", "FROM pending WHERE device",
        "FROM pending JOIN message", "SELECT 1 FROM message", "FROM pending LEFT JOIN", "'high_water'",
        "INTO unrecorded", "DELETE FROM unrecorded", "INTO lingering", "UPDATE message SET payload",
        "INTO payload", "INTO payload_use", "FROM payload_use WHERE payload", "DELETE FROM payload_use",
        "UPDATE payload", "DELETE FROM payload", "INTO missed", "DELETE FROM missed",
        "FROM missed WHERE device", "INTO tombstone", "DELETE FROM tombstone", "FROM tombstone JOIN",
        "UPDATE device SET seen_at", "INTO recall", "DELETE FROM recall WHERE device", "FROM recall JOIN",
        "INTO report_change", "FROM report_change ORDER", "INTO report_counted", "UPDATE report SET",
        "INTO app_message(",
        "FROM app_message JOIN", "UPDATE app_message", "DELETE FROM app_message",
        "FROM app_message WHERE ended_at IS NULL",
    ]

    /// How rows may be found: by a whole key, or in a range that something bounds.
    private static let bounded = [
        "INTEGER PRIMARY KEY (rowid=?)", "INTEGER PRIMARY KEY (rowid=?) LEFT-JOIN", "PRIMARY KEY (device=? AND id=?)",
        "meta USING PRIMARY KEY (key=?)", "refusal USING PRIMARY KEY (apns_id=? AND team=? AND id=?)",
        "identity USING PRIMARY KEY (apns_id=? AND device=? AND app=? AND environment=? AND id=?)",
        // Acceptances of one name in a month, of which a day has one; the lines of one notification, at most 128.
        "identity USING PRIMARY KEY (apns_id=? AND device=? AND app=? AND environment=?)",
        "timeline USING PRIMARY KEY (id=?)", "timeline USING PRIMARY KEY (id=? AND at>?)",
        // What waits for one device: all that is returned.
        "SEARCH pending USING PRIMARY KEY (device=?)", "SEARCH tombstone USING PRIMARY KEY (device=?)",
        "SEARCH recall USING PRIMARY KEY (device=?)", "missed USING PRIMARY KEY (device=?)",
        "missed USING PRIMARY KEY (device=? AND app=? AND environment=?)",
        // A page, or a slice, from where the last one ended.
        "pending USING PRIMARY KEY (device=? AND id>?)", "tombstone USING PRIMARY KEY (device=? AND id>?)",
        "recall USING PRIMARY KEY (device=? AND id>?)", "recall USING COVERING INDEX recall_message (message<?)",
        "pending USING PRIMARY KEY ((device,id)>(?,?))",
        "message USING INTEGER PRIMARY KEY (rowid>? AND rowid<?)",
        "lingering USING COVERING INDEX lingering_checked_at (checked_at<?)",
        "payload USING COVERING INDEX payload_checked_at (checked_at<?)",
        // Whether there is one.
        "payload_use USING COVERING INDEX payload_use_payload (payload=?)",
        // What is deleted.
        "message USING INTEGER PRIMARY KEY (rowid<?)", "lingering USING INTEGER PRIMARY KEY (rowid<?)",
        "payload_use USING INTEGER PRIMARY KEY (rowid<?)",
        "timeline USING PRIMARY KEY (id<?)", "unrecorded USING INDEX unrecorded_last (last<?)",
        "unrecorded USING COVERING INDEX unrecorded_last (last<?)",
        "report_counted USING INTEGER PRIMARY KEY (rowid<?)", "sync_member USING INTEGER PRIMARY KEY (rowid<?)",
        "sync_clearing USING INTEGER PRIMARY KEY (rowid<?)", "report_change USING INTEGER PRIMARY KEY (rowid<?)",
        // A slice of what changed; the hundred labels of an app's day.
        "SCAN report_change", "report USING COVERING INDEX report_place (app=? AND day=? AND lane=?)",
        // A page, or a slice, of what waits for one reader, and of what is due; what one name or one app's device has.
        "app_message USING INDEX app_message_waiting (number>?)",
        "app_message USING INDEX app_message_waiting (number<?)",
        "app_message USING INDEX app_message_team (team=? AND number>?)",
        "app_message USING INDEX app_message_team (team=? AND number<?)",
        "app_message USING INDEX app_message_app (app=? AND number>?)",
        "app_message USING INDEX app_message_app (app=? AND number<?)",
        "app_message USING INDEX app_message_due (expires_at<?)",
        "app_message USING COVERING INDEX app_message_ended (ended_at>? AND ended_at<?)",
        "app_message USING COVERING INDEX app_message_name (app=? AND message_id=? AND device=?)",
        "app_message USING INDEX app_message_name (app=? AND message_id=?)",
        "app_message_count USING PRIMARY KEY (app=? AND device=?)", "webhook FOR IN-OPERATOR",
        "registration USING PRIMARY KEY (device=? AND app=?)", "USE TEMP B-TREE FOR ORDER BY",
        // Of the rows that the lines beside it find.
        "SCAN CONSTANT ROW", "SCALAR SUBQUERY 1", "SCALAR SUBQUERY 2", "LIST SUBQUERY 1",
    ]
}
