import AldabaTestSupport
import Foundation
import GRDB
import PushCore
import PushServer
import Testing

@testable import SQLiteStore

/// A database of every version that has landed is brought up to date with what it holds.
@Suite struct MigrationTests {
    private static let device = DeviceID(77)!  // Neither 0 nor beyond Int64.max.

    /// What each version can hold first; the rows are those that it wrote. The first waits without an expiration, and of the
    /// third the end is told.
    private static let rows: [Int: String] = [
        1: """
        INSERT INTO app(id, topic, team, mailbox_limit, overflow, created_at)
            VALUES(1, 'com.example.todo', 'TEAM123456', 10, 'dropOldest', 0);
        INSERT INTO provider_key(key_id, team, public_key, created_at) VALUES('KEY1234567', 'TEAM123456', 'pem', 0);
        INSERT INTO device(id, secret_hash, enrolled_at) VALUES(77, X'01', 5);
        INSERT INTO registration(device, app, environment, generation, registered_at) VALUES(77, 1, 1, 3, 6);
        INSERT INTO message(id, app, device, environment, lane, priority, accepted_at, stored, payload, apns_id)
            VALUES(10, 1, 77, 1, 0, 10, 0, 1, X'7B7D', 'A10'), (11, 1, 77, 0, 0, 5, 0, 1, X'7B7D', NULL),
                (12, 1, 77, 1, 0, 10, 0, 1, X'7B7D', NULL);
        INSERT INTO pending(device, id, message, app, lane, expires_at) VALUES(77, 10, 10, 1, 0, 5),
            (77, 11, 11, 1, 0, 5);
        INSERT INTO timeline(id, at, state, source) VALUES(10, 1, 'sent', 'server'), (12, 2, 'acked', 'server');
        INSERT INTO identity(apns_id, device, app, environment, id) VALUES('a10', 77, 1, 1, 10);
        INSERT INTO unrecorded(team, first, last, count) VALUES('TEAM123456', 20, 22, 2);
        INSERT INTO meta(key, value) VALUES('high_water', 1000)
        """,
        5: """
        INSERT INTO payload(id, lane, content, checked_at) VALUES(30, 0, X'7B207D', 0);
        INSERT INTO message(id, app, device, environment, lane, priority, accepted_at, stored)
            VALUES(31, 1, 77, 1, 0, 10, 0, 1);
        INSERT INTO payload_use(message, payload) VALUES(31, 30);
        INSERT INTO pending(device, id, message, app, lane, expires_at, environment) VALUES(77, 31, 31, 1, 0, 5, 1)
        """,
        6: "INSERT INTO tombstone(device, app, environment, lane, id, count, since) VALUES(77, 1, 1, 0, 40, 100, 7)",
        7: "INSERT INTO recall(device, id, message, at) VALUES(77, 50, 12, 8)",
        8: "INSERT INTO encryption_key(device, app, environment, point, authentication_secret, published_at) "
            + "VALUES(77, 1, 1, zeroblob(65), zeroblob(16), 9)",
        9: """
        INSERT INTO team(id, name, created_at) VALUES('TEAM123456', 'Harbour', 0);
        INSERT INTO provider_certificate(id, fingerprint, team, der, created_at)
            VALUES('CERT123456', X'02', 'TEAM123456', X'03', 0)
        """,
        10: "INSERT INTO ended_registration(app, environment, device, generation, ended_at) VALUES(1, 0, 77, 2, 4)",
        20: "INSERT INTO missed(device, app, environment, lane, count, since) VALUES(77, 1, 1, 1, 3, 9)",
        22: """
        INSERT INTO audit(at, origin, actor_kind, actor, action, object)
            VALUES(5, 'command', 'user', 'root', 'app.add', 'com.example.todo');
        INSERT INTO audit_end(number, at, outcome) VALUES(1, 6, 'done')
        """,
        23: """
        INSERT INTO person(id, name, created_at) VALUES('P1', 'ada', 0);
        INSERT INTO membership(person, place, role) VALUES('P1', 0, 'owner');
        INSERT INTO console_session(hash, person, created_at, confirmed_at, used_at, address, agent)
            VALUES(X'04', 'P1', 1, 1, 1, '192.0.2.1', 'Browser');
        INSERT INTO person_link(hash, person, expires_at) VALUES(X'05', 'P1', 10)
        """,
        24: """
        INSERT INTO web_channel(device, channel, app, environment, generation, sender, registered_at)
            VALUES(77, zeroblob(16), 1, 1, 3, '', 9)
        """,
        25: "INSERT INTO broadcast_channel(app, environment, channel, policy, created_at) "
            + "VALUES(1, 1, zeroblob(16), 1, 9)",
    ]

