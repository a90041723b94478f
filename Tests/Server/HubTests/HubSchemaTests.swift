import AldabaTestSupport
import Foundation
import GRDB
import Testing

@testable import StoreHub

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
    let path = URL(fileURLWithPath: #filePath).deletingLastPathComponent()
        .appendingPathComponent("../../Fixtures/hub-schema/\(number).sql")
    #expect(try String(contentsOf: path, encoding: .utf8) == schema)
}

@Test func `the hub's file is for its owner alone`() throws {
    let folder = try TemporaryFolder()
    let database = try HubDatabase(path: folder.path("hub.sqlite"))
    let mode = try FileManager.default.attributesOfItem(atPath: folder.path("hub.sqlite"))[.posixPermissions] as? Int
    #expect(mode == 0o600)
    try database.close()
}
