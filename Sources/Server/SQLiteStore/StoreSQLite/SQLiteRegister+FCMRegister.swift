import FCMProtocol
import Foundation
import GRDB
import PushCore
import PushServer
import WebPushProtocol

/// Browsers' registrations and installations of apps.
extension SQLiteRegister: FCMRegister {
    /// Stores the registration in place of an earlier one, or removes that.
    package func keepWebRegistration(
        _ registration: WebRegistration?, device: DeviceID, app: AppID, environment: PushEnvironment, at now: Timestamp
    ) async throws {
        try await pool.write { database in
            guard let registration else {
                return try database.execute(
                    sql: "DELETE FROM web_registration WHERE device = ? AND app = ? AND environment = ?",
                    arguments: [device.column, app.column, environment.column])
            }
            try database.execute(
                sql: """
                    INSERT OR REPLACE INTO web_registration(
                        device, app, environment, category, subtype, sender, point, authentication_secret, installation,
                        registered_at)
                    VALUES(?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
                    """,
                arguments: [
                    device.column, app.column, environment.column, registration.category, registration.subtype,
                    registration.sender, registration.key.map { Data($0.point) },
                    registration.key.map { Data($0.authenticationSecret) }, registration.installation, now.rawValue,
                ])
        }
    }

    /// Compares and keeps in one statement.
    package func changeWebRegistration(
        _ kept: StoredWebRegistration, to registration: WebRegistration, at now: Timestamp
    ) async throws -> Bool {
        let before = kept.registration
        return try await pool.write { database in
            try database.execute(
                sql: """
                    UPDATE web_registration SET
                        category = ?, subtype = ?, sender = ?, point = ?, authentication_secret = ?, installation = ?,
                        registered_at = ?
                    WHERE device = ? AND app = ? AND environment = ? AND category = ? AND subtype = ? AND sender = ?
                        AND point IS ? AND authentication_secret IS ? AND installation IS ?
                    """,
                arguments: [
                    registration.category, registration.subtype, registration.sender,
                    registration.key.map { Data($0.point) }, registration.key.map { Data($0.authenticationSecret) },
                    registration.installation, now.rawValue, kept.device.column, kept.app.column,
                    kept.environment.column, before.category, before.subtype, before.sender,
                    before.key.map { Data($0.point) }, before.key.map { Data($0.authenticationSecret) },
                    before.installation,
                ])
            return database.changesCount == 1
        }
    }

    /// The registrations of a device, in the order of their apps.
    package func webRegistrations(of device: DeviceID) async throws -> [StoredWebRegistration] {
        try await pool.read { database in
            try Row.fetchAll(
                database.cachedStatement(sql: "SELECT * FROM web_registration WHERE device = ? ORDER BY app"),
                arguments: [device.column]
            ).compactMap(Self.webRegistration)
        }
    }

    /// The registrations of the team's apps whose keys the installation set.
    package func webRegistrations(ofInstallation id: String, team: TeamID) async throws -> [StoredWebRegistration] {
        try await pool.read { database in
            try Row.fetchAll(
                database,
                sql: """
                    SELECT web_registration.* FROM web_registration JOIN app ON app.id = web_registration.app
                    WHERE installation = ? AND app.team = ?
                    """, arguments: [id, team.rawValue]
            ).compactMap(Self.webRegistration)
        }
    }

    private static func webRegistration(_ row: Row) throws -> StoredWebRegistration? {
        guard let device = DeviceID(column: row["device"]) else { return nil }
        let point = (row["point"] as Data?).map { Array($0) }
        let secret = (row["authentication_secret"] as Data?).map { Array($0) }
        var key: RecipientPublicKey?
        if let point, let secret { key = try RecipientPublicKey(point: point, authenticationSecret: secret) }
        return StoredWebRegistration(
            device: device, app: AppID(column: row["app"]), environment: PushEnvironment(column: row["environment"]),
            registration: WebRegistration(
                category: row["category"], subtype: row["subtype"], sender: row["sender"], key: key,
                installation: row["installation"]), registeredAt: Timestamp(rawValue: row["registered_at"]))
    }

    /// Reads the devices' ids, once at the start of a server.
    package func devicesWithWebRegistrations() async throws -> [DeviceID] {
        try await pool.read { database in
            try Int64.fetchAll(database, sql: "SELECT DISTINCT device FROM web_registration").compactMap(
                DeviceID.init(column:))
        }
    }

