import AldabaTestSupport
import Foundation
import GRDB
import PushModel
import ServerCore
import StoreContract
import Testing

@testable import StoreSQLite

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
        try await rule.check(NotificationStoreContract(store))
    }

    @Test(arguments: RegisterStoreContract.rules)
    func `the register store's contract holds`(rule: ContractRule<RegisterStoreContract>) async throws {
        try await rule.check(RegisterStoreContract(store))
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
        let error = #expect(throws: StoreError.self) { try SQLiteStore(path: folder.path("missing/server.sqlite")) }
        #expect(error?.description.contains("missing/server.sqlite") == true)
    }

    @Test func `a file that is no database is a clear error and is left as it was`() throws {
        let path = folder.path("server.sqlite")
        try Data("these are not the pages you are looking for, but quite a few bytes all the same".utf8)
            .write(to: URL(fileURLWithPath: path))
        #expect(throws: StoreError.self) { try SQLiteStore(path: path) }
        #expect(try String(contentsOfFile: path, encoding: .utf8).hasPrefix("these are not"))
    }

    private func fixture(_ number: Int) throws -> String {
        let path = URL(fileURLWithPath: #filePath).deletingLastPathComponent()
            .appendingPathComponent("../../Fixtures/server-schema/\(number).sql")
        return try String(contentsOf: path, encoding: .utf8)
    }

    @Test(arguments: Array(Schema.migrator.migrations.enumerated()))
    func `each landed schema is the one of its fixture`(number: Int, migration: String) throws {
        let database = try DatabaseQueue()
        try Schema.migrator.migrate(database, upTo: migration)
        let schema = try database.read { database in
            try String.fetchAll(
                database,
                sql: "SELECT sql FROM sqlite_schema WHERE sql IS NOT NULL AND name NOT LIKE 'grdb_%' ORDER BY name"
            ).joined(separator: ";\n") + ";\n"
        }
        #expect(try fixture(number + 1) == schema)
    }

    @Test func `a database of the first schema is brought up to date with what it holds`() async throws {
        let path = folder.path("server.sqlite")
        let old = try DatabaseQueue(path: path)
        try Schema.migrator.migrate(old, upTo: "1 the whole path")
        try await old.write { database in
            try database.execute(
                sql: """
                    INSERT INTO app(id, topic, team, mailbox_limit, overflow, created_at)
                    VALUES(1, 'com.example.todo', 'TEAM123456', 10, 'dropOldest', 0);
                    INSERT INTO message(id, app, device, environment, lane, priority, accepted_at, stored, payload)
                    VALUES(10, 1, 77, 1, 0, 10, 0, 1, X'7B7D'), (11, 1, 77, 0, 0, 10, 0, 1, X'7B7D');
                    INSERT INTO pending(device, id, message, app, lane, expires_at) VALUES(77, 10, 10, 1, 0, 5),
                        (77, 11, 11, 1, 0, 5)
                    """)
        }
        try old.close()
        let store = try SQLiteStore(path: path)
        let device = try #require(DeviceID(77))
        var request = PrefetchRequest(acceptedSince: Timestamp(rawValue: 0))
        request.mailboxes = [device]
        #expect(try store.prefetch(request).waiting[device]?.map(\.environment) == [.production, .sandbox])
        let page = try await withCheckedThrowingContinuation { continuation in
            store.page(device: device, after: nil, limit: 10, now: Timestamp(rawValue: 0)) {
                continuation.resume(with: $0)
            }
        }
        #expect(page.map(\.payload) == [[0x7B, 0x7D], [0x7B, 0x7D]])
        try store.close()
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
