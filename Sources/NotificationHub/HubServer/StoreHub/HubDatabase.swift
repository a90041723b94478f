import HubProtocol
import PushCore
import PushServer
import SQLiteStore
import Synchronization

/// The hubs' store: in one SQLite file, separate from the server's own, or in the PostgreSQL database of several servers.
///
/// Changes of a hub's installations and of its sends' progress are made one after the other, also by several servers: each locks
/// the row of the hub.
package final class HubDatabase: HubStore {
    let database: any SQLDatabase
    /// Whether the database can be used.
    package let health: DatabaseHealth
    /// Whether other servers use the database too.
    package let isShared: Bool
    /// The audiences of the waves of sends that had a turn lately, by the sends' numbers.
    let waveAudiences = Mutex<[Int64: (wave: SendWave, audience: Bitmap)]>([:])
    static let mostWaveAudiences = 16
    /// The cached audiences of recently used parts, with their counts, by the parts' numbers.
    let partAudiences = Mutex<[Int64: (count: Int?, audience: Bitmap)]>([:])
    static let mostPartAudiences = 64

    /// Opens (or makes) the database in a file and brings its schema up to date.
    ///
    /// - Parameters:
    ///   - path: Its folder must exist. The file is made readable by its owner alone.
    ///   - health: Notes damage that is met later; `nil` for one of its own.
    /// - Throws: ``DatabaseFault``.
    package init(path: String, health: DatabaseHealth? = nil) throws {
        let health = health ?? DatabaseHealth(.hub, path: path)
        database = try SQLiteDatabase(.hub, path: path, migrator: HubSchema.migrator, health: health)
        self.health = health
        isShared = false
    }

    /// Uses the tables of a database that other servers may use too.
    package init(in database: any SQLDatabase) {
        self.database = database
        health = DatabaseHealth(.hub, path: "")
        isShared = true
    }

    /// Stands in the place of a database that cannot be opened: every call throws the fault that its health has.
    package init(unopened health: DatabaseHealth) {
        database = SQLiteDatabase(unopened: health)
        self.health = health
        isShared = false
    }

    /// An inspection of a file of this store's.
    package static func inspection(path: String) -> DatabaseInspection {
        DatabaseInspection(.hub, path: path, migrator: HubSchema.migrator)
    }

    /// Closes a database of its own. That of several servers is closed with their store.
    package func close() throws { if !isShared { try database.close() } }

    /// Lets the other servers wait that change the same hub.
    static func lock(hub: Int64, _ sql: any SQLConnection) throws {
        if sql.isShared { _ = try sql.rows("SELECT 1 AS one FROM hub WHERE number = ? FOR NO KEY UPDATE", hub) }
    }

    /// Lets the other servers wait that change the hub of a send.
    static func lockHub(ofSend send: Int64, _ sql: any SQLConnection) throws {
        guard sql.isShared, let row = try sql.row("SELECT hub FROM send WHERE number = ?", send) else { return }
        try lock(hub: row["hub"], sql)
    }

    /// Makes a change of a send in one transaction.
    func change<Result: Sendable>(
        send: Int64, _ body: @escaping @Sendable (any SQLConnection) throws -> Result
    ) async throws -> Result {
        try await database.write { sql in
            try Self.lockHub(ofSend: send, sql)
            return try body(sql)
        }
    }

    /// Reads a backend key's hub.
    package func backendKey(hash: [UInt8]) async throws -> (HubRecord, String)? {
        try await database.read { sql in
            try sql.row(
                "SELECT hub.*, backend_key.name AS key FROM backend_key JOIN hub ON hub.number = hub WHERE hash = ?",
                hash
            ).map { (try HubRecord($0), try $0["key"]) }
        }
    }

    /// Finds a hub by its unique name.
    package func hub(named name: String) async throws -> HubRecord? {
        try await database.read { sql in
            try sql.row("SELECT * FROM hub WHERE lower(name) = lower(?)", name).map { try HubRecord($0) }
        }
    }

    /// Reads all rows.
    package func hubs() async throws -> [HubRecord] {
        try await database.read { try $0.rows("SELECT * FROM hub ORDER BY lower(name)").map { try HubRecord($0) } }
    }

    /// Reads the hub's keys for Azure's data plane.
    package func keys(of hub: Int64) async throws -> [HubKey] {
        try await database.read { sql in
            try sql.rows("SELECT * FROM hub_key WHERE hub = ? ORDER BY name", hub).map { row in
                HubKey(
                    name: try row["name"], rights: HubRights(text: try row["rights"]) ?? [],
                    primary: try row["primary_key"], secondary: try row["secondary_key"],
                    createdAt: try row["created_at"])
            }
        }
    }

    /// Takes the right to do some work; always, where no other server uses the database.
    package func claim(_ claim: SQLClaim) async throws -> Bool { try await database.claim(claim) }
    /// Gives the right back.
    package func release(_ claim: SQLClaim) async { await database.release(claim) }
    /// The claims of a kind that servers have now.
    package func claims(_ kind: SQLClaim.Kind) async throws -> [SQLClaim] { try await database.claims(kind) }
}

