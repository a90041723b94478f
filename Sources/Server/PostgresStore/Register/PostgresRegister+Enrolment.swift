import FCMProtocol
import PushCore
import PushServer

/// Keys for enrolment, and devices that are blocked.
extension PostgresRegister: EnrolmentKeyRegister {
    /// Adds a key; the id of a revoked one is also taken.
    package func addEnrolmentKey(_ key: EnrolmentKey) async throws {
        try await changeRegister { connection in
            let added = try connection.run(
                """
                INSERT INTO enrolment_key(id, secret_hash, quota, used, expires_at, created_at, revoked_at)
                VALUES($1, $2, $3, $4, $5, $6, $7) ON CONFLICT DO NOTHING
                """, key.id, key.secretHash, key.quota, key.used, key.expiresAt, key.createdAt, key.revokedAt)
            guard added.changed == 1 else { throw RegisterError.enrolmentKeyTaken(key.id) }
        }
    }

    /// All keys.
    package func enrolmentKeys() async throws -> [EnrolmentKey] {
        try await pool.read { connection in
            try connection.run("SELECT * FROM enrolment_key ORDER BY created_at, id").map { try EnrolmentKey($0) }
        }
    }

    /// Revokes a key; its id stays taken.
    package func revokeEnrolmentKey(_ id: String, at now: Timestamp) async throws -> Bool {
        try await changeRegister { connection in
            try connection.run(
                "UPDATE enrolment_key SET revoked_at = $2 WHERE id = $1 AND revoked_at IS NULL", id, now
            ).changed == 1
        }
    }

    private static func key(_ secretHash: [UInt8]?, _ connection: PostgresConnection) throws -> EnrolmentKey? {
        try connection.run("SELECT * FROM enrolment_key WHERE secret_hash = $1 FOR UPDATE", secretHash).first
            .map { try EnrolmentKey($0) }
    }

    /// Checks and counts the use in one transaction, so that no two devices take the last use.
    package func useEnrolmentKey(
        secretHash: [UInt8], isCounted: Bool, at now: Timestamp
    ) async throws -> EnrolmentKeyVerdict {
        try await pool.write { connection in
            guard let key = try Self.key(secretHash, connection) else { return .unknown }
            let verdict = key.verdict(at: now)
            if verdict == .valid, isCounted {
                try connection.run("UPDATE enrolment_key SET used = used + 1 WHERE id = $1", key.id)
            }
            return verdict
        }
    }

    /// Sets or removes the time since which the device is blocked; a revoked one is not changed.
    package func setBlocked(_ device: DeviceID, _ isBlocked: Bool, at now: Timestamp) async throws -> Bool {
        try await changeRegister { connection in
            try connection.run(
                """
                UPDATE device SET blocked_at = $2 WHERE id = $1 AND revoked_at IS NULL AND (blocked_at IS NULL) = $3
                """, device, isBlocked ? now : nil as Timestamp?, isBlocked
            ).changed == 1
        }
    }

    /// Whether the device is blocked, and was not revoked.
    package func isBlocked(_ device: DeviceID) async throws -> Bool {
        try await pool.read { connection in
            try !connection.run(
                "SELECT 1 FROM device WHERE id = $1 AND blocked_at IS NOT NULL AND revoked_at IS NULL", device
            ).isEmpty
        }
    }

    /// The blocked devices that were not revoked, each with the time since which it is blocked.
    package func blockedDevices() async throws -> [DeviceID: Timestamp] {
        try await pool.read { connection in
            let rows = try connection.run(
                "SELECT id, blocked_at FROM device WHERE blocked_at IS NOT NULL AND revoked_at IS NULL")
            return try rows.reduce(into: [:]) { found, row in found[try row[0] as DeviceID] = try row[1] as Timestamp }
        }
    }

    /// A page of the devices.
    package func devices(after: DeviceID?, limit: Int) async throws -> [EnrolledDevice] {
        try await pool.read { connection in
            try connection.run(
                """
                SELECT *, (SELECT count(*) FROM registration
                    WHERE registration.device = device.id AND registration.ended_at IS NULL) AS registrations
                FROM device WHERE id > $1 ORDER BY id LIMIT $2
                """, after.map { Int64($0.rawValue) } ?? 0, limit
            ).map { try EnrolledDevice($0, registrations: $0["registrations"]) }
        }
    }
}

