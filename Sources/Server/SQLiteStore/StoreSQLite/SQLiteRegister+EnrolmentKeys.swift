import Foundation
import GRDB
import PushCore
import PushServer

/// Keys for enrolment, and devices that are blocked.
extension SQLiteRegister: EnrolmentKeyRegister {
    /// Adds a key; the id of a revoked one is also taken.
    package func addEnrolmentKey(_ key: EnrolmentKey) async throws {
        try await changeRegister { database in
            try database.execute(
                sql: """
                    INSERT OR IGNORE INTO enrolment_key(id, secret_hash, quota, used, expires_at, created_at, revoked_at)
                    VALUES(?, ?, ?, ?, ?, ?, ?)
                    """,
                arguments: [
                    key.id, Data(key.secretHash), key.quota, key.used, key.expiresAt?.rawValue, key.createdAt.rawValue,
                    key.revokedAt?.rawValue,
                ])
            guard database.changesCount == 1 else { throw RegisterError.enrolmentKeyTaken(key.id) }
        }
    }

    /// All keys.
    package func enrolmentKeys() async throws -> [EnrolmentKey] {
        try await pool.read { database in
            try Row.fetchAll(database, sql: "SELECT * FROM enrolment_key ORDER BY created_at, id").map(
                Self.enrolmentKey)
        }
    }

    static func enrolmentKey(_ row: Row) -> EnrolmentKey {
        EnrolmentKey(
            id: row["id"], secretHash: Array(row["secret_hash"] as Data), quota: row["quota"], used: row["used"],
            installations: row["installations"],
            expiresAt: (row["expires_at"] as Int64?).map(Timestamp.init(rawValue:)),
            createdAt: Timestamp(rawValue: row["created_at"]),
            revokedAt: (row["revoked_at"] as Int64?).map(Timestamp.init(rawValue:)))
    }

    /// Revokes a key; its id stays taken.
    package func revokeEnrolmentKey(_ id: String, at now: Timestamp) async throws -> Bool {
        try await changeRegister { database in
            try database.execute(
                sql: "UPDATE enrolment_key SET revoked_at = ? WHERE id = ? AND revoked_at IS NULL",
                arguments: [now.rawValue, id])
            return database.changesCount == 1
        }
    }

    /// Checks and counts the use in one transaction, so that no two devices take the last use.
    package func useEnrolmentKey(
        secretHash: [UInt8], isCounted: Bool, at now: Timestamp
    ) async throws -> EnrolmentKeyVerdict {
        try await pool.write { database in
            let found = try Row.fetchOne(
                database, sql: "SELECT * FROM enrolment_key WHERE secret_hash = ?", arguments: [Data(secretHash)])
            guard let key = found.map(Self.enrolmentKey) else { return .unknown }
            let verdict = key.verdict(at: now)
            if verdict == .valid, isCounted {
                try database.execute(sql: "UPDATE enrolment_key SET used = used + 1 WHERE id = ?", arguments: [key.id])
            }
            return verdict
        }
    }

    /// Sets or removes the time since which the device is blocked; a revoked one is not changed.
    package func setBlocked(_ device: DeviceID, _ isBlocked: Bool, at now: Timestamp) async throws -> Bool {
        try await changeRegister { database in
            try database.execute(
                sql: """
                    UPDATE device SET blocked_at = ?
                    WHERE id = ? AND revoked_at IS NULL AND (blocked_at IS NULL) = ?
                    """, arguments: [isBlocked ? now.rawValue : nil, device.column, isBlocked])
            return database.changesCount == 1
        }
    }

    /// Whether the device is blocked, and was not revoked.
    package func isBlocked(_ device: DeviceID) async throws -> Bool {
        try await pool.read { database in
            try Bool.fetchOne(
                database,
                sql: "SELECT 1 FROM device WHERE id = ? AND blocked_at IS NOT NULL AND revoked_at IS NULL",
                arguments: [device.column]) ?? false
        }
    }

    /// The blocked devices that were not revoked, each with the time since which it is blocked.
    package func blockedDevices() async throws -> [DeviceID: Timestamp] {
        try await pool.read { database in
            let rows = try Row.fetchAll(
                database, sql: "SELECT id, blocked_at FROM device WHERE blocked_at IS NOT NULL AND revoked_at IS NULL")
            return rows.reduce(into: [:]) { found, row in
                if let device = DeviceID(column: row[0]) { found[device] = Timestamp(rawValue: row[1]) }
            }
        }
    }

    /// A page of the devices.
    package func devices(after: DeviceID?, limit: Int) async throws -> [EnrolledDevice] {
        try await pool.read { database in
            try Row.fetchAll(
                database,
                sql: """
                    SELECT *, (SELECT count(*) FROM registration
                        WHERE registration.device = device.id AND registration.ended_at IS NULL) AS registrations
                    FROM device WHERE id > ? ORDER BY id LIMIT ?
                    """, arguments: [after?.column ?? 0, limit]
            ).compactMap { row in
                func instant(_ column: String) -> Timestamp? {
                    (row[column] as Int64?).map(Timestamp.init(rawValue:))
                }
                return DeviceID(column: row["id"]).map { device in
                    EnrolledDevice(
                        device: device, enrolledAt: Timestamp(rawValue: row["enrolled_at"]), seenAt: instant("seen_at"),
                        blockedAt: instant("blocked_at"), revokedAt: instant("revoked_at"),
                        registrations: row["registrations"])
                }
            }
        }
    }
}
