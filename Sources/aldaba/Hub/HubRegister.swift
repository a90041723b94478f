import AldabaConfiguration
import Foundation
import HubServer
import PushCore
import PushServer
import SQLiteStore

/// The hubs of a data folder, opened by commands beside a server that may be running.
package enum HubRegister {
    /// Opens the hubs' database for as long as the body runs; makes it where a server's data folder has none yet.
    ///
    /// - Throws: ``CommandError`` where the folder is no server's; ``DatabaseFault`` where its hubs were lost.
    package static func withDatabase<Result>(
        _ folder: DataFolder, _ body: (HubDatabase) async throws -> Result
    ) async throws -> Result {
        guard try FolderStore.isThere(in: folder) else { throw ServerRegister.isNoServers(folder) }
        if let address = try FolderStore.address(in: folder) {
            let store = try FolderStore.open(address, as: .command)
            let result = try await body(HubDatabase(in: store.hubs))
            try store.close()
            return result
        }
        let known = KnownDatabases(folder)
        try known.requireNotLost(.hub)
        let database = try HubDatabase(path: folder.hubDatabase)
        try known.add(.hub)
        do {
            let result = try await body(database)
            try database.close()
            // What waited for the end of a move has changed the file that was moved.
            guard try FolderStore.address(in: folder) == nil else {
                throw CommandError(.failed, "the data has moved to PostgreSQL meanwhile; do it again")
            }
            return result
        } catch {
            try? database.close()
            throw error
        }
    }

    /// Changes the hubs' database, with an entry in the audit log around the change; a server that runs logs it at once.
    ///
    /// - Parameters:
    ///   - hub: The hub's name.
    ///   - before: Reads the object before the change.
    ///   - after: Describes the object by the result of the change.
    /// - Throws: ``CommandError`` where the entry cannot be written; nothing is changed then.
    static func changing<Result>(
        _ folder: DataFolder, _ action: AuditAction, hub: String, object: String? = nil,
        before: (HubDatabase) async throws -> AuditedObject? = { _ in nil },
        after: (Result) -> AuditedObject? = { _ in nil }, _ body: (HubDatabase) async throws -> Result
    ) async throws -> Result {
        let result = try await ServerRegister.readingStore(folder) { store in
            try await withDatabase(folder) { database in
                let team = try await database.hub(named: hub)?.team.rawValue
                let change = AuditChange(action, object.map { "\(hub)/\($0)" } ?? hub, team: team)
                return try await ServerRegister.audited(
                    change, in: store, before: before(database), after: after
                ) { try await body(database) }
            }
        }
        // The change is made and logged; without this notice the server sees it half a minute later.
        if try FolderStore.address(in: folder) == nil {
            try? SQLiteRegister.noteChange(besideDatabase: folder.database)
        }
        return result
    }

    /// Makes sure that the demo app's hub is there.
    ///
    /// - Returns: The hub's key with every right; made anew where it was removed.
    package static func ensureDemo(_ folder: DataFolder) async throws -> HubKey {
        let full: HubRights = [.listen, .send, .manage]
        func known() async throws -> (hub: HubRecord?, key: HubKey?) {
            try await withDatabase(folder) { database in
                guard let hub = try await database.hub(named: DemoApp.hub) else { return (nil, nil) }
                return (hub, try await database.keys(of: hub.number).first { $0.rights == full })
            }
        }
        if try await known().hub == nil {
            _ = try await changing(folder, .addHub, hub: DemoApp.hub) { database in
                try await database.addHub(
                    name: DemoApp.hub, team: DemoApp.team, topic: DemoApp.topic, isStrict: false,
                    keys: HubKey.first(at: presentTime()), at: presentTime())
            }
        }
        let (hub, key) = try await known()
        guard let hub else { throw CommandError(.failed, "the hub \(DemoApp.hub) cannot be made") }
        if let key { return key }
        let made = HubKey.make(name: HubKey.fullName, rights: full, at: presentTime())
        try await changing(folder, .addHubKey, hub: DemoApp.hub, object: made.name) { database in
            try await database.setKey(made, of: hub.number)
        }
        return made
    }
}
