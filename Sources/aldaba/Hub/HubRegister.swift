import AldabaConfiguration
import Foundation
import HubServer
import PushCore
import SQLiteStore

/// The hubs of a data folder, opened by commands beside a server that may be running.
package enum HubRegister {
    /// Opens the hubs' database for as long as the body runs; makes it where a server's data folder has none yet.
    ///
    /// - Throws: ``CommandError`` where the folder is no server's; ``DatabaseFault`` where its hubs were lost.
    package static func withDatabase<Result>(
        _ folder: DataFolder, _ body: (HubDatabase) async throws -> Result
    ) async throws -> Result {
        guard FileManager.default.fileExists(atPath: folder.database) else { throw ServerRegister.isNoServers(folder) }
        let known = KnownDatabases(folder)
        try known.requireNotLost(.hub)
        let database = try HubDatabase(path: folder.hubDatabase)
        try known.add(.hub)
        do {
            let result = try await body(database)
            try database.close()
            return result
        } catch {
            try? database.close()
            throw error
        }
    }

    /// Changes the hubs' database as ``withDatabase(_:_:)`` does; a server that runs logs the change at once.
    package static func change<Result>(
        _ folder: DataFolder, _ body: (HubDatabase) async throws -> Result
    ) async throws -> Result {
        let result = try await withDatabase(folder, body)
        // Without it the server sees the change at its next look, half a minute later.
        try? SQLiteRegister.noteChange(besideDatabase: folder.database)
        return result
    }

    /// A new key with two texts of 32 random bytes each.
    package static func makeKey(name: String, rights: HubRights) -> HubKey {
        HubKey(name: name, rights: rights, primary: secret(), secondary: secret(), createdAt: presentTime())
    }

    /// 32 random bytes in base 64.
    package static func secret() -> String {
        var generator = SystemRandomNumberGenerator()
        return Data((0..<32).map { _ in UInt8.random(in: .min ... .max, using: &generator) }).base64EncodedString()
    }

    /// The two keys that each hub begins with.
    package static func firstKeys() -> [HubKey] {
        [
            makeKey(name: HubKey.fullName, rights: [.listen, .send, .manage]),
            makeKey(name: HubKey.listenName, rights: .listen),
        ]
    }

    /// Makes sure that the demo app's hub is there.
    ///
    /// - Returns: The hub's key with every right; made anew where it was removed.
    package static func ensureDemo(_ folder: DataFolder) async throws -> HubKey {
        try await withDatabase(folder) { database in
            var hub = try await database.hub(named: DemoApp.hub)
            if hub == nil {
                hub = try await database.addHub(
                    name: DemoApp.hub, team: DemoApp.team, topic: DemoApp.topic, isStrict: false, keys: firstKeys(),
                    at: presentTime())
            }
            guard let hub else { throw CommandError(.failed, "the hub \(DemoApp.hub) cannot be made") }
            let full: HubRights = [.listen, .send, .manage]
            if let key = try await database.keys(of: hub.number).first(where: { $0.rights == full }) { return key }
            let key = makeKey(name: HubKey.fullName, rights: full)
            try await database.setKey(key, of: hub.number)
            return key
        }
    }
}
