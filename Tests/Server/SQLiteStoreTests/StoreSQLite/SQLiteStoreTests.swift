import AldabaTestSupport
import Foundation
import GRDB
import Platform
import PushCore
import PushServer
import StoreContract
import Testing

@testable import SQLiteStore

/// The contract of both ports, each rule on a database of its own.
@Suite struct SQLiteStoreContractTests {
    private let folder: TemporaryFolder
    private let store: SQLiteStore

    init() throws {
        folder = try TemporaryFolder()
        store = try SQLiteStore(path: folder.path("server.sqlite"))
    }

    @Test(arguments: NotificationStoreContract<SQLiteStore>.rules)
    func `the notification store's contract holds`(
        rule: ContractRule<NotificationStoreContract<SQLiteStore>>
    ) async throws {
        try await rule.check(NotificationStoreContract(store, register: store.register))
    }

    @Test(arguments: TopicStoreContract<SQLiteStore>.rules)
    func `the topic store's contract holds`(rule: ContractRule<TopicStoreContract<SQLiteStore>>) async throws {
        try await rule.check(TopicStoreContract(store, register: store.register))
    }

    @Test(arguments: RegisterStoreContract.rules)
    func `the register store's contract holds`(rule: ContractRule<RegisterStoreContract>) async throws {
        try await rule.check(RegisterStoreContract(store.register))
    }

    @Test(arguments: AppMessageStoreContract.rules)
    func `the contract of apps' messages holds`(rule: ContractRule<AppMessageStoreContract>) async throws {
        try await rule.check(AppMessageStoreContract(store, register: store.register))
    }

    @Test(arguments: FeedbackContract.rules)
    func `the feedback store's contract holds`(rule: ContractRule<FeedbackContract>) async throws {
        try await rule.check(FeedbackContract(store.register))
    }

    @Test(arguments: AuditStoreContract<SQLiteAudit>.rules)
    func `the contract of the audit log holds`(rule: ContractRule<AuditStoreContract<SQLiteAudit>>) async throws {
        try await rule.check(AuditStoreContract(store.audit))
    }

    @Test(arguments: [
        "UPDATE audit SET at = 0", "DELETE FROM audit", "UPDATE audit_end SET at = 0", "DELETE FROM audit_end",
        "REPLACE INTO audit SELECT * FROM audit", "REPLACE INTO audit_end SELECT * FROM audit_end",
    ])
    func `no statement changes the audit log`(sql: String) async throws {
        let number = try await store.audit.beginAudit(
            AuditEntry(
                at: Timestamp(rawValue: 1), actor: .console, origin: .console, action: "app.add", object: "a"))
        try await store.audit.endAudit(number, AuditEnd(at: Timestamp(rawValue: 2), outcome: .done))
        let before = try await store.audit.auditEntries(AuditFilter(), before: nil, limit: 9).items
        await #expect(throws: DatabaseError.self) { try await store.pool.write { try $0.execute(sql: sql) } }
        #expect(try await store.audit.auditEntries(AuditFilter(), before: nil, limit: 9).items == before)
    }

    @Test(arguments: InventoryStoreContract<SQLiteStore>.rules)
    func `the contract of lists holds`(rule: ContractRule<InventoryStoreContract<SQLiteStore>>) async throws {
        try await rule.check(InventoryStoreContract(store, register: store.register))
    }

    @Test(arguments: PeopleStoreContract.rules)
    func `the contract of people holds`(rule: ContractRule<PeopleStoreContract>) async throws {
        try await rule.check(PeopleStoreContract(store.people))
    }

    @Test(arguments: ReportStoreContract<SQLiteStore>.rules)
    func `the contract of reports holds`(rule: ContractRule<ReportStoreContract<SQLiteStore>>) async throws {
        try await rule.check(ReportStoreContract(store, register: store.register))
    }
}

@Suite struct SQLiteFileTests {
    private let folder: TemporaryFolder

    init() throws { folder = try TemporaryFolder() }

    @Test func `commits are synced, also after the file was opened again`() throws {
        for _ in 0..<2 {
            let store = try SQLiteStore(path: folder.path("server.sqlite"))
            #expect(try store.synchronousMode() == 2)
            try store.close()
        }
    }

