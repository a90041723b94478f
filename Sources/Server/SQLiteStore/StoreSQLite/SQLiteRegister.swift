import Foundation
import GRDB
import PushCore
import PushServer

/// The register in the server's database: apps, keys, certificates, teams, devices and their registrations.
///
/// Every process that has the database open sees the changes of the others by ``registerVersion``.
package struct SQLiteRegister: RegisterStore {
    let pool: WatchedDatabase<DatabasePool>
    /// Raised by every process that changes the register.
    let registerChanges: SharedCounter

    /// The counter in the file beside the database, which every process maps.
    package var registerVersion: UInt64 { registerChanges.current }

    /// Blocks the thread until ``registerVersion`` differs from a known one, for at most the given time in
    /// milliseconds.
    package func waitForRegisterChange(since version: UInt64, milliseconds: Int32) {
        registerChanges.wait(whileAt: version, milliseconds: milliseconds)
    }

    /// Raises the version of the register of a database, for a change that another database beside it has: servers look and log it.
    package static func noteChange(besideDatabase path: String) throws {
        try SharedCounter(path: path + "-register").raise()
    }

    /// The apps that were not removed, in the order of their ids.
    package func apps() async throws -> [RegisteredApp] {
        try await pool.read { database in
            try Row.fetchAll(database, sql: "SELECT * FROM app WHERE removed_at IS NULL ORDER BY id").map(Self.app)
        }
    }

    /// Changes the register and raises its version once the change is durable.
    func changeRegister<Result: Sendable>(
        _ body: @escaping @Sendable (Database) throws -> Result
    ) async throws -> Result {
        let result = try await pool.write(body)
        registerChanges.raise()
        return result
    }

    static func app(_ row: Row) -> RegisteredApp {
        RegisteredApp(
            id: AppID(column: row["id"]), topic: Topic(rawValue: row["topic"]), team: TeamID(rawValue: row["team"]),
            policy: MailboxPolicy(
                limit: row["mailbox_limit"], overflow: MailboxPolicy.Overflow(rawValue: row["overflow"]) ?? .dropOldest),
            name: row["name"], isPushEnabled: row["push_enabled"])
    }

    /// Adds an app, or restores a removed one of the same team under its id, with the new policy.
    ///
    /// - Throws: ``RegisterError`` when the topic is an app's, or was an app of another team, or SQLite's error.
    package func addApp(
        topic: Topic, team: TeamID, policy: MailboxPolicy, at now: Timestamp
    ) async throws -> RegisteredApp {
        try await changeRegister { database in
            let known = try Row.fetchOne(
                database, sql: "SELECT * FROM app WHERE topic = ?", arguments: [topic.rawValue])
            if let known {
                let owner = TeamID(rawValue: known["team"])
                guard known["removed_at"] != nil else { throw RegisterError.topicTaken(topic, by: owner) }
                guard owner == team else { throw RegisterError.topicKept(topic, for: owner) }
                try database.execute(
                    sql: """
                        UPDATE app SET mailbox_limit = ?, overflow = ?, removed_at = NULL, name = NULL, push_enabled = 1
                        WHERE id = ?
                        """, arguments: [policy.limit, policy.overflow.rawValue, known["id"] as Int64])
                return RegisteredApp(id: AppID(column: known["id"]), topic: topic, team: team, policy: policy)
            }
            try database.execute(
                sql: "INSERT INTO app(topic, team, mailbox_limit, overflow, created_at) VALUES(?, ?, ?, ?, ?)",
                arguments: [topic.rawValue, team.rawValue, policy.limit, policy.overflow.rawValue, now.rawValue])
            return RegisteredApp(
                id: AppID(column: database.lastInsertedRowID), topic: topic, team: team, policy: policy)
        }
    }

    /// Removes an app and ends its active registrations, in one transaction.
    package func removeApp(topic: Topic, at now: Timestamp) async throws -> RegisteredApp? {
        try await changeRegister { database in
            let found = try Row.fetchOne(
                database, sql: "SELECT * FROM app WHERE topic = ? AND removed_at IS NULL", arguments: [topic.rawValue])
            guard let app = found.map(Self.app) else { return nil }
            try database.execute(
                sql: """
                    UPDATE app SET removed_at = ? WHERE id = ?;
                    UPDATE registration SET ended_at = ? WHERE app = ? AND ended_at IS NULL;
                    DELETE FROM tombstone WHERE app = ?;
                    DELETE FROM encryption_key WHERE app = ?
                    """,
                arguments: [
                    now.rawValue, app.id.column, now.rawValue, app.id.column, app.id.column, app.id.column,
                ])
            return app
        }
    }

    /// The keys that were not revoked, the oldest first.
    package func providerKeys() async throws -> [ProviderKey] {
        try await pool.read { database in
            try Row.fetchAll(
                database, sql: "SELECT * FROM provider_key WHERE revoked_at IS NULL ORDER BY created_at, key_id"
            ).map(Self.key)
        }
    }

    private static func key(_ row: Row) -> ProviderKey {
        ProviderKey(
            keyID: KeyID(rawValue: row["key_id"]), team: TeamID(rawValue: row["team"]), publicKeyPEM: row["public_key"],
            createdAt: Timestamp(rawValue: row["created_at"]))
    }

    /// Revokes a key; its id stays taken.
    package func revokeProviderKey(_ keyID: KeyID, at now: Timestamp) async throws -> ProviderKey? {
        try await changeRegister { database in
            let found = try Row.fetchOne(
                database, sql: "SELECT * FROM provider_key WHERE key_id = ? AND revoked_at IS NULL",
                arguments: [keyID.rawValue])
            guard let key = found.map(Self.key) else { return nil }
            try database.execute(
                sql: "UPDATE provider_key SET revoked_at = ? WHERE key_id = ?",
                arguments: [now.rawValue, keyID.rawValue])
            return key
        }
    }

    /// Adds a key.
    ///
    /// - Throws: ``RegisterError/keyIDTaken(_:)``, also for the id of a revoked key; or SQLite's error.
    package func addProviderKey(_ key: ProviderKey) async throws {
        try await changeRegister { database in
            try database.execute(
                sql: "INSERT OR IGNORE INTO provider_key(key_id, team, public_key, created_at) VALUES(?, ?, ?, ?)",
                arguments: [key.keyID.rawValue, key.team.rawValue, key.publicKeyPEM, key.createdAt.rawValue])
            guard database.changesCount == 1 else { throw RegisterError.keyIDTaken(key.keyID) }
        }
    }

    /// Adds a device; `false` also if the id belongs to a revoked one.
    package func addDevice(_ device: DeviceID, secretHash: [UInt8], at now: Timestamp) async throws -> Bool {
        try await pool.write { database in
            try database.execute(
                sql: "INSERT OR IGNORE INTO device(id, secret_hash, enrolled_at) VALUES(?, ?, ?)",
                arguments: [device.column, Data(secretHash), now.rawValue])
            return database.changesCount == 1
        }
    }

    /// The hash that was given to ``addDevice(_:secretHash:at:)``.
    package func secretHash(of device: DeviceID) async throws -> [UInt8]? {
        try await pool.read { database in
            try Data.fetchOne(
                database,
                sql: "SELECT secret_hash FROM device WHERE id = ? AND revoked_at IS NULL AND blocked_at IS NULL",
                arguments: [device.column]
            ).map { Array($0) }
        }
    }

    /// Revokes a device and ends its active registrations, in one transaction.
    package func revokeDevice(_ device: DeviceID, at now: Timestamp) async throws -> Bool {
        try await changeRegister { database in
            try database.execute(
                sql: "UPDATE device SET revoked_at = ? WHERE id = ? AND revoked_at IS NULL",
                arguments: [now.rawValue, device.column])
            guard database.changesCount == 1 else { return false }
            try database.execute(
                sql: """
                    UPDATE registration SET ended_at = ? WHERE device = ? AND ended_at IS NULL;
                    DELETE FROM tombstone WHERE device = ?;
                    DELETE FROM recall WHERE device = ?;
                    DELETE FROM missed WHERE device = ?;
                    DELETE FROM encryption_key WHERE device = ?
                    """,
                arguments: [
                    now.rawValue, device.column, device.column, device.column, device.column, device.column,
                ])
            return true
        }
    }

    /// The devices that were revoked or blocked at or after the instant, in no order.
    package func devicesRevoked(since instant: Timestamp) async throws -> [DeviceID] {
        try await pool.read { database in
            try Int64.fetchAll(
                database,
                sql: """
                    SELECT id FROM device WHERE revoked_at IS NOT NULL AND revoked_at >= ?
                    UNION SELECT id FROM device WHERE blocked_at IS NOT NULL AND blocked_at >= ?
                    """,
                arguments: [instant.rawValue, instant.rawValue]
            ).compactMap(DeviceID.init(column:))
        }
    }
}
