import AldabaTestSupport
import Foundation
import GRDB
import HubServer
import Logging
import RelayProtocol
import RelayServer
import SQLiteStore
import Synchronization
import Testing

/// Damage that is met while a database is used.
@Suite struct WatchedDatabaseTests {
    /// Counts what is noted.
    private final class Notes: Sendable {
        let faults = Mutex<[DatabaseFault]>([])
        var count: Int { faults.withLock { $0.count } }
        func health(_ database: ServerDatabase, _ path: String) -> DatabaseHealth {
            DatabaseHealth(database, path: path) { fault in self.faults.withLock { $0.append(fault) } }
        }
    }

    @Test func `damage that an access meets is noted once, and the file is not touched any more`() async throws {
        let files = try await DatabaseFiles(.hub)
        // The damage is in a table that opening the database does not read.
        try files.flip(try files.page(of: "hub_key"))
        let notes = Notes()
        let hub = try HubDatabase(path: files.path, health: notes.health(.hub, files.path))
        let records = try await hub.hubs()
        #expect(records.count == 10 && notes.count == 0)
        let waiting = Task { await hub.health.waitForFault() }
        for _ in 0..<5 {
            await #expect(throws: DatabaseFault.self) { try await hub.keys(of: records[0].number) }
        }
        #expect(notes.count == 1)
        await waiting.value
        await #expect(throws: DatabaseFault.self, "what could be read is not read either") { try await hub.hubs() }
        let before = try Data(contentsOf: URL(filePath: files.path))
        try hub.close()
        #expect(try Data(contentsOf: URL(filePath: files.path)) == before)
    }

    @Test func `an error that is no damage is passed on and forgotten`() async throws {
        let files = try await DatabaseFiles(.hub)
        let health = DatabaseHealth(.hub, path: files.path)
        let database = WatchedDatabase(try DatabaseQueue(path: files.path), health)
        await #expect(throws: DatabaseError.self) {
            try await database.write { try $0.execute(sql: "DELETE FROM nowhere") }
        }
        #expect(health.fault == nil)
        let count = try await database.read { try Int.fetchOne($0, sql: "SELECT count(*) FROM hub") }
        #expect(count == 10)
    }

    @Test func `a database that was never opened throws its fault, and keeps nothing`() async throws {
        let health = DatabaseHealth(.hub, path: "/nowhere/hub.sqlite")
        health.recordFault(.missing)
        health.recordFault(.damaged("later"))
        let hub = HubDatabase(unopened: health)
        await #expect(throws: DatabaseFault(.hub, path: "/nowhere/hub.sqlite", .missing)) { try await hub.hubs() }
        await #expect(throws: DatabaseFault.self) { try await hub.removeKey("a", of: 1) }
        #expect(throws: DatabaseFault.self) { try hub.openLists([1]) }
        await hub.health.waitForFault()
        try hub.close()

        let relayHealth = DatabaseHealth(.relay, path: "/nowhere/relay.sqlite")
        relayHealth.recordFault(.empty)
        let relay = RelayDatabase(unopened: relayHealth, logger: Logger(label: "test"))
        #expect(throws: DatabaseFault.self) { try relay.devices(of: [7]) }
        relay.delete("1")
        let wasKept = await withCheckedContinuation { told in
            relay.remove(QueuedMessageKey(sender: "1", id: UUID()), for: "2") { told.resume(returning: $0) }
        }
        #expect(wasKept == nil)
        try relay.close()
    }
}