    @Test func `the file is readable by its owner alone`() throws {
        let store = try SQLiteStore(path: folder.path("server.sqlite"))
        let attributes = try FileManager.default.attributesOfItem(atPath: folder.path("server.sqlite"))
        #expect((attributes[.posixPermissions] as? NSNumber)?.intValue == 0o600)
        try store.close()
    }

    @Test func `a folder that does not exist is a clear error`() {
        let error = #expect(throws: DatabaseFault.self) { try SQLiteStore(path: folder.path("missing/server.sqlite")) }
        #expect(error?.description.contains("missing/server.sqlite") == true)
    }

    @Test func `a file that is no database is a clear error and is left as it was`() throws {
        let path = folder.path("server.sqlite")
        try Data("these are not the pages you are looking for, but quite a few bytes all the same".utf8)
            .write(to: URL(fileURLWithPath: path))
        let error = #expect(throws: DatabaseFault.self) { try SQLiteStore(path: path) }
        #expect(error?.kind == .damaged("file is not a database"))
        #expect(try String(contentsOfFile: path, encoding: .utf8).hasPrefix("these are not"))
    }

    @Test func `what is pending when its timeline goes is counted as ended`() async throws {
        let store = try SQLiteStore(path: folder.path("server.sqlite"))
        let now = Timestamp(seconds: 1_780_272_000)
        let app = try await store.register.addApp(
            topic: Topic(rawValue: "com.example.todo"), team: TeamID(rawValue: "TEAM123456"), policy: MailboxPolicy(),
            at: now)
        let first = NotificationIDGenerator(node: 0, highWater: 0).floor(at: now)
        func record(_ number: Int64, waits: Bool) throws -> RowChange {
            let subject = TokenSubject(
                cell: 0, device: try #require(DeviceID(1)), app: app.id, environment: .sandbox, generation: 0)
            return .insertNotification(
                NotificationRecord(
                    id: NotificationID(rawValue: first + number), subject: subject, apnsID: nil, pushType: nil,
                    priority: .immediate, collapseID: nil, acceptedAt: now,
                    expiresAt: waits ? now + .seconds(60) : nil, waits: waits, lane: .apns, payload: .own([0x7B, 0x7D]))
            )
        }
        let acked = TimelineEntry(at: now, state: .acked, source: .server)
        try store.apply([
            try record(1, waits: true), try record(2, waits: false), try record(3, waits: true),
            .appendLine(acked, to: NotificationID(rawValue: first + 3)),
        ])
        while try await store.countChanges(limit: 10).isMore {}
        let choice = ReportChoice(days: ReportDay(now)...ReportDay(now))
        func ends() async throws -> [String: Int] {
            let rows = try await store.reports(choice, limit: 10)
            let counts = try #require(rows.first).counts
            #expect(counts.ended == 3)
            return Dictionary(
                uniqueKeysWithValues: DeliveryOutcome.End.allCases.map { ($0.name, counts[$0]) }.filter { $0.1 > 0 })
        }
        #expect(try await ends() == ["pending": 2, "delivered": 1])
        let later = now + .seconds(40 * 86_400)
        while try store.prune(timelinesBefore: later, payloadsBefore: later, now: later, limit: 2) {}
        #expect(try await ends() == ["expired": 1, "droppedOffline": 1, "delivered": 1])
        let left = try await store.pool.read { try Int.fetchOne($0, sql: "SELECT count(*) FROM report_counted") }
        #expect(left == 0)
        try store.close()
    }

    @Test func `a cancelled access that interrupts too late does not keep the store from being closed`() throws {
        let store = try SQLiteStore(path: folder.path("server.sqlite"))
        try store.pool.sound().interrupt()
        try store.close()
        #expect(try Data(contentsOf: URL(fileURLWithPath: folder.path("server.sqlite-wal"))).isEmpty)
    }

    // A wake that is lost would hang the run.
    @Test(.timeLimit(.minutes(5)))
    func `a change of the register wakes who waits for one, through another mapping`() async throws {
        let path = folder.path("counter")
        let (waiting, raising) = (try SharedCounter(path: path), try SharedCounter(path: path))
        for round in 0..<20 as Range<UInt64> {
            let woken = Latch()
            // No clock ends it: without being woken it would outlast the test.
            NamedThread.begin("waits") {
                while waiting.current == round { waiting.wait(whileAt: round, milliseconds: .max) }
                woken.open()
            }
            raising.raise()
            await woken.wait()
        }
        #expect(waiting.current == 20)
    }

    private func fixture(_ number: Int) throws -> String {
        let path = Repository.fixture("server-schema/\(number).sql")
        return try String(contentsOf: path, encoding: .utf8)
    }

    /// Each fixture has the number that its migration's name begins with.
    @Test(arguments: Schema.migrator.migrations)
    func `each landed schema is the one of its fixture`(migration: String) throws {
        let number = try #require(Int(migration.prefix { $0.isNumber }))
        let database = try DatabaseQueue()
        try Schema.migrator.migrate(database, upTo: migration)
        let schema = try database.read { database in
            try String.fetchAll(
                database,
                sql: "SELECT sql FROM sqlite_schema WHERE sql IS NOT NULL AND name NOT LIKE 'grdb_%' ORDER BY name"
            ).joined(separator: ";\n") + ";\n"
        }
        #expect(try fixture(number) == schema)
    }

    @Test func `what finds a notification by its name leaves with it, also what was written before`() throws {
        let store = try SQLiteStore(path: folder.path("server.sqlite"))
        let now = Timestamp(seconds: 1_780_272_000)
        let subject = TokenSubject(
            cell: 0, device: try #require(DeviceID(77)), app: AppID(rawValue: 1), environment: .sandbox, generation: 0)
        let expiries: [Timestamp?] = [now, nil, nil]
        try store.apply(
            expiries.enumerated().map { number, expiry in
                .insertNotification(
                    NotificationRecord(
                        id: NotificationID(rawValue: Int64(number) + 1), subject: subject, apnsID: "Same",
                        pushType: .alert, priority: .immediate, collapseID: nil, acceptedAt: now, expiresAt: expiry,
                        waits: expiry != nil, lane: .apns, payload: .own([])))
            } + [
                .insertRefusal(
                    RefusalRecord(
                        id: NotificationID(rawValue: 4), team: TeamID(rawValue: "TEAM000001"), topic: "t",
                        apnsID: "Same", at: now, code: "BadTopic", note: nil))
            ])
        // Identities of single attempts were those of their device once.
        try store.pool.write { try $0.execute(sql: "UPDATE identity SET device = 77 WHERE id = 3") }
        func names() throws -> Int? {
            try store.pool.read {
                try Int.fetchOne($0, sql: "SELECT (SELECT count(*) FROM identity) + (SELECT count(*) FROM refusal)")
            }
        }
        #expect(try names() == 4)
        _ = try store.prune(timelinesBefore: now, payloadsBefore: now, now: now, limit: 10)
        #expect(try names() == 0)
        try store.close()
    }

    @Test func `a payload is kept until its time after the last line of its timeline, then cleared`() throws {
        let store = try SQLiteStore(path: folder.path("server.sqlite"))
        let day: Int64 = 24 * 3_600_000
        let start = Timestamp(seconds: 1_780_272_000)
        let id = NotificationID(rawValue: NotificationIDGenerator(node: 0, highWater: 0).floor(at: start))
        let device = try #require(DeviceID(77))
        try store.apply([
            .insertNotification(
                NotificationRecord(
                    id: id,
                    subject: TokenSubject(
                        cell: 0, device: device, app: AppID(rawValue: 1), environment: .sandbox, generation: 0),
                    apnsID: nil, pushType: .alert, priority: .immediate, collapseID: nil, acceptedAt: start,
                    expiresAt: start.adding(milliseconds: 100 * day), waits: true, lane: .apns,
                    payload: .own([0x7B, 0x7D])))
        ])
        /// Whether the payload is there after everything was looked at, some days after the acceptance.
        func isKept(after days: Int64) throws -> Bool {
            let now = start.adding(milliseconds: days * day + 1)
            while try store.prune(
                timelinesBefore: start.adding(milliseconds: -day), payloadsBefore: now.adding(milliseconds: -day),
                now: now, limit: 10)
            {}
            return try store.pool.read {
                try Bool.fetchOne($0, sql: "SELECT payload IS NOT NULL FROM message") ?? false
            }
        }
        #expect(try isKept(after: 1) && isKept(after: 2))
        try store.apply([
            .appendLine(
                TimelineEntry(at: start.adding(milliseconds: 2 * day + 5), state: .acked, source: .server), to: id),
            .removeWaiting(id, of: device),
        ])
        #expect(try isKept(after: 3))
        #expect(try !isKept(after: 4))
        try store.close()
    }
}
