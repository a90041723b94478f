import AldabaTestSupport
import Foundation
import GRDB
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

    typealias Notifications = NotificationStoreContract<SQLiteStore>

    static let asyncRules: [(String, @Sendable (Notifications) async throws -> Void)] = [
        ("pages", { try await $0.`what was inserted is paged in order, whole`() }),
        ("rollback", { try await $0.`a transaction that throws leaves nothing behind`() }),
        ("removal", { try await $0.`what was removed no longer waits and keeps its timeline`() }),
        ("mailbox", { try $0.`a mailbox is read back as it was`() }),
        ("identity", { try $0.`an identity is found within its window, in any case, for its registration only`() }),
        ("apns-id", { try await $0.`one apns-id may name several notifications, refusals too`() }),
        ("timeline", { try await $0.`the same line of a timeline twice is one`() }),
        ("sweep", { try $0.`a sweep finds every device whose mail has expired, slice by slice`() }),
        ("ceiling", { try $0.`the ceiling of ids only rises`() }),
        ("unrecorded", { try await $0.`what was not recorded is known as such to its team`() }),
        ("pruning", { try await $0.`pruning takes what is old, never what waits`() }),
    ]

    @Test(arguments: asyncRules.map(\.0))
    func `the notification store's contract holds`(rule: String) async throws {
        let contract = try await Notifications(store)
        let body = try #require(Self.asyncRules.first { $0.0 == rule }?.1)
        try await body(contract)
    }

    static let registerRules: [(String, @Sendable (RegisterStoreContract) async throws -> Void)] = [
        ("topic", { try await $0.`a topic belongs to one team`() }),
        ("key", { try await $0.`a key id is given once`() }),
        ("device", { try await $0.`a device id is given once`() }),
        ("registration", { try await $0.`a registration keeps its generation until it has ended`() }),
    ]

    @Test(arguments: registerRules.map(\.0))
    func `the register store's contract holds`(rule: String) async throws {
        let body = try #require(Self.registerRules.first { $0.0 == rule }?.1)
        try await body(RegisterStoreContract(store))
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

    @Test func `the landed schema is the one of its fixture`() throws {
        let fixture = URL(fileURLWithPath: #filePath).deletingLastPathComponent()
            .appendingPathComponent("../../Fixtures/server-schema/1.sql")
        let store = try SQLiteStore(path: folder.path("server.sqlite"))
        let schema = try store.pool.read { database in
            try String.fetchAll(
                database,
                sql: "SELECT sql FROM sqlite_schema WHERE sql IS NOT NULL AND name NOT LIKE 'grdb_%' ORDER BY name"
            ).joined(separator: ";\n") + ";\n"
        }
        #expect(try String(contentsOf: fixture, encoding: .utf8) == schema)
        try store.close()
    }
}
