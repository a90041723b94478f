import CommandCore
import Mailbox
import PushModel
import ServerCore
import StoreSQLite

/// The server's register of apps and keys, opened by commands beside a server that may be running.
enum ServerRegister {
    /// Opens the register of a data folder for as long as the body runs.
    static func withStore<Result>(
        _ folder: DataFolder, _ body: (SQLiteStore) async throws -> Result
    ) async throws -> Result {
        try folder.make()
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
        try await store.addProviderKey(
            ProviderKey(
                keyID: file.keyID, team: team, publicKeyPEM: file.key.publicKey.pemRepresentation, createdAt: now))
        return (try ring.add(file, team: team, at: now), ring)
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
            let known = Set(try await store.providerKeys().map(\.keyID))
            let ring = KeyRing(folder: folder.keys)
            if let entry = try ring.entry(team: DemoApp.team.rawValue), known.contains(entry.keyId) { return entry }
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
