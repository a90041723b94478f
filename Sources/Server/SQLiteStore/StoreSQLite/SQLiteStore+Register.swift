import Foundation
import GRDB
import PushCore
import PushServer

extension SQLiteStore: RegisterStore {
    /// The counter in the file beside the database, which every process maps.
    package var registerVersion: UInt64 { registerChanges.current }

    /// Blocks the thread until ``registerVersion`` differs from a known one, for at most the given time in
    /// milliseconds.
    package func waitForRegisterChange(since version: UInt64, milliseconds: Int32) {
        registerChanges.wait(whileAt: version, milliseconds: milliseconds)
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
                    DELETE FROM encryption_key WHERE device = ?
                    """,
                arguments: [now.rawValue, device.column, device.column, device.column, device.column])
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

    /// The registration in its newest generation.
    package func registration(
        device: DeviceID, app: AppID, environment: PushEnvironment
    ) async throws -> Registration? {
        try await pool.read { try Self.registration(device, app: app, environment: environment, database: $0) }
    }

    /// The registrations, read in one transaction.
    package func registrations(of subjects: [TokenSubject]) async throws -> [Registration?] {
        try await pool.read { database in
            try subjects.map {
                try Self.registration($0.device, app: $0.app, environment: $0.environment, database: database)
            }
        }
    }

    /// Reads each device's by the primary key.
    package func activeRegistrations(of devices: [DeviceID], cell: UInt16) async throws -> [TokenSubject] {
        try await pool.read { database in
            let statement = try database.cachedStatement(
                sql: "SELECT app, environment, generation FROM registration WHERE device = ? AND ended_at IS NULL")
            return try devices.flatMap { device in
                try Row.fetchAll(statement, arguments: [device.column]).compactMap { row in
                    UInt32(exactly: row[0] as Int64).map { app in
                        TokenSubject(
                            cell: cell, device: device, app: AppID(rawValue: app),
                            environment: PushEnvironment(column: row[1]),
                            generation: UInt16(truncatingIfNeeded: row[2] as Int64))
                    }
                }
            }
        }
    }

    private static func registration(
        _ device: DeviceID, app: AppID, environment: PushEnvironment, database: Database
    ) throws -> Registration? {
        try Row.fetchOne(
            database.cachedStatement(
                sql: """
                    SELECT generation, ended_at, previous_ended_at FROM registration
                    WHERE device = ? AND app = ? AND environment = ?
                    """), arguments: [device.column, app.column, environment.column]
        ).map { row in
            Registration(
                generation: UInt16(truncatingIfNeeded: row[0] as Int64),
                endedAt: (row[1] as Int64?).map(Timestamp.init(rawValue:)),
                previousEndedAt: (row[2] as Int64?).map(Timestamp.init(rawValue:)))
        }
    }

    /// Makes a registration active; the generation after 32767 is 0.
    package func register(
        device: DeviceID, app: AppID, environment: PushEnvironment, at now: Timestamp
    ) async throws -> Registration {
        try await pool.write { database in
            let known = try Self.registration(device, app: app, environment: environment, database: database)
            if let known, known.endedAt == nil { return known }
            // The 15 bits of a generation start over after 32768 renewals.
            let generation = known.map { ($0.generation &+ 1) & 0x7FFF } ?? 0
            try database.execute(
                sql: """
                    INSERT OR REPLACE INTO registration(
                        device, app, environment, generation, registered_at, previous_ended_at)
                    VALUES(?, ?, ?, ?, ?, ?)
                    """,
                arguments: [
                    device.column, app.column, environment.column, Int64(generation), now.rawValue,
                    known?.endedAt?.rawValue,
                ])
            return Registration(generation: generation, endedAt: nil, previousEndedAt: known?.endedAt)
        }
    }

    /// Ends a registration; one that has ended is not changed.
    package func endRegistration(
        device: DeviceID, app: AppID, environment: PushEnvironment, at now: Timestamp
    ) async throws -> Registration? {
        try await pool.write { database in
            guard var known = try Self.registration(device, app: app, environment: environment, database: database)
            else { return nil }
            guard known.endedAt == nil else { return known }
            try database.execute(
                sql: """
                    UPDATE registration SET ended_at = ? WHERE device = ? AND app = ? AND environment = ?;
                    DELETE FROM encryption_key WHERE device = ? AND app = ? AND environment = ?
                    """,
                arguments: [
                    now.rawValue, device.column, app.column, environment.column, device.column, app.column,
                    environment.column,
                ])
            known.endedAt = now
            return known
        }
    }
}
