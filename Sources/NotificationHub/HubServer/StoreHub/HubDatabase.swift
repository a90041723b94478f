import Foundation
import GRDB
import HubProtocol
import PushCore
import SQLiteStore
import Synchronization

/// The hubs' store in one SQLite file, separate from the server's own.
package final class HubDatabase: HubStore {
    let pool: WatchedDatabase<DatabasePool>
    /// Reads who is in lists, for the writer of mailboxes: it waits for no report.
    let listReader: WatchedDatabase<DatabaseQueue>
    /// The audiences of the waves of sends that had a turn lately, by the sends' numbers.
    let waveAudiences = Mutex<[Int64: (wave: SendBatch, audience: Bitmap)]>([:])
    static let mostWaveAudiences = 16
    /// The cached audiences of recently used parts, with their counts, by the parts' numbers.
    let partAudiences = Mutex<[Int64: (count: Int?, audience: Bitmap)]>([:])
    static let mostPartAudiences = 64

    /// Opens (or makes) the database and brings its schema up to date.
    ///
    /// - Parameters:
    ///   - path: Its folder must exist. The file is made readable by its owner alone.
    ///   - health: Notes damage that is met later; `nil` for one of its own.
    /// - Throws: ``DatabaseFault``.
    package init(path: String, health: DatabaseHealth? = nil) throws {
        let health = health ?? DatabaseHealth(.hub, path: path)
        try ServerDatabase.hub.makeFile(at: path)
        var configuration = Configuration()
        configuration.busyMode = .timeout(10)
        configuration.maximumReaderCount = 4
        configuration.foreignKeysEnabled = true
        configuration.prepareDatabase { try $0.execute(sql: "PRAGMA cache_size = -32768") }
        do {
            let pool = try DatabasePool(path: path, configuration: configuration)
            // GRDB sets NORMAL on the writer after the preparation above: FULL only holds when set from here.
            try pool.writeWithoutTransaction { database in
                try database.execute(sql: "PRAGMA synchronous = FULL; PRAGMA wal_autocheckpoint = 10000")
            }
            guard try !pool.read(HubSchema.migrator.hasBeenSuperseded) else {
                throw DatabaseFault(.hub, path: path, .newer)
            }
            try HubSchema.migrator.migrate(pool)
            var reading = Configuration()
            reading.readonly = true
            reading.busyMode = .timeout(10)
            reading.prepareDatabase { try $0.execute(sql: "PRAGMA cache_size = -32768") }
            self.pool = WatchedDatabase(pool, health)
            listReader = WatchedDatabase(try DatabaseQueue(path: path, configuration: reading), health)
        } catch { throw DatabaseFault(.hub, opening: path, error) }
    }

    /// Stands in the place of a database that cannot be opened: every call throws the fault that its health has.
    package init(unopened health: DatabaseHealth) {
        pool = WatchedDatabase(unopened: health)
        listReader = WatchedDatabase(unopened: health)
    }

    /// An inspection of a file of this store's.
    package static func inspection(path: String) -> DatabaseInspection {
        DatabaseInspection(.hub, path: path, migrator: HubSchema.migrator)
    }

    /// Whether the database can be used.
    package var health: DatabaseHealth { pool.health }

    /// Copies what the log holds into the database file and closes everything. A file that was found damaged stays as it is.
    package func close() throws {
        guard health.fault == nil else { return }
        try listReader.sound().close()
        try pool.close()
    }

    /// Makes a change in one transaction; `committed` receives its changes on the writer's queue after the commit.
    func change<Result: Sendable>(
        _ committed: @escaping Committed,
        _ body: @escaping @Sendable (Database, inout [AudienceChange]) throws -> Result
    ) async throws -> Result {
        try await pool.writeWithoutTransaction { database in
            var changes: [AudienceChange] = []
            var result: Result?
            try database.inTransaction(.immediate) {
                result = try body(database, &changes)
                return .commit
            }
            committed(changes)
            guard let result else { throw DatabaseError(resultCode: .SQLITE_INTERNAL) }
            return result
        }
    }

    /// Reads a backend key's hub.
    package func backendKey(hash: [UInt8]) async throws -> (HubRecord, String)? {
        try await pool.read { database in
            let row = try Row.fetchOne(
                database,
                sql:
                    "SELECT hub.*, backend_key.name AS key FROM backend_key JOIN hub ON hub.number = hub WHERE hash = ?",
                arguments: [Data(hash)])
            return row.map { (HubRecord($0), $0["key"]) }
        }
    }

    /// Finds a hub by its unique name.
    package func hub(named name: String) async throws -> HubRecord? {
        try await pool.read { database in
            try Row.fetchOne(database, sql: "SELECT * FROM hub WHERE name = ?", arguments: [name]).map(HubRecord.init)
        }
    }

    /// Reads all rows.
    package func hubs() async throws -> [HubRecord] {
        try await pool.read { try Row.fetchAll($0, sql: "SELECT * FROM hub ORDER BY name").map(HubRecord.init) }
    }

    /// Reads the hub's keys for Azure's data plane.
    package func keys(of hub: Int64) async throws -> [HubKey] {
        try await pool.read { database in
            try Row.fetchAll(database, sql: "SELECT * FROM hub_key WHERE hub = ? ORDER BY name", arguments: [hub])
                .map { row in
                    HubKey(
                        name: row["name"], rights: HubRights(text: row["rights"]) ?? [], primary: row["primary_key"],
                        secondary: row["secondary_key"], createdAt: Timestamp(rawValue: row["created_at"]))
                }
        }
    }

    /// Adds a hub with its first keys; `nil` where the name is taken.
    package func addHub(
        name: String, team: TeamID, topic: Topic, isStrict: Bool, keys: [HubKey], at now: Timestamp
    ) async throws -> HubRecord? {
        try await pool.write { database in
            guard try Row.fetchOne(database, sql: "SELECT 1 FROM hub WHERE name = ?", arguments: [name]) == nil else {
                return nil
            }
            try database.execute(
                sql: "INSERT INTO hub(name, team, topic, is_strict, created_at) VALUES (?, ?, ?, ?, ?)",
                arguments: [name, team.rawValue, topic.rawValue, isStrict, now.rawValue])
            let hub = HubRecord(
                number: database.lastInsertedRowID, name: name, team: team, topic: topic, isStrict: isStrict,
                createdAt: now)
            for key in keys { try Self.write(key, of: hub.number, database) }
            return hub
        }
    }

    /// Adds a key to a hub, replacing one with the same name.
    package func setKey(_ key: HubKey, of hub: Int64) async throws {
        try await pool.write { try Self.write(key, of: hub, $0) }
    }

    private static func write(_ key: HubKey, of hub: Int64, _ database: Database) throws {
        try database.execute(
            sql: """
                INSERT OR REPLACE INTO hub_key(hub, name, rights, primary_key, secondary_key, created_at)
                VALUES (?, ?, ?, ?, ?, ?)
                """,
            arguments: [hub, key.name, key.rights.text, key.primary, key.secondary, key.createdAt.rawValue])
    }

    /// Removes a key of a hub, of any kind; returns whether it existed.
    package func removeKey(_ name: String, of hub: Int64) async throws -> Bool {
        try await pool.write { database in
            try database.execute(sql: "DELETE FROM hub_key WHERE hub = ? AND name = ?", arguments: [hub, name])
            var count = database.changesCount
            try database.execute(sql: "DELETE FROM backend_key WHERE hub = ? AND name = ?", arguments: [hub, name])
            count += database.changesCount
            try database.execute(sql: "DELETE FROM api_key WHERE hub = ? AND name = ?", arguments: [hub, name])
            count += database.changesCount
            return count > 0
        }
    }

    /// The names of a hub's keys for backends.
    package func backendKeys(of hub: Int64) async throws -> [String] {
        try await pool.read { database in
            try String.fetchAll(
                database, sql: "SELECT name FROM backend_key WHERE hub = ? ORDER BY name", arguments: [hub])
        }
    }

    /// Adds a backend's key, of which only the hash is stored, replacing one with the same name.
    package func addBackendKey(name: String, hash: [UInt8], of hub: Int64, at now: Timestamp) async throws {
        try await pool.write { database in
            try database.execute(sql: "DELETE FROM backend_key WHERE hub = ? AND name = ?", arguments: [hub, name])
            try database.execute(
                sql: "INSERT INTO backend_key(hash, hub, name, created_at) VALUES (?, ?, ?, ?)",
                arguments: [Data(hash), hub, name, now.rawValue])
        }
    }
}

