import AldabaConfiguration
import Foundation
import HubServer
import SQLiteStore
import Testing
import aldaba

/// A data folder knows which databases it has had.
@Suite struct KnownDatabasesTests {
    private let folder: TemporaryFolder
    private let data: DataFolder
    private let known: KnownDatabases

    init() throws {
        folder = try TemporaryFolder()
        data = DataFolder(root: folder.path + "/data")
        known = KnownDatabases(data)
        try data.make()
    }

    private func makeRegister() async throws {
        try await ServerRegister.withRegister(data) { _ in }
        _ = try await HubRegister.withDatabase(data) { try await $0.hubs() }
    }

    private func empty(_ database: ServerDatabase) throws {
        try Data().write(to: URL(filePath: known.path(of: database)))
    }

    private func lose(_ database: ServerDatabase) throws {
        try FileManager.default.removeItem(atPath: known.path(of: database))
    }

    private func kind(_ database: ServerDatabase) -> DatabaseFault.Kind? {
        do {
            _ = try known.inspect(database) { path in
                database == .hub ? HubDatabase.inspection(path: path) : SQLiteStore.inspection(path: path)
            }
            return nil
        } catch { return (error as? DatabaseFault)?.kind }
    }

    @Test func `a new folder may begin each database, also after a start that ended early`() throws {
        for database in ServerDatabase.allCases { #expect(kind(database) == nil) }
        try empty(.server)
        #expect(kind(.server) == nil)
        #expect(try FileManager.default.contentsOfDirectory(atPath: data.root).contains("databases") == false)
    }

    @Test(arguments: [ServerDatabase.server, .hub])
    func `one that was made and is missing or empty is not begun anew by itself`(database: ServerDatabase) async throws
    {
        try await makeRegister()
        #expect(kind(database) == nil)
        try empty(database)
        #expect(kind(database) == .empty)
        try lose(database)
        #expect(kind(database) == .missing)
        await #expect(throws: DatabaseFault.self, "commands neither") { try await makeRegister() }
        #expect(!FileManager.default.fileExists(atPath: known.path(of: database)))
        try known.beginAnew([database])
        #expect(kind(database) == nil)
        try await makeRegister()
        #expect(kind(database) == nil)
    }

    @Test func `a database that has its file is not begun anew, and what is left of one is kept`() async throws {
        try await makeRegister()
        let before = try Data(contentsOf: URL(filePath: known.path(of: .server)))
        try known.beginAnew(ServerDatabase.allCases)
        #expect(try Data(contentsOf: URL(filePath: known.path(of: .server))) == before)
        try empty(.server)
        try Data("log".utf8).write(to: URL(filePath: known.path(of: .server) + "-wal"))
        try known.beginAnew([.server])
        let names = try FileManager.default.contentsOfDirectory(atPath: data.root)
        let log = try #require(names.first { $0.hasPrefix("server.sqlite.aside-") && $0.hasSuffix("-wal") })
        #expect(try Data(contentsOf: URL(filePath: data.root + "/" + log)) == Data("log".utf8))
        #expect(!names.contains("server.sqlite-wal"))
    }

    @Test func `an empty file with a log beside it is never new`() throws {
        try empty(.server)
        #expect(kind(.server) == nil)
        try Data("log".utf8).write(to: URL(filePath: known.path(of: .server) + "-wal"))
        #expect(kind(.server) == .empty)
    }

    @Test func `a folder of an earlier version is known by what lies beside its register`() async throws {
        try await makeRegister()
        try FileManager.default.removeItem(atPath: data.databaseList)
        try lose(.server)
        #expect(kind(.server) == .missing)
        try lose(.hub)
        #expect(kind(.server) == nil, "nothing tells that there was one")
        try PrivateFile.write(Array("00".utf8), to: data.sealingKeys)
        #expect(kind(.server) == .missing)
        #expect(kind(.hub) == nil)
    }
}
