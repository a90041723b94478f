import AldabaTestSupport
import Foundation
import GRDB
import HubProtocol
import HubServer
import Logging
import PushCore
import PushServer
import RelayProtocol
import RelayServer
import SQLiteStore

/// A database with rows, of each of the server's.
struct DatabaseFiles {
    let folder: TemporaryFolder
    let database: ServerDatabase
    let path: String
    /// The file's bytes when it was made.
    let good: Data

    static let pageSize = 4096
    /// A table with rows of each database, whose root page is a leaf.
    var table: String {
        switch database {
        case .server: "provider_key"
        case .hub: "hub"
        case .relay: "relay_device"
        }
    }

    var inspection: DatabaseInspection {
        switch database {
        case .server: SQLiteStore.inspection(path: path)
        case .hub: HubDatabase.inspection(path: path)
        case .relay: RelayDatabase.inspection(path: path)
        }
    }

    init(_ database: ServerDatabase) async throws {
        self.database = database
        folder = try TemporaryFolder()
        path = folder.path(database.fileName)
        switch database {
        case .server: try await Self.fillServer(path)
        case .hub: try await Self.fillHub(path)
        case .relay: try Self.fillRelay(path)
        }
        good = try Data(contentsOf: URL(filePath: path))
    }

    private static let moment = Timestamp(seconds: 1_780_272_000)

    private static func fillServer(_ path: String) async throws {
        let store = try SQLiteStore(path: path)
        for number in 1...20 {
            _ = try await store.register.addApp(
                topic: Topic(rawValue: "com.example.app\(number)"), team: TeamID(rawValue: "TEAM123456"),
                policy: MailboxPolicy(), at: moment)
        }
        for number in 10...20 {
            try await store.register.addProviderKey(
                ProviderKey(
                    keyID: KeyID(rawValue: "KEY12345\(number)"), team: TeamID(rawValue: "TEAM123456"),
                    publicKeyPEM: "pem",
                    createdAt: moment))
        }
        try store.close()
    }

    private static func fillHub(_ path: String) async throws {
        let hub = try HubDatabase(path: path)
        for number in 1...10 {
            _ = try await hub.addHub(
                name: "hub\(number)", team: TeamID(rawValue: "TEAM123456"), topic: Topic(rawValue: "com.example.todo"),
                isStrict: false,
                keys: [HubKey(name: "full", rights: [.send], primary: "a", secondary: "b", createdAt: moment)],
                at: moment)
        }
        try hub.close()
    }

    private static func fillRelay(_ path: String) throws {
        let relay = try RelayDatabase(path: path, logger: Logger(label: "test"))
        for number in 1...10 {
            relay.save(
                StoredDevice(
                    device: RelayDevice(id: "\(number)", name: "lamp", kind: "lamp"), seen: Int64(number)), of: [7])
        }
        try relay.close()
    }

    /// Where a table's root page begins in the file.
    func page(of table: String) throws -> Int {
        let queue = try DatabaseQueue(path: path)
        let page = try queue.read {
            try Int.fetchOne($0, sql: "SELECT rootpage FROM sqlite_schema WHERE name = ?", arguments: [table])
        }
        try queue.close()
        return ((page ?? 1) - 1) * Self.pageSize
    }

    /// Where some bytes of the file's first page are, which has the schema.
    func place(of text: String) -> Int? { good.range(of: Data(text.utf8)).map { $0.lowerBound } }

    /// Puts other bytes in the file's place, without a log.
    func write(_ bytes: Data) throws {
        for suffix in ["-wal", "-shm"] { try? FileManager.default.removeItem(atPath: path + suffix) }
        try bytes.write(to: URL(filePath: path))
    }

    func flip(_ place: Int, bits: UInt8 = 0xff) throws {
        var bytes = good
        bytes[place] ^= bits
        try write(bytes)
    }

    /// Opens the database and reads rows of several tables, as a server does.
    func open() async throws {
        switch database {
        case .server:
            let store = try SQLiteStore(path: path)
            _ = try await store.register.apps()
            _ = try await store.register.providerKeys()
            try store.close()
        case .hub:
            let hub = try HubDatabase(path: path)
            for record in try await hub.hubs() { _ = try await hub.keys(of: record.number) }
            try hub.close()
        case .relay:
            let relay = try RelayDatabase(path: path, logger: Logger(label: "test"))
            _ = try relay.devices(of: [7])
            try relay.close()
        }
    }
}