/// Changes of audiences, and their copies in memory.
extension HubDatabase {
    /// Makes changes of a hub's installations in one transaction; `committed` receives its changes after the commit.
    func change<Result: Sendable>(
        hub: Int64, _ committed: @escaping Committed,
        _ body: @escaping @Sendable (any SQLConnection, inout [AudienceChange]) throws -> Result
    ) async throws -> Result {
        try await database.write { sql in
            try Self.lock(hub: hub, sql)
            var changes: [AudienceChange] = []
            let result = try body(sql, &changes)
            return (result, try AudienceLog.record(changes, hub: hub, sql))
        } committed: { (_, commits) in
            committed(commits)
        }.0
    }

    /// Reads the log.
    package func audienceCommits(of hub: Int64, after version: Int64, limit: Int) async throws -> [AudienceCommit] {
        try await database.read { try AudienceLog.commits(of: hub, after: version, limit: limit, $0) }
    }

    /// Reads the log. Blocks.
    package func readCommits(of hub: Int64, after version: Int64, limit: Int) throws -> [AudienceCommit] {
        try database.readBlocking { try AudienceLog.commits(of: hub, after: version, limit: limit, $0) }
    }

    /// The installations that are read at once.
    private static let page = 10_000

    /// Reads the columns by which audiences are selected, not the documents.
    package func audience(
        of hub: Int64, _ body: @escaping @Sendable (AudienceEntry) -> Void
    ) async throws -> (generation: Int64, version: Int64) {
        try await database.read { sql in
            guard let row = try sql.row("SELECT generation, version FROM hub WHERE number = ?", hub) else {
                return (0, 0)
            }
            var last: Int64 = -1
            while true {
                let rows = try sql.rows(
                    """
                    SELECT number, platform, tags, template_tags, locale, country, app_version, time_zone, "user", id,
                        updated_at, seen_at, substr(channel, 1, length(id) + 1) = id || ' ' AS is_registration
                    FROM installation WHERE hub = ? AND channel IS NOT NULL AND fault IS NULL AND number > ?
                    ORDER BY number LIMIT ?
                    """, hub, last, Self.page)
                for row in rows { if let entry = try AudienceEntry(row) { body(entry) } }
                guard rows.count == Self.page, let end = rows.last else { break }
                last = try end["number"]
            }
            return (try row["generation"], try row["version"])
        }
    }
}

extension HubRecord {
    init(_ row: any SQLRow) throws {
        self.init(
            number: try row["number"], name: try row["name"], team: try row["team"], topic: try row["topic"],
            isStrict: try row["is_strict"], createdAt: try row["created_at"],
            generation: try row["generation"], version: try row["version"],
            limits: HubLimits(
                installations: try row["most_installations"] ?? HubLimits.standardInstallations,
                tags: try row["most_tags"] ?? HubLimits.standardTags,
                writesPerSecond: try row["writes_per_second"] ?? HubLimits.standardWritesPerSecond),
            pictureKeys: (try row["picture_keys"] as String?).flatMap(PictureKey.list))
    }
}
