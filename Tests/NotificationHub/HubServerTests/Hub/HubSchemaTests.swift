import AldabaTestSupport
import Foundation
import GRDB
import Testing

@testable import HubServer

/// Each fixture has the number that its migration's name begins with.
@Test(arguments: HubSchema.migrator.migrations)
func `each landed schema of the hub is the one of its fixture`(migration: String) throws {
    let number = try #require(Int(migration.prefix { $0.isNumber }))
    let database = try DatabaseQueue()
    try HubSchema.migrator.migrate(database, upTo: migration)
    let schema = try database.read { database in
        try String.fetchAll(
            database,
            sql: "SELECT sql FROM sqlite_schema WHERE sql IS NOT NULL AND name NOT LIKE 'grdb_%' ORDER BY name"
        ).joined(separator: ";\n") + ";\n"
    }
    let path = Repository.fixture("hub-schema/\(number).sql")
    #expect(try String(contentsOf: path, encoding: .utf8) == schema)
}

@Test func `the hub's file is for its owner alone`() throws {
    let folder = try TemporaryFolder()
    let database = try HubDatabase(path: folder.path("hub.sqlite"))
    let mode = try FileManager.default.attributesOfItem(atPath: folder.path("hub.sqlite"))[.posixPermissions] as? Int
    #expect(mode == 0o600)
    try database.close()
}

@Test func `a send of templates whose sizes were being looked at begins with the first installation`() throws {
    let database = try DatabaseQueue()
    let migrator = HubSchema.migrator
    try migrator.migrate(database, upTo: try #require(migrator.migrations.first { $0.hasPrefix("10 ") }))
    func add(_ id: String, _ format: String, campaign: String?, startedAt: Int64?) throws {
        try database.write { database in
            try database.execute(
                sql: """
                    INSERT INTO send(id, hub, format, body, headers, reads_fields, digest, campaign, state, enqueued_at,
                        started_at, targeted, cursor)
                    VALUES (?, 1, ?, x'', '{}', 0, x'', ?, 'Processing', 1, ?, 0, 7)
                    """, arguments: [id, format, campaign, startedAt])
        }
    }
    try database.write {
        try $0.execute(
            sql: "INSERT INTO hub(name, team, topic, is_strict, created_at) VALUES ('todo', 'T', 'x', 0, 0)")
    }
    // Before migration 11 the sizes of sends without a campaign were not looked at: this one has handed something over.
    try add("a", "template", campaign: nil, startedAt: 5)
    try add("b", "template", campaign: "x", startedAt: 5)
    try migrator.migrate(database, upTo: try #require(migrator.migrations.first { $0.hasPrefix("13 ") }))
    try add("c", "template", campaign: nil, startedAt: 5)
    try add("d", "apple", campaign: nil, startedAt: 5)
    try migrator.migrate(database)
    #expect(try database.read { try Int64.fetchAll($0, sql: "SELECT cursor FROM send ORDER BY id") } == [7, 0, 0, 7])
}

@Test func `those whom an experiment gives nothing are among the targeted of older campaigns, too`() throws {
    let database = try DatabaseQueue()
    let migrator = HubSchema.migrator
    try migrator.migrate(database, upTo: try #require(migrator.migrations.first { $0.hasPrefix("12 ") }))
    try database.write { database in
        try database.execute(
            sql: "INSERT INTO hub(name, team, topic, is_strict, created_at) VALUES ('todo', 'T', 'x', 0, 0)")
        for id in ["a", "b"] {
            try database.execute(
                sql: """
                    INSERT INTO send(id, hub, format, body, headers, reads_fields, digest, campaign, state, enqueued_at,
                        targeted, cursor)
                    VALUES (?, 1, 'content', x'', '{}', 0, x'', 'c', 'Completed', 1, 90, 0)
                    """, arguments: [id])
        }
        try database.execute(
            sql: "INSERT INTO send_count(send, name, count) VALUES (1, 'left heldOut', 10), (2, 'left capped', 3)")
    }
    try migrator.migrate(database)
    #expect(try database.read { try Int.fetchAll($0, sql: "SELECT targeted FROM send ORDER BY id") } == [100, 90])
}

@Test func `of a device token in two spellings the installation keeps it that was registered last`() throws {
    let database = try DatabaseQueue()
    let migrator = HubSchema.migrator
    try migrator.migrate(database, upTo: try #require(migrator.migrations.first { $0.hasPrefix("9 ") }))
    let rows: [(id: String, channel: String, platform: String, at: Int64)] = [
        ("a", "ABCDEF01", "apns", 5), ("b", "abcdef01", "aldaba", 9), ("c", "FFEE", "aldaba", 3),
        ("d", "FFee", "apns", 1), ("e", "e AB", "apns", 1), ("f", "ABCD", "wns", 1), ("g", "token of AB", "apns", 1),
    ]
    try database.write { database in
        try database.execute(
            sql: "INSERT INTO hub(name, team, topic, is_strict, created_at) VALUES ('todo', 'T', 'x', 0, 0)")
        for row in rows {
            try database.execute(
                sql: """
                    INSERT INTO installation(hub, id, channel, document, platform, tags, version, created_at, updated_at)
                    VALUES (1, ?, ?, '{}', ?, '', 1, 0, ?)
                    """, arguments: [row.id, row.channel, row.platform, row.at])
        }
    }
    try migrator.migrate(database)
    let channels = try database.read { database in
        try Row.fetchAll(database, sql: "SELECT channel, fault FROM installation ORDER BY id").map { row in
            (row["fault"] as String?) ?? (row["channel"] as String?)
        }
    }
    #expect(channels == ["TakenOver", "abcdef01", "ffee", "TakenOver", "e ab", "ABCD", "token of AB"])
}
