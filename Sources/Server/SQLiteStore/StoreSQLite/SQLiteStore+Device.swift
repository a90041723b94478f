import FCMProtocol
import Foundation
import GRDB
import PushCore
import PushServer

/// The look-up of a device with its apps, for the API.
extension SQLiteStore {
    /// Reads the device's rows in one transaction.
    package func device(_ device: DeviceID, team: TeamID?) async throws -> DeviceDetail? {
        try await pool.read { database in
            guard
                let row = try Row.fetchOne(
                    database, sql: "SELECT * FROM device WHERE id = ?", arguments: [device.column])
            else { return nil }
            var apps = try Self.apps(on: device, team, database)
            guard team == nil || !apps.isEmpty else { return nil }
            let waiting = try Self.waiting(for: device, database)
            let missed = try Self.missed(by: device, database)
            for index in apps.indices {
                apps[index].waiting = waiting[apps[index].place] ?? 0
                apps[index].missed = missed[apps[index].place] ?? []
            }
            return DeviceDetail(device: Self.enrolled(device, row: row, count: apps.count), apps: apps)
        }
    }

    private static func apps(
        on device: DeviceID, _ team: TeamID?, _ database: Database
    ) throws -> [DeviceDetail.App] {
        try Row.fetchAll(
            database,
            sql: """
                SELECT registration.*, app.topic, app.team, web.category, web.subtype, web.sender, web.installation,
                    EXISTS(SELECT 1 FROM encryption_key AS key WHERE key.device = registration.device
                        AND key.app = registration.app AND key.environment = registration.environment) AS has_key
                FROM registration JOIN app ON app.id = registration.app
                LEFT JOIN web_registration AS web ON web.device = registration.device AND web.app = registration.app
                    AND web.environment = registration.environment
                WHERE registration.device = ? AND registration.ended_at IS NULL AND (? IS NULL OR app.team = ?)
                ORDER BY app.topic, registration.environment LIMIT ?
                """, arguments: [device.column, team?.rawValue, team?.rawValue, InventoryDevice.placeLimit]
        ).map { row in
            var app = DeviceDetail.App(
                place: place(of: device, row), generation: UInt16(truncatingIfNeeded: row["generation"] as Int64),
                topic: Topic(rawValue: row["topic"]), team: TeamID(rawValue: row["team"]),
                registeredAt: Timestamp(rawValue: row["registered_at"]))
            app.hasEncryptionKey = row["has_key"]
            app.web = (row["category"] as String?).map {
                WebRegistration(
                    category: $0, subtype: row["subtype"], sender: row["sender"], installation: row["installation"])
            }
            return app
        }
    }

    private static func place(of device: DeviceID, _ row: Row) -> RegistrationPlace {
        RegistrationPlace(
            device: device, app: AppID(column: row["app"]), environment: PushEnvironment(column: row["environment"]))
    }

    private static func waiting(for device: DeviceID, _ database: Database) throws -> [RegistrationPlace: Int] {
        let rows = try Row.fetchAll(
            database,
            sql: "SELECT app, environment, count(*) AS count FROM pending WHERE device = ? GROUP BY app, environment",
            arguments: [device.column])
        return Dictionary(rows.map { (place(of: device, $0), $0["count"]) }) { $0 + $1 }
    }

    private static func missed(
        by device: DeviceID, _ database: Database
    ) throws -> [RegistrationPlace: [DeviceDetail.Missed]] {
        let rows = try Row.fetchAll(
            database,
            sql: """
                SELECT 'expired' AS reason, app, environment, lane, count, since FROM missed WHERE device = ?
                UNION ALL
                SELECT 'cleared' AS reason, app, environment, lane, count, since FROM tombstone WHERE device = ?
                ORDER BY reason, lane
                """, arguments: [device.column, device.column])
        return Dictionary(grouping: rows) { place(of: device, $0) }.mapValues { rows in
            rows.map { row in
                DeviceDetail.Missed(
                    reason: DeviceDetail.Missed.Reason(rawValue: row["reason"]) ?? .expired,
                    lane: Lane(rawValue: row["lane"]) ?? .apns, count: row["count"],
                    since: Timestamp(rawValue: row["since"]))
            }
        }
    }
}