    private static func number(of migration: String) -> Int { Int(migration.prefix { $0.isNumber }) ?? 0 }

    @Test(arguments: Schema.migrator.migrations)
    func `a database with rows of any version keeps them all`(migration: String) async throws {
        let folder = try TemporaryFolder()
        let path = folder.path("server.sqlite")
        let old = try DatabaseQueue(path: path)
        let last = Self.number(of: migration)
        // Each version's rows are there before the next one comes, as in a server that was brought up to date each time.
        for earlier in Schema.migrator.migrations where Self.number(of: earlier) <= last {
            try Schema.migrator.migrate(old, upTo: earlier)
            if let rows = Self.rows[Self.number(of: earlier)] { try await old.write { try $0.execute(sql: rows) } }
        }
        let counts = try await old.read { try Self.counts($0) }
        try old.close()

        let store = try SQLiteStore(path: path)
        let after = try await store.pool.read { try Self.counts($0) }
        for (table, count) in counts { #expect(after[table] == count, "\(table)") }
        try await check(store, since: last)
        try store.close()
    }

    /// How many rows each table of ours has.
    private static func counts(_ database: Database) throws -> [String: Int] {
        let tables = try String.fetchAll(
            database,
            sql: "SELECT name FROM sqlite_schema WHERE type = 'table' AND name NOT LIKE 'sqlite_%' "
                + "AND name NOT LIKE 'grdb_%'")
        return try tables.reduce(into: [:]) { counts, table in
            counts[table] = try Int.fetchOne(database, sql: "SELECT count(*) FROM \(table)")
        }
    }

    private func check(_ store: SQLiteStore, since version: Int) async throws {
        let page = try await withCheckedThrowingContinuation { continuation in
            store.page(device: Self.device, after: nil, limit: 10, now: Timestamp(rawValue: 0)) {
                continuation.resume(with: $0)
            }
        }
        let notifications = page.filter { $0.notice == nil }
        #expect(notifications.map(\.id.rawValue) == (version >= 5 ? [10, 11, 31] : [10, 11]))
        #expect(notifications.prefix(2).map(\.environment) == [.production, .sandbox])
        #expect(notifications.prefix(2).map(\.payload) == [[0x7B, 0x7D], [0x7B, 0x7D]])
        if version >= 5 { #expect(notifications.last?.payload == [0x7B, 0x20, 0x7D]) }
        #expect(page.count { $0.notice != nil } == (version >= 7 ? 2 : version >= 6 ? 1 : 0))

        var request = PrefetchRequest(acceptedSince: Timestamp(rawValue: 0))
        request.mailboxes = [Self.device]
        request.secretHashes = [Self.device]
        let known = try store.prefetch(request)
        #expect(known.waiting[Self.device]?.prefix(2).map(\.environment) == [.production, .sandbox])
        #expect(known.secretHashes[Self.device] != nil)
        #expect(known.missed[Self.device]?.map(\.count) == (version >= 20 ? [3] : nil))
        for (id, states) in [(10, [.accepted, .stored, .sent]), (12, [.accepted, .stored, .acked])]
            as [(Int64, [NotificationState])]
        {
            let found = try await store.timelines(id: NotificationID(rawValue: id), apnsID: nil, team: nil)
            #expect(found.first?.entries.map(\.state) == states)
        }
        #expect(try await store.timelines(id: nil, apnsID: "A10", team: nil).map(\.id.rawValue) == [10])
        #expect(try await store.register.apps().map(\.topic.rawValue) == ["com.example.todo"])
        #expect(try await store.register.providerKeys().map(\.keyID.rawValue) == ["KEY1234567"])
        #expect(try store.highWater() == 1000)
    }
}
