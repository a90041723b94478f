import CommandCore
import Foundation
import Mailbox
import PushModel
import ServerCore
import StoreSQLite

/// The server's register of apps and keys, opened by commands beside a server that may be running.
enum ServerRegister {
    /// Opens the register of a data folder for as long as the body runs, and makes nothing.
    ///
    /// - Throws: ``CommandFailure`` when the folder has no register.
    static func reading<Result>(
        _ folder: DataFolder, _ body: (SQLiteStore) async throws -> Result
    ) async throws -> Result {
        guard FileManager.default.fileExists(atPath: folder.database) else {
            throw CommandFailure(
                .invalidInput,
                "\(folder.root) is no server's data folder; name one with --data, or begin one with `aldaba up`")
        }
        return try await open(folder, body)
    }

    /// Opens the register of a data folder for as long as the body runs; makes both where they are missing.
    static func withStore<Result>(
        _ folder: DataFolder, _ body: (SQLiteStore) async throws -> Result
    ) async throws -> Result {
        try folder.make()
        return try await open(folder, body)
    }

    private static func open<Result>(
        _ folder: DataFolder, _ body: (SQLiteStore) async throws -> Result
    ) async throws -> Result {
        let store = try SQLiteStore(path: folder.database)
        do {
            let result = try await body(store)
            try store.close()
            return result
        } catch let refusal as RegisterError {
            try? store.close()
            throw CommandFailure(.failed, "\(refusal); choose another")
        } catch {
            try? store.close()
            throw error
        }
    }

    /// Makes a key: the private half into the folder, the public half into the register.
    static func addKey(
        team: TeamID, folder: DataFolder, store: SQLiteStore
    ) async throws -> (KeyRing.Entry, KeyRing) {
        let ring = KeyRing(folder: folder.keys)
        let file = ProviderKeyFile.make()
        let now = presentTime()
        try await register(file, team: team, at: now, store: store)
        return (try ring.add(file, team: team, at: now), ring)
    }

    private static func register(
        _ file: ProviderKeyFile, team: TeamID, at now: Timestamp, store: SQLiteStore
    ) async throws {
        try await store.addProviderKey(
            ProviderKey(
                keyID: file.keyID, team: team, publicKeyPEM: file.key.publicKey.pemRepresentation, createdAt: now))
    }

    /// Makes sure that the demo app and a key of its team are there.
    ///
    /// - Returns: The key that signs for the demo app's team.
    static func ensureDemo(_ folder: DataFolder) async throws -> KeyRing.Entry {
        try await withStore(folder) { store in
            if try await !store.apps().contains(where: { $0.topic == DemoApp.topic }) {
                _ = try await store.addApp(
                    topic: DemoApp.topic, team: DemoApp.team, policy: MailboxPolicy(limit: 10_000), at: presentTime())
            }
            let known = try await store.providerKeys()
            let usable = try KeyRing(folder: folder.keys).usable(team: DemoApp.team)
            let registered = usable.first { key in
                known.contains {
                    $0.keyID == key.entry.keyId && $0.team == key.entry.team
                        && $0.publicKeyPEM == key.file.key.publicKey.pemRepresentation
                }
            }
            if let registered { return registered.entry }
            // The register was begun anew beside keys that were kept: they sign as before.
            if let kept = usable.first(where: { key in !known.contains { $0.keyID == key.entry.keyId } }) {
                try await register(kept.file, team: DemoApp.team, at: presentTime(), store: store)
                return kept.entry
            }
            return try await addKey(team: DemoApp.team, folder: folder, store: store).0
        }
    }
}

/// The app that `up` brings along.
enum DemoApp {
    static let topic = Topic(rawValue: "com.example.todo")
    static let team = TeamID(rawValue: "ALDABADEMO")
    static let program = "TodoList"
}