    /// Checks the key and stores the installation in one transaction; triggers count the installations of a key.
    package func keepInstallation(_ installation: Installation, byKey keyHash: [UInt8]?) async throws -> Bool {
        try await pool.write { database in
            let key = try Row.fetchOne(
                database, sql: "SELECT * FROM enrolment_key WHERE secret_hash = ?",
                arguments: [keyHash.map { Data($0) }]
            ).map(Self.enrolmentKey)
            if let key, let limit = key.installationLimit, key.installations >= limit { return false }
            let (team, id) = (installation.team.rawValue, installation.id)
            try database.execute(sql: "DELETE FROM installation WHERE team = ? AND id = ?", arguments: [team, id])
            try database.execute(
                sql: """
                    INSERT INTO installation(team, id, app_id, refresh_hash, created_at, enrolment_key)
                    VALUES(?, ?, ?, ?, ?, ?)
                    """,
                arguments: [
                    team, id, installation.appID, Data(installation.refreshHash), installation.createdAt.rawValue,
                    key?.id,
                ])
            return true
        }
    }

    /// The installation as it was stored.
    package func installation(_ id: String, team: TeamID) async throws -> Installation? {
        try await pool.read { database in
            try Row.fetchOne(
                database, sql: "SELECT * FROM installation WHERE team = ? AND id = ?", arguments: [team.rawValue, id]
            ).map { row in
                Installation(
                    id: id, team: team, appID: row["app_id"], refreshHash: Array(row["refresh_hash"] as Data),
                    createdAt: Timestamp(rawValue: row["created_at"]))
            }
        }
    }

    /// Deletes the installation's row; its registrations remain.
    package func removeInstallation(_ id: String, team: TeamID) async throws -> Bool {
        try await pool.write { database in
            try database.execute(
                sql: "DELETE FROM installation WHERE team = ? AND id = ?", arguments: [team.rawValue, id])
            return database.changesCount == 1
        }
    }
}

/// Browsers' subscriptions.
extension SQLiteRegister: WebChannelRegister {
    /// Counts and stores in one transaction.
    package func storeWebChannel(_ channel: WebChannel, limit: Int) async throws -> Bool {
        try await pool.write { database in
            let others = try Int.fetchOne(
                database, sql: "SELECT COUNT(*) FROM web_channel WHERE device = ? AND channel <> ?",
                arguments: [channel.device.column, Data(channel.id.bytes)])
            guard others ?? 0 < limit else { return false }
            try database.execute(
                sql: """
                    INSERT OR REPLACE INTO web_channel(
                        device, channel, app, environment, generation, sender, registered_at)
                    VALUES(?, ?, ?, ?, ?, ?, ?)
                    """,
                arguments: [
                    channel.device.column, Data(channel.id.bytes), channel.app.column, channel.environment.column,
                    Int64(channel.generation), channel.sender, channel.registeredAt.rawValue,
                ])
            return true
        }
    }

    /// Deletes the subscription's row.
    package func removeWebChannel(_ id: PushChannelID, of device: DeviceID) async throws -> Bool {
        try await pool.write { database in
            try database.execute(
                sql: "DELETE FROM web_channel WHERE device = ? AND channel = ?",
                arguments: [device.column, Data(id.bytes)])
            return database.changesCount == 1
        }
    }

    /// Reads the subscription's row.
    package func webChannel(_ id: PushChannelID, of device: DeviceID) async throws -> WebChannel? {
        try await pool.read { database in
            try Row.fetchOne(
                database.cachedStatement(sql: "SELECT * FROM web_channel WHERE device = ? AND channel = ?"),
                arguments: [device.column, Data(id.bytes)]
            ).flatMap(Self.webChannel)
        }
    }

    /// Reads the rows of the device.
    package func webChannels(of device: DeviceID) async throws -> [WebChannel] {
        try await pool.read { database in
            try Row.fetchAll(
                database, sql: "SELECT * FROM web_channel WHERE device = ? ORDER BY channel",
                arguments: [device.column]
            ).compactMap(Self.webChannel)
        }
    }

    private static func webChannel(_ row: Row) -> WebChannel? {
        guard let device = DeviceID(column: row["device"]),
            let id = PushChannelID(bytes: Array(row["channel"] as Data))
        else { return nil }
        return WebChannel(
            device: device, id: id, app: AppID(column: row["app"]),
            environment: PushEnvironment(column: row["environment"]),
            generation: UInt16(truncatingIfNeeded: row["generation"] as Int64), sender: row["sender"],
            registeredAt: Timestamp(rawValue: row["registered_at"]))
    }
}
