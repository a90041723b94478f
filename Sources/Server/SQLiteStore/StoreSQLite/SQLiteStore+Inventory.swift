import FCMProtocol
import Foundation
import GRDB
import PushCore
import PushServer

extension SQLiteStore: InventoryStore {
    /// Reads a slice of rows by their ids; timelines are read only for those that match the filter.
    package func notifications(
        _ filter: NotificationFilter, before: NotificationID?, limit: Int
    ) async throws -> InventoryPage<InventoryNotification, NotificationID> {
        try await pool.read { database in
            let slice = InventoryPage<InventoryNotification, NotificationID>.slice
            let ids = filter.ids(before: before)
            let statement = try database.cachedStatement(
                sql: """
                    SELECT message.id, coalesce(app.team, message.team), coalesce(app.topic, message.topic), message.device,
                        message.code IS NOT NULL,
                        EXISTS(SELECT 1 FROM pending WHERE device = message.device AND id = message.id)
                    FROM message LEFT JOIN app ON app.id = message.app
                    WHERE message.id < ? AND message.id >= ? ORDER BY message.id DESC LIMIT ?
                    """)
            let rows = try Row.fetchCursor(statement, arguments: [ids.upperBound, ids.lowerBound, slice])
            var page = InventoryPage<InventoryNotification, NotificationID>()
            var passed = 0
            while let row = try rows.next() {
                passed += 1
                let id = NotificationID(rawValue: row[0])
                let state: NotificationFilter.State = row[4] as Bool ? .refused : row[5] as Bool ? .waiting : .ended
                let isWanted = filter.wants(
                    team: (row[1] as String?).map(TeamID.init(rawValue:)),
                    topic: (row[2] as String?).map(Topic.init(rawValue:)),
                    device: (row[3] as Int64?).flatMap(DeviceID.init(column:)), state: state)
                if isWanted, let timeline = try Self.timeline(id, database) {
                    let found = InventoryNotification(
                        timeline: timeline, state: state, content: try Self.content(id, database))
                    if filter.wants(found) { page.items.append(found) }
                }
                if page.items.count == limit || passed == slice {
                    page.next = id
                    return page
                }
            }
            return page
        }
    }

    /// Reads the row of a notification, with its payload.
    package func content(of id: NotificationID) async throws -> NotificationContent? {
        try await pool.read { try Self.content(id, $0) }
    }

    private static func content(_ id: NotificationID, _ database: Database) throws -> NotificationContent? {
        let statement = try database.cachedStatement(
            sql: """
                SELECT push_type, priority, collapse_id, expires_at, lane, coalesce(message.payload, (SELECT payload.content
                    FROM payload_use JOIN payload ON payload.id = payload_use.payload WHERE payload_use.message = message.id))
                FROM message WHERE id = ? AND code IS NULL
                """)
        guard let row = try Row.fetchOne(statement, arguments: [id.rawValue]) else { return nil }
        return NotificationContent(
            pushType: (row[0] as String?).flatMap(PushType.init), priority: Priority(rawValue: row[1]) ?? .immediate,
            collapseID: row[2], expiresAt: (row[3] as Int64?).map(Timestamp.init(rawValue:)),
            lane: Lane(rawValue: row[4]) ?? .apns, payload: (row[5] as Data?).map { Array($0) })
    }

    /// Reads a slice of rows by their ids, each with its registrations.
    package func devices(
        _ filter: DeviceFilter, after: DeviceID?, limit: Int
    ) async throws -> InventoryPage<InventoryDevice, DeviceID> {
        try await pool.read { database in
            let slice = InventoryPage<InventoryDevice, DeviceID>.slice
            let rows = try Row.fetchCursor(
                database, sql: "SELECT * FROM device WHERE id > ? ORDER BY id LIMIT ?",
                arguments: [after?.column ?? 0, slice])
            var page = InventoryPage<InventoryDevice, DeviceID>()
            var passed = 0
            while let row = try rows.next() {
                passed += 1
                guard let id = DeviceID(column: row["id"]) else { continue }
                let places = try Self.places(of: id, filter.team, database)
                let device = InventoryDevice(
                    device: Self.enrolled(id, row: row, count: places.count), registrations: places)
                if filter.wants(device) { page.items.append(device) }
                if page.items.count == limit || passed == slice {
                    page.next = id
                    return page
                }
            }
            return page
        }
    }

    static func enrolled(_ id: DeviceID, row: Row, count: Int) -> EnrolledDevice {
        func instant(_ column: String) -> Timestamp? { (row[column] as Int64?).map(Timestamp.init(rawValue:)) }
        return EnrolledDevice(
            device: id, enrolledAt: Timestamp(rawValue: row["enrolled_at"]), seenAt: instant("seen_at"),
            blockedAt: instant("blocked_at"), revokedAt: instant("revoked_at"), registrations: count)
    }

    private static func places(
        of device: DeviceID, _ team: TeamID?, _ database: Database
    ) throws -> [InventoryDevice.Place] {
        let statement = try database.cachedStatement(
            sql: """
                SELECT app.topic, registration.environment FROM registration JOIN app ON app.id = registration.app
                WHERE registration.device = ? AND registration.ended_at IS NULL AND (? IS NULL OR app.team = ?)
                ORDER BY app.topic, registration.environment LIMIT ?
                """)
        return try Row.fetchAll(
            statement, arguments: [device.column, team?.rawValue, team?.rawValue, InventoryDevice.placeLimit]
        ).map { InventoryDevice.Place(topic: Topic(rawValue: $0[0]), environment: PushEnvironment(column: $0[1])) }
    }
}

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

    private static func place(of device: DeviceID, _ row: Row) -> RegistrationKey {
        RegistrationKey(
            device: device, app: AppID(column: row["app"]), environment: PushEnvironment(column: row["environment"]))
    }

    private static func waiting(for device: DeviceID, _ database: Database) throws -> [RegistrationKey: Int] {
        let rows = try Row.fetchAll(
            database,
            sql: "SELECT app, environment, count(*) AS count FROM pending WHERE device = ? GROUP BY app, environment",
            arguments: [device.column])
        return Dictionary(rows.map { (place(of: device, $0), $0["count"]) }) { $0 + $1 }
    }

    private static func missed(
        by device: DeviceID, _ database: Database
    ) throws -> [RegistrationKey: [DeviceDetail.Missed]] {
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
