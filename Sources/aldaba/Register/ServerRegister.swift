import AldabaConfiguration
import Foundation
import PushCore
import PushServer
import SQLiteStore

/// The server's register of apps and keys, opened by commands beside a server that may be running.
package enum ServerRegister {
    /// Opens the register of a data folder for as long as the body runs, and makes nothing.
    ///
    /// - Throws: ``CommandError`` when the folder has no register.
    package static func reading<Result>(
        _ folder: DataFolder, _ body: (any ServerStoreRegister) async throws -> Result
    ) async throws -> Result {
        try await readingStore(folder) { try await body($0.register) }
    }

    /// Opens the whole store of a data folder as ``reading(_:_:)`` opens its register.
    static func readingStore<Result>(
        _ folder: DataFolder, _ body: (any ServerStore) async throws -> Result
    ) async throws -> Result {
        if try FolderStore.address(in: folder) == nil { try KnownDatabases(folder).requireNotLost(.server) }
        guard try FolderStore.isThere(in: folder) else { throw isNoServers(folder) }
        return try await open(folder, body)
    }

    static func isNoServers(_ folder: DataFolder) -> CommandError {
        CommandError(
            .invalidInput,
            "\(folder.root) is no server's data folder; name one with --data, or begin one with `aldaba up`")
    }

    /// Opens the register of a data folder for as long as the body runs; makes both where there never was one.
    ///
    /// - Throws: ``DatabaseFault`` where the folder has lost its register.
    package static func withRegister<Result>(
        _ folder: DataFolder, _ body: (any ServerStoreRegister) async throws -> Result
    ) async throws -> Result {
        try await withStore(folder) { try await body($0.register) }
    }

    /// Opens the whole store of a data folder as ``withRegister(_:_:)`` opens its register.
    static func withStore<Result>(
        _ folder: DataFolder, _ body: (any ServerStore) async throws -> Result
    ) async throws -> Result {
        try folder.make()
        return try await open(folder, body)
    }

    private static func open<Result>(
        _ folder: DataFolder, _ body: (any ServerStore) async throws -> Result
    ) async throws -> Result {
        let address = try FolderStore.address(in: folder)
        let store = try FolderStore.open(folder)
        do {
            let result = try await body(store)
            try store.close()
            guard try FolderStore.address(in: folder) == address else {
                throw CommandError(
                    .failed, "the data of \(folder.root) moved to another database meanwhile; repeat the command")
            }
            return result
        } catch let refusal as RegisterError {
            try? store.close()
            throw CommandError(.failed, "\(refusal); choose another")
        } catch {
            try? store.close()
            throw error
        }
    }

    /// Makes a key: the private half into the folder, the public half into the register.
    package static func addKey(
        team: TeamID, folder: DataFolder, store: any ServerStoreRegister
    ) async throws -> (KeyRing.Entry, KeyRing) {
        let ring = KeyRing(folder: folder.keys)
        let file = ProviderKeyFile.make()
        let now = presentTime()
        try await register(file, team: team, at: now, store: store)
        return (try ring.add(file, team: team, at: now), ring)
    }

    /// Takes a key that was made elsewhere. The same key of the same team again changes nothing, but for a ring that
    /// lacks it.
    ///
    /// - Throws: ``CommandError`` when the id is another key's or another team's, or was revoked.
    static func importKey(
        _ file: ProviderKeyFile, team: TeamID, ring: KeyRing?, store: any ServerStoreRegister
    ) async throws {
        let known = try await store.providerKeys().first { $0.keyID == file.keyID }
        if let known {
            guard known.team == team, known.publicKeyPEM == file.key.publicKey.pemRepresentation else {
                throw CommandError(
                    .invalidInput,
                    "the register has another key \(file.keyID), of team \(known.team); a key's id is given once")
            }
        } else {
            do { try await register(file, team: team, at: presentTime(), store: store) } catch RegisterError.keyIDTaken
            {
                throw CommandError(
                    .invalidInput, "the key \(file.keyID) was revoked here, and a revoked key does not come back")
            }
        }
        guard let ring, try ring.entry(keyID: file.keyID.rawValue) == nil else { return }
        _ = try ring.add(file, team: team, at: presentTime())
    }

    private static func register(
        _ file: ProviderKeyFile, team: TeamID, at now: Timestamp, store: any ServerStoreRegister
    ) async throws {
        try await store.addProviderKey(
            ProviderKey(
                keyID: file.keyID, team: team, publicKeyPEM: file.key.publicKey.pemRepresentation, createdAt: now))
    }

    /// Makes sure that the demo app and a key of its team are there.
    ///
    /// - Returns: The key that signs for the demo app's team.
    package static func ensureDemo(_ folder: DataFolder) async throws -> KeyRing.Entry {
        try await withStore(folder) { whole in
            let store = whole.register
            if try await !store.apps().contains(where: { $0.topic == DemoApp.topic }) {
                _ = try await audited(
                    AuditChange(.addApp, DemoApp.topic.rawValue, team: DemoApp.team.rawValue), in: whole,
                    after: { AuditedObject(AppCommand.Shown($0)) }
                ) {
                    try await store.addApp(
                        topic: DemoApp.topic, team: DemoApp.team, policy: MailboxPolicy(limit: 10_000),
                        at: presentTime())
                }
            }
            let known = try await store.providerKeys()
            let usable = try KeyRing(folder: folder.keys).usable(team: DemoApp.team)
            let registered = usable.first { key in
                known.contains {
                    $0.keyID == key.entry.keyID && $0.team == key.entry.team
                        && $0.publicKeyPEM == key.file.key.publicKey.pemRepresentation
                }
            }
            if let registered { return registered.entry }
            // The register was begun anew beside keys that were kept: they sign as before.
            if let kept = usable.first(where: { key in !known.contains { $0.keyID == key.entry.keyID } }) {
                let change = AuditChange(.importKey, kept.entry.keyId, team: DemoApp.team.rawValue)
                try await audited(change, in: whole) {
                    try await register(kept.file, team: DemoApp.team, at: presentTime(), store: store)
                }
                return kept.entry
            }
            return try await audited(
                AuditChange(.addKey, "", team: DemoApp.team.rawValue), in: whole,
                after: { AuditedObject(name: $0.keyId) }
            ) { try await addKey(team: DemoApp.team, folder: folder, store: store).0 }
        }
    }
}