extension HubRecord {
    init(_ row: Row) {
        self.init(
            number: row["number"], name: row["name"], team: TeamID(rawValue: row["team"]),
            topic: Topic(rawValue: row["topic"]), isStrict: row["is_strict"],
            createdAt: Timestamp(rawValue: row["created_at"]), generation: row["generation"],
            limits: HubLimits(
                installations: row["most_installations"] ?? HubLimits.standardInstallations,
                tags: row["most_tags"] ?? HubLimits.standardTags,
                writesPerSecond: row["writes_per_second"] ?? HubLimits.standardWritesPerSecond),
            pictureKeys: (row["picture_keys"] as String?).flatMap(PictureKey.list))
    }
}

extension HubDatabase {
    /// Gives a hub other quotas; the server judges the next request by them.
    package func setLimits(_ limits: HubLimits, of hub: Int64) async throws {
        try await pool.write { database in
            try database.execute(
                sql: "UPDATE hub SET most_installations = ?, most_tags = ?, writes_per_second = ? WHERE number = ?",
                arguments: [limits.installations, limits.tags, limits.writesPerSecond, hub])
        }
    }

    /// Sets the members of payloads in which the app's extensions find pictures, from the next campaign on.
    package func setPictureKeys(_ keys: [PictureKey]?, of hub: Int64) async throws {
        try await pool.write { database in
            try database.execute(
                sql: "UPDATE hub SET picture_keys = ? WHERE number = ?",
                arguments: [keys?.map(\.rawValue).joined(separator: ","), hub])
        }
    }

    /// The number of a hub's installations, and the bytes that their documents take.
    package func size(of hub: Int64) async throws -> (installations: Int, documentBytes: Int) {
        try await pool.read { database in
            let row = try Row.fetchOne(
                database, sql: "SELECT installations, document_bytes FROM hub WHERE number = ?", arguments: [hub])
            return (row?["installations"] ?? 0, row?["document_bytes"] ?? 0)
        }
    }
}
