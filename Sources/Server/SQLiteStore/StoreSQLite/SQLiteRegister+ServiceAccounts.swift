import GRDB
import PushCore
import PushServer

extension SQLiteRegister: ServiceAccountRegister {
    /// All service accounts, the oldest first.
    package func serviceAccounts() async throws -> [ServiceAccount] {
        try await pool.read { database in
            try Row.fetchAll(database, sql: "SELECT * FROM service_account ORDER BY created_at, key_id")
                .map(Self.serviceAccount)
        }
    }

    private static func serviceAccount(_ row: Row) -> ServiceAccount {
        ServiceAccount(
            keyID: row["key_id"], team: TeamID(rawValue: row["team"]), email: row["email"],
            publicKeyPEM: row["public_key"], createdAt: Timestamp(rawValue: row["created_at"]),
            revokedAt: (row["revoked_at"] as Int64?).map(Timestamp.init(rawValue:)))
    }

    /// Adds a service account.
    ///
    /// - Throws: ``RegisterError``, also for one that was revoked; or SQLite's error.
    package func addServiceAccount(_ account: ServiceAccount) async throws {
        try await changeRegister { database in
            try database.execute(
                sql: """
                    INSERT OR IGNORE INTO service_account(key_id, team, email, public_key, created_at, revoked_at)
                    VALUES(?, ?, ?, ?, ?, ?)
                    """,
                arguments: [
                    account.keyID, account.team.rawValue, account.email, account.publicKeyPEM,
                    account.createdAt.rawValue, account.revokedAt?.rawValue,
                ])
            guard database.changesCount == 1 else { throw RegisterError.serviceAccountTaken(account.email) }
        }
    }

    /// Revokes a service account; its row remains.
    package func revokeServiceAccount(_ keyID: String, at now: Timestamp) async throws -> ServiceAccount? {
        try await changeRegister { database in
            try database.execute(
                sql: "UPDATE service_account SET revoked_at = ? WHERE key_id = ? AND revoked_at IS NULL",
                arguments: [now.rawValue, keyID])
            guard database.changesCount == 1 else { return nil }
            return try Row.fetchOne(
                database, sql: "SELECT * FROM service_account WHERE key_id = ?", arguments: [keyID]
            ).map(Self.serviceAccount)
        }
    }
}

extension SQLiteRegister: DeviceGroupRegister {
    /// The group of a notification key.
    package func deviceGroup(key: String) async throws -> DeviceGroup? {
        try await pool.read { try Self.deviceGroup(key, $0) }
    }

    /// The group of a team with a name.
    package func deviceGroup(named name: String, team: TeamID) async throws -> DeviceGroup? {
        try await pool.read { database in
            try String.fetchOne(
                database, sql: "SELECT key FROM device_group WHERE team = ? AND name = ?",
                arguments: [team.rawValue, name]
            ).flatMap { try Self.deviceGroup($0, database) }
        }
    }

    private static func deviceGroup(_ key: String, _ database: Database) throws -> DeviceGroup? {
        guard
            let row = try Row.fetchOne(database, sql: "SELECT * FROM device_group WHERE key = ?", arguments: [key])
        else { return nil }
        return DeviceGroup(
            key: key, team: TeamID(rawValue: row["team"]), name: row["name"],
            tokens: try String.fetchAll(
                database, sql: "SELECT token FROM device_group_member WHERE group_key = ? ORDER BY token",
                arguments: [key]))
    }

    /// Adds a group with its members.
    package func addDeviceGroup(_ group: DeviceGroup, at now: Timestamp) async throws -> Bool {
        try await pool.write { database in
            try database.execute(
                sql: "INSERT OR IGNORE INTO device_group(key, team, name, created_at) VALUES(?, ?, ?, ?)",
                arguments: [group.key, group.team.rawValue, group.name, now.rawValue])
            guard database.changesCount == 1 else { return false }
            for token in group.tokens { try Self.addMember(token, key: group.key, database: database) }
            return true
        }
    }

    private static func addMember(_ token: String, key: String, database: Database) throws {
        try database.execute(
            sql: "INSERT OR IGNORE INTO device_group_member(group_key, token) VALUES(?, ?)", arguments: [key, token])
    }

    /// Adds and removes members in one transaction.
    package func changeDeviceGroup(
        key: String, adding: [String], removing: [String], limit: Int
    ) async throws -> DeviceGroup? {
        try await pool.write { database in
            guard let before = try Self.deviceGroup(key, database) else { return nil }
            guard Set(before.tokens).union(adding).subtracting(removing).count <= limit else { return nil }
            for token in adding { try Self.addMember(token, key: key, database: database) }
            for token in removing {
                try database.execute(
                    sql: "DELETE FROM device_group_member WHERE group_key = ? AND token = ?", arguments: [key, token])
            }
            let group = try Self.deviceGroup(key, database)
            if group?.tokens.isEmpty == true {
                try database.execute(sql: "DELETE FROM device_group WHERE key = ?", arguments: [key])
            }
            return group
        }
    }
}