/// Browsers' registrations and installations of apps.
extension PostgresRegister: FCMRegister {
    /// Stores the registration in place of an earlier one, or removes that.
    package func keepWebRegistration(
        _ registration: WebRegistration?, device: DeviceID, app: AppID, environment: PushEnvironment, at now: Timestamp
    ) async throws {
        try await pool.write { connection in
            guard let registration else {
                try connection.run(
                    "DELETE FROM web_registration WHERE device = $1 AND app = $2 AND environment = $3", device, app,
                    environment)
                return
            }
            try connection.run(
                """
                INSERT INTO web_registration(device, app, environment, category, subtype, sender, point,
                    authentication_secret, installation, registered_at)
                VALUES($1, $2, $3, $4, $5, $6, $7, $8, $9, $10)
                ON CONFLICT (device, app, environment) DO UPDATE SET category = excluded.category,
                    subtype = excluded.subtype, sender = excluded.sender, point = excluded.point,
                    authentication_secret = excluded.authentication_secret, installation = excluded.installation,
                    registered_at = excluded.registered_at
                """, device, app, environment, registration.category, registration.subtype, registration.sender,
                registration.key?.point, registration.key?.authenticationSecret, registration.installation, now)
        }
    }

    /// Compares and keeps in one statement.
    package func changeWebRegistration(
        _ kept: StoredWebRegistration, to registration: WebRegistration, at now: Timestamp
    ) async throws -> Bool {
        let before = kept.registration
        return try await pool.write { connection in
            try connection.run(
                """
                UPDATE web_registration SET category = $1, subtype = $2, sender = $3, point = $4,
                    authentication_secret = $5, installation = $6, registered_at = $7
                WHERE device = $8 AND app = $9 AND environment = $10 AND category = $11 AND subtype = $12 AND sender = $13
                    AND point IS NOT DISTINCT FROM $14 AND authentication_secret IS NOT DISTINCT FROM $15
                    AND installation IS NOT DISTINCT FROM $16
                """, registration.category, registration.subtype, registration.sender, registration.key?.point,
                registration.key?.authenticationSecret, registration.installation, now, kept.device, kept.app,
                kept.environment, before.category, before.subtype, before.sender, before.key?.point,
                before.key?.authenticationSecret, before.installation
            ).changed == 1
        }
    }

    /// The registrations of a device, in the order of their apps.
    package func webRegistrations(of device: DeviceID) async throws -> [StoredWebRegistration] {
        try await pool.read { connection in
            try connection.run("SELECT * FROM web_registration WHERE device = $1 ORDER BY app", device)
                .map { try StoredWebRegistration($0) }
        }
    }

    /// The registrations of the team's apps whose keys the installation set.
    package func webRegistrations(ofInstallation id: String, team: TeamID) async throws -> [StoredWebRegistration] {
        try await pool.read { connection in
            try connection.run(
                """
                SELECT web_registration.* FROM web_registration JOIN app ON app.id = web_registration.app
                WHERE installation = $1 AND app.team = $2
                """, id, team
            ).map { try StoredWebRegistration($0) }
        }
    }

    /// Reads the devices' ids, once at the start of a server.
    package func devicesWithWebRegistrations() async throws -> [DeviceID] {
        try await pool.read { try $0.run("SELECT DISTINCT device FROM web_registration").map { try $0[0] } }
    }

    /// Checks the key and stores the installation in one transaction; triggers count the installations of a key.
    package func keepInstallation(_ installation: Installation, byKey keyHash: [UInt8]?) async throws -> Bool {
        try await pool.write { connection in
            let key = try Self.key(keyHash, connection)
            if let key, let limit = key.installationLimit, key.installations >= limit { return false }
            try connection.run(
                "DELETE FROM installation WHERE team = $1 AND id = $2", installation.team, installation.id)
            try connection.run(
                """
                INSERT INTO installation(team, id, app_id, refresh_hash, created_at, enrolment_key)
                VALUES($1, $2, $3, $4, $5, $6)
                """, installation.team, installation.id, installation.appID, installation.refreshHash,
                installation.createdAt, key?.id)
            return true
        }
    }

    /// The installation as it was stored.
    package func installation(_ id: String, team: TeamID) async throws -> Installation? {
        try await pool.read { connection in
            try connection.run("SELECT * FROM installation WHERE team = $1 AND id = $2", team, id).first.map {
                Installation(
                    id: id, team: team, appID: try $0["app_id"], refreshHash: try $0["refresh_hash"],
                    createdAt: try $0["created_at"])
            }
        }
    }

