import AgentProtocol
import AldabaTestSupport
import DeviceTestSupport
import Foundation
import GRDB
import PushCore
import StatementLog
import Testing

@testable import AgentEngine
@testable import AgentRuntime

/// What a notification costs the agent's store does not depend on what is stored already.
@Suite(.timeLimit(.minutes(5))) struct StoreCostTests {

    private static let many: Int64 = 3_000

    /// A store of so many listed notifications of the app, with as many answers, and of as many that wait for another app.
    private func fill(_ path: String, count: Int64) throws {
        let store = try AgentStore.open(path: path, now: noon).store
        for first in stride(from: 1, through: count, by: 100) {
            _ = try store.commit((first..<min(first + 100, count + 1)).flatMap(Self.stored))
        }
        let answers = try store.read { try $0.waitingResponses(app: todoManifest.id, after: 0, limit: .max) }
        _ = try store.commit(answers.map { .responseHandled($0.sequence, app: todoManifest.id, at: noon) })
    }

    private static func stored(_ number: Int64) -> [StoreChange] {
        let first = number * 10 + 1_000_000
        let (listed, missed, answered, waiting) = (first, first + 1, first + 2, first + 3)
        let id = NotificationID.init(rawValue:)
        return [
            arrival(listed, .isShown(.list)),
            arrival(missed, .isShown([.screen, .list])),
            .presented(id(missed), .failed(reason: "no server"), again: false, at: noon),
            arrival(answered, .isShown([.screen, .list])),
            .presented(id(answered), .presented(handle: "shown", note: nil), again: false, at: noon),
            .tapped(id(answered), action: "open", text: nil, activationToken: nil, at: noon),
            .arrived(
                Arrival(
                    notification: outgoing(waiting, topic: NotificationDay.other.rawValue), session: 1,
                    receivedAt: noon,
                    kind: .foreground, disposition: .waits)),
        ]
    }

    /// Nothing happens by itself, however long the machine takes: what would come of waiting is no notification's cost.
    private static var timing: AgentTiming {
        var timing = AgentTiming()
        timing.limits = AgentLimits(kept: .max, waiting: .max)
        timing.returnLimit = .zero
        let never = Duration.seconds(86_400)
        (timing.removalTimeout, timing.answerTimeout, timing.launchLimit) = (never, never, never)
        return timing
    }

    /// All that may happen to notifications while so many are stored.
    ///
    /// - Returns: The statements that ran, with the most steps that one run of each took, and how each finds its rows.
    private func happenings(stored: Int64) async throws -> [String: (steps: Int, plan: [String])] {
        let harness = try AgentHarness {
            $0.lifecycle = .declared
            $0.backgroundModes = ["remote-notification"]
        }
        var second = todoManifest
        (second.id, second.executable, second.lifecycle) = (NotificationDay.other, "/opt/other", .declared)
        second.backgroundModes = ["remote-notification"]
        try AppFolder(path: harness.configuration.appsFolder).install(second)
        try fill(harness.configuration.databasePath, count: stored)
        try await harness.start(timing: Self.timing)
        let log = StatementLog()
        // The store tells it of statements until the end.
        defer { withExtendedLifetime(log) {} }
        let store = try #require(await harness.agent.withLock { $0 }?.store)
        let day = try await NotificationDay(harness)
        // What is done once at the start ranges over what is stored.
        await harness.keeperRests.wait()
        try store.write { log.follow($0) }
        try await day.pass()
        let costs = log.costs
        try await harness.stop()
        return try costs.reduce(into: [:]) { found, cost in
            found[cost.key] = (cost.value, try store.read { try StatementLog.plan(of: cost.key, in: $0.database) })
        }
    }

    @Test func `what a store of before holds is told apart by whether an app is woken for it`() throws {
        let database = try DatabaseQueue()
        try AgentSchema.migrator.migrate(database, upTo: "5")
        let payloads = [
            #"{"aps":{"alert":"Milk"}}"#, #"{"aps":{"content-available":1}}"#,
            #"{"aps":{"alert":"Milk","content-available":1}}"#, #"{"aps":{"badge":0}}"#, "{}", "none",
        ]
        try database.write { database in
            for (number, payload) in payloads.enumerated() {
                try database.execute(
                    sql: """
                        INSERT INTO notification (
                            id, app, apns_id, identifier, environment, priority, payload, accepted_at, received_at,
                            presentation)
                        VALUES (?, 'app', '', '', '', 10, ?, 0, 0, 0)
                        """, arguments: [number, Data(payload.utf8)])
            }
        }
        try AgentSchema.migrator.migrate(database)
        let waking = try database.read {
            try Int.fetchAll($0, sql: "SELECT id FROM notification WHERE deferred_at IS NULL ORDER BY id")
        }
        #expect(waking == [1, 2, 4, 5])
    }

    @Test func `no statement that runs for a notification takes longer because more are stored`() async throws {
        let few = try await happenings(stored: 10)
        let many = try await happenings(stored: Self.many)
        #expect(many.count > 30)
        for (statement, cost) in many {
            #expect(cost.steps - (few[statement]?.steps ?? 0) < Int(Self.many), "\(statement)")
            for line in cost.plan {
                #expect(Self.bounded.contains { line.hasSuffix($0) }, "\(line) of \(statement)")
            }
        }
    }

    /// How rows may be found: by a whole key, or in a range that something bounds.
    private static let bounded = [
        "INTEGER PRIMARY KEY (rowid=?)", "sqlite_autoindex_notification_1 (id=?)",
        "sqlite_autoindex_pending_1 (app=? AND identifier=?)",
        // The one that is listed under a name, and what else of that name is to be seen.
        "notification_listed_as (app=? AND identifier=?)", "notification_visible (app=? AND identifier=?)",
        // One row; 64 rows of an app; 32 rows of an app; the answers to one notification.
        "SCAN local_id", "sqlite_autoindex_pending_1 (app=?)", "notification_wanted_of_app (app=?)",
        "response_of_notification (notification=?)",
        // A page, from where the last one ended.
        "notification_waiting (app=? AND sequence>?)", "response_waiting (app=? AND sequence>?)",
        "SCAN n USING INDEX notification_wanted", "outbox USING INTEGER PRIMARY KEY (rowid>?)",
        // The next topic that waits, and its app's token.
        "w USING INTEGER PRIMARY KEY (rowid>?)", "r USING PRIMARY KEY (app=? AND environment=?)",
        "upstream_waiting (sequence>?)", "upstream_waiting (rowid>?)", "data_message_of_app (app=? AND sequence>?)",
        // A thousand of an app at most, until it knows them; and the first to expire.
        "upstream_ended (app=?)", "upstream_expiring", "data_message_expiring (expires_at>?)",
        // What leaves the range when it is read.
        "outbox USING INTEGER PRIMARY KEY (rowid>? AND rowid<?)", "notification_undeferred (app=?)",
        // The first is enough.
        "notification_waking (app=?)",
        // One row at most of each environment and lane.
        "deletion USING PRIMARY KEY (app=?)",
        // A row of each app and no more, read when an app's token is asked for.
        "SCAN registration",
        // Of the rows that the lines beside it find.
        "SCAN CONSTANT ROW", "SUBQUERY 1", "SUBQUERY 2", "USE TEMP B-TREE FOR ORDER BY",
    ]
}
