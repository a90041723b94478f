import AgentProtocol
import AldabaTestSupport
import DeviceTestSupport
import Foundation
import GRDB
import PushCore
import Testing

@testable import AgentEngine
@testable import AgentRuntime

/// An agent's database of every version that has landed is brought up to date with what it holds.
struct AgentMigrationTests {
    private static let app: BundleID = "com.example.todo"

    /// What each version can hold first; the rows are those that it wrote. The first was handed and is listed, the second
    /// waits for its app.
    private static let rows: [Int: String] = [
        1: """
        INSERT INTO identity VALUES(1, 77, 5);
        INSERT INTO registration(app, environment, token) VALUES('com.example.todo', 'sandbox', 'abcd');
        INSERT INTO notification(id, app, apns_id, identifier, environment, priority, payload, accepted_at,
            received_at, presentation, handle, presented_at, handed_at)
            VALUES(10, 'com.example.todo', 'A10', 'A10', 'sandbox', 10, CAST('{"aps":{"alert":"Milk"}}' AS BLOB), 1,
                2, 2, '7', 3, 4);
        INSERT INTO notification(id, app, apns_id, identifier, environment, priority, payload, accepted_at,
            received_at, presentation)
            VALUES(11, 'com.example.todo', 'A11', 'A11', 'sandbox', 10, CAST('{"aps":{"alert":"Tea"}}' AS BLOB), 1,
                2, 0);
        INSERT INTO unconfirmed VALUES(10), (11);
        INSERT INTO outbox(notification, state, at, source) VALUES(10, 'presented', 3, 'desktop');
        INSERT INTO response(notification, app, action, at) VALUES(10, 'com.example.todo', 'x', 5)
        """,
        2: """
        INSERT INTO request VALUES('com.example.todo', 'tea', '{"content":{"title":"Tea"},"identifier":"tea",'
            || '"trigger":{"repeats":false,"seconds":60,"type":"timeInterval"}}', 9);
        INSERT INTO preference VALUES('quiet-hours', 'off');
        UPDATE notification SET listed_at = 3 WHERE id = 10
        """,
        3: "INSERT INTO done VALUES('com.example.todo', 'run', 4)",
        4: "INSERT INTO question VALUES('com.example.other', '9')",
        7: "INSERT INTO deletion VALUES('com.example.todo', 'sandbox', 0, 12, 100, 6)",
        8: "INSERT INTO opened_message(fingerprint, notification) VALUES(X'01', 10)",
        9: """
        INSERT INTO extending(id, app, apns_id, identifier, environment, priority, payload, accepted_at, received_at)
            VALUES(13, 'com.example.todo', 'A13', 'A13', 'sandbox', 10, CAST('{"aps":{}}' AS BLOB), 1, 2)
        """,
        11: """
        INSERT INTO upstream(app, message, recipient, data, time_to_live, sent_at, expires_at)
            VALUES('com.example.todo', 'old', '42', '{}', 1, 1, 2)
        """,
        12: """
        INSERT INTO upstream(app, message, recipient, data, time_to_live, sent_at, expires_at)
            VALUES('com.example.todo', 'new', '42', '{}', 1, 1, 2)
        """,
        13: "UPDATE notification SET attempts = 1 WHERE id = 11",
        15: """
        INSERT INTO live_activity VALUES('com.example.todo', '00112233445566778899aabbccddeeff',
            '{"activity":{"attributes":"{}","attributesType":"Delivery","content":{"relevanceScore":0,"state":"{}"},'
            || '"id":"00112233445566778899aabbccddeeff","state":"active"},"app":"com.example.todo","pushes":"token",'
            || '"startedAt":3}')
        """,
    ]

    @Test(arguments: AgentSchema.migrator.migrations)
    func `a database with rows of any version keeps them all`(migration: String) throws {
        let last = try #require(Int(migration))
        let folder = try TemporaryFolder()
        let path = folder.path("agent.sqlite")
        let old = try DatabaseQueue(path: path)
        for version in 1...last {
            try AgentSchema.migrator.migrate(old, upTo: "\(version)")
            if let rows = Self.rows[version] { try old.write { try $0.execute(sql: rows) } }
        }
        try old.close()

        let (store, aside) = try AgentStore.open(path: path, now: noon)
        #expect(aside == nil)
        try store.read { (reader: AgentReader) throws in
            #expect(try reader.identity()?.device.rawValue == 77)
            #expect(try reader.registration(app: Self.app, environment: .sandbox) == .token("abcd"))
            #expect(try reader.unconfirmed().map(\.rawValue) == [10, 11])
            #expect(try reader.waiting(app: Self.app, after: 0, limit: 10).map(\.id.rawValue) == [11])
            #expect(try reader.shown(limit: 10).map(\.id.rawValue) == [10])
            #expect(try reader.receipts(after: 0, limit: 10).map(\.receipt.entry.state) == [.presented])
            #expect(try reader.waitingResponses(app: Self.app, after: 0, limit: 10).count == 1)
            if last >= 2 {
                #expect(try reader.requests(app: Self.app).map(\.identifier) == ["tea"])
                #expect(try reader.preference("quiet-hours") == "off")
                #expect(try reader.listed(app: Self.app, limit: 10).map(\.id.rawValue) == [10])
            }
            if last >= 3 { #expect(try reader.done(app: Self.app, run: "run") == [4]) }
            if last >= 4 { #expect(try reader.questions().map(\.handle) == ["9"]) }
            if last >= 7 { #expect(try Int.fetchOne(reader.database, sql: "SELECT count FROM deletion") == 100) }
            if last >= 11 {
                let found = try reader.upstream(after: 0, limit: 9).map { "\($0.message.draft.id) \($0.isUnderWay)" }
                // An agent of before may have sent what waited.
                #expect(found == ["old true"] + (last >= 12 ? ["new false"] : []))
            }
            let attempts = try reader.waiting(app: Self.app, after: 0, limit: 10).map(\.attempts)
            #expect(attempts == [last >= 13 ? 1 : 0])
            if last >= 9 { #expect(try Int.fetchOne(reader.database, sql: "SELECT id FROM extending") == 13) }
            #expect(try reader.liveActivities().map(\.startedAt) == (last >= 15 ? [3] : []))
        }
        // What comes next is taken, and what came before is known.
        let results = try store.commit([arrival(11), arrival(20)])
        let isNew = results.map { if case .stored(_, _, _, let isNew, _) = $0 { isNew } else { nil as Bool? } }
        #expect(isNew == [false, true])
    }
}
