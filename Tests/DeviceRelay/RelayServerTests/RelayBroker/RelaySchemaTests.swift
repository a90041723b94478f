import AldabaTestSupport
import Foundation
import GRDB
import Logging
import PushCore
import RelayProtocol
import Testing

@testable import RelayServer

@Suite struct RelaySchemaTests {
    private static func fixture(_ number: Int) throws -> String {
        let path = Repository.fixture("relay-schema/\(number).sql")
        return try String(contentsOf: path, encoding: .utf8)
    }

    /// Each fixture has the number that its migration's name begins with.
    private static func number(of migration: String) throws -> Int {
        try #require(Int(migration.prefix { $0.isNumber }))
    }

    @Test("Each landed schema of the relay is the one of its fixture", arguments: RelaySchema.migrator.migrations)
    func landed(migration: String) throws {
        let database = try DatabaseQueue()
        try RelaySchema.migrator.migrate(database, upTo: migration)
        let schema = try database.read { database in
            try String.fetchAll(
                database,
                sql:
                    "SELECT sql FROM sqlite_schema WHERE sql IS NOT NULL AND name NOT LIKE 'grdb_%' AND name NOT LIKE 'sqlite_%' ORDER BY name"
            ).joined(separator: ";\n") + ";\n"
        }
        #expect(try Self.fixture(try Self.number(of: migration)) == schema)
    }

    @Test("What a store of an earlier version holds is there in this one", arguments: RelaySchema.migrator.migrations)
    func migration(from migration: String) async throws {
        let folder = try TemporaryFolder()
        let path = folder.path("relay.sqlite")
        let device = RelayDatabaseTests.device("1")
        let old = try DatabaseQueue(path: path)
        try await old.write { database in
            try database.execute(sql: try Self.fixture(try Self.number(of: migration)))
            try database.execute(
                sql: "CREATE TABLE grdb_migrations (identifier TEXT NOT NULL PRIMARY KEY)")
            for landed in RelaySchema.migrator.migrations.prefix(through: migration) {
                try database.execute(sql: "INSERT INTO grdb_migrations VALUES (?)", arguments: [landed])
            }
            try database.execute(
                sql: "INSERT INTO relay_device (device, account, described, seen_at) VALUES ('1', ?, ?, 5)",
                arguments: [Data([7]), Data(try device.encoded())])
            if try Self.number(of: migration) >= 3 {
                try database.execute(
                    sql: """
                        INSERT INTO relay_letter (number, device, account, sender, id, deadline, body)
                        VALUES (5, '1', ?, '2', ?, 100, ?);
                        INSERT INTO relay_letter_sum (device, count, bytes) VALUES ('1', 1, 3);
                        """,
                    arguments: [Data([7]), Data(repeating: 9, count: 16), Data([1, 2, 3])])
            }
            if try Self.number(of: migration) >= 4 {
                try database.execute(
                    sql: """
                        INSERT INTO relay_document (account, key, revision, body) VALUES (?, ?, 3, ?);
                        INSERT INTO relay_document_sum (account, count, bytes, removed, seen_at) VALUES (?, 1, 2, 0, 5);
                        """,
                    arguments: [Data([7]), Data(repeating: 1, count: 32), Data([8, 9]), Data([7])])
            }
            if try Self.number(of: migration) >= 5 {
                try database.execute(sql: "UPDATE relay_document_sum SET last = 1")
            }
        }
        try old.close()
        let store = try RelayDatabase(path: path, logger: Logger(label: "test"))
        #expect(try store.devices(of: [7]).map(\.device) == [device])
        store.save(StoredDevice(device: RelayDatabaseTests.device("2"), seen: 6), of: [7])
        let queuedMessages = await withCheckedContinuation { told in
            store.read(for: "1", of: [7], after: 0, count: 9, bytes: 99, at: Timestamp(rawValue: 0)) {
                queuedMessages, _ in
                told.resume(returning: queuedMessages)
            }
        }
        #expect(queuedMessages?.map(\.body) == (try Self.number(of: migration) >= 3 ? [[1, 2, 3]] : []))
        let documents = await withCheckedContinuation { told in
            store.perform(.list(after: 0), of: [7], at: Timestamp(rawValue: 0)) { told.resume(returning: $0) }
        }
        let kept = RelaySealedDocument(key: [UInt8](repeating: 1, count: 32), revision: 3, body: [8, 9], number: 1)
        let isKept = try Self.number(of: migration) >= 4
        #expect(documents == .documents(isKept ? [kept] : [], isAll: true, last: isKept ? 1 : 0))
        try store.close()
        let again = try RelayDatabase(path: path, logger: Logger(label: "test"))
        #expect(try again.devices(of: [7]).map(\.device.id) == ["2", "1"])
        try again.close()
    }
}

extension [String] {
    /// All up to an element, with it.
    fileprivate func prefix(through element: String) -> ArraySlice<String> {
        prefix((firstIndex(of: element) ?? count - 1) + 1)
    }
}