    /// Deletes the installation's row; its registrations remain.
    package func removeInstallation(_ id: String, team: TeamID) async throws -> Bool {
        try await pool.write {
            try $0.run("DELETE FROM installation WHERE team = $1 AND id = $2", team, id).changed == 1
        }
    }
}

extension PostgresRegister: DeviceGroupRegister {
    /// The group of a notification key.
    package func deviceGroup(key: String) async throws -> DeviceGroup? {
        try await pool.read { try Self.deviceGroup(where: "key = $1", key, in: $0) }
    }

    /// The group of a team with a name.
    package func deviceGroup(named name: String, team: TeamID) async throws -> DeviceGroup? {
        try await pool.read { try Self.deviceGroup(where: "team = $1 AND name = $2", team.rawValue, name, in: $0) }
    }

    private static func deviceGroup(
        where condition: String, _ values: String..., in connection: PostgresConnection
    ) throws -> DeviceGroup? {
        let found = try connection.run(
            .init("SELECT * FROM device_group WHERE \(condition)", values.map { PostgresParameter($0) }))
        guard let row = found.first else { return nil }
        let key: String = try row["key"]
        let tokens = try connection.run(
            "SELECT token FROM device_group_member WHERE group_key = $1 ORDER BY token", key)
        return DeviceGroup(
            key: key, team: try row["team"], name: try row["name"], tokens: try tokens.map { try $0[0] })
    }

    /// Adds a group with its members.
    package func addDeviceGroup(_ group: DeviceGroup, at now: Timestamp) async throws -> Bool {
        try await pool.write { connection in
            let added = try connection.run(
                "INSERT INTO device_group(key, team, name, created_at) VALUES($1, $2, $3, $4) ON CONFLICT DO NOTHING",
                group.key, group.team, group.name, now)
            guard added.changed == 1 else { return false }
            try Self.addMembers(group.tokens, to: group.key, connection)
            return true
        }
    }

    private static func addMembers(_ tokens: [String], to key: String, _ connection: PostgresConnection) throws {
        try connection.run(
            .init(
                """
                INSERT INTO device_group_member(group_key, token) SELECT $1, unnest($2::text[]) ON CONFLICT DO NOTHING
                """, [PostgresParameter(key), .texts(tokens)]))
    }

    /// Adds and removes members in one transaction.
    package func changeDeviceGroup(
        key: String, adding: [String], removing: [String], limit: Int
    ) async throws -> DeviceGroup? {
        try await pool.write { connection in
            guard let before = try Self.deviceGroup(where: "key = $1 FOR UPDATE", key, in: connection) else {
                return nil
            }
            guard Set(before.tokens).union(adding).subtracting(removing).count <= limit else { return nil }
            try Self.addMembers(adding, to: key, connection)
            try connection.run(
                .init(
                    "DELETE FROM device_group_member WHERE group_key = $1 AND token = ANY($2::text[])",
                    [PostgresParameter(key), .texts(removing)]))
            let group = try Self.deviceGroup(where: "key = $1", key, in: connection)
            if group?.tokens.isEmpty == true { try connection.run("DELETE FROM device_group WHERE key = $1", key) }
            return group
        }
    }
}

extension EnrolmentKey {
    fileprivate init(_ row: PostgresRow) throws {
        self.init(
            id: try row["id"], secretHash: try row["secret_hash"], quota: try row["quota"], used: try row["used"],
            installations: try row["installations"], expiresAt: try row["expires_at"], createdAt: try row["created_at"],
            revokedAt: try row["revoked_at"])
    }
}

extension EnrolledDevice {
    init(_ row: PostgresRow, registrations: Int) throws {
        self.init(
            device: try row["id"], enrolledAt: try row["enrolled_at"], seenAt: try row["seen_at"],
            blockedAt: try row["blocked_at"], revokedAt: try row["revoked_at"], registrations: registrations)
    }
}

extension StoredWebRegistration {
    fileprivate init(_ row: PostgresRow) throws {
        let point: [UInt8]? = try row["point"]
        let secret: [UInt8]? = try row["authentication_secret"]
        var key: RecipientPublicKey?
        if let point, let secret { key = try RecipientPublicKey(point: point, authenticationSecret: secret) }
        self.init(
            device: try row["device"], app: try row["app"], environment: try row["environment"],
            registration: WebRegistration(
                category: try row["category"], subtype: try row["subtype"], sender: try row["sender"], key: key,
                installation: try row["installation"]), registeredAt: try row["registered_at"])
    }
}
