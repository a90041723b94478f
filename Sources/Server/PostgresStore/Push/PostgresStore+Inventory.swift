import FCMProtocol
import PushCore
import PushServer

extension PostgresStore: InventoryStore {
    /// Reads a slice of rows by their ids; timelines are read only for those that match the filter.
    package func notifications(
        _ filter: NotificationFilter, before: NotificationID?, limit: Int
    ) async throws -> InventoryPage<InventoryNotification, NotificationID> {
        let slice = InventoryPage<InventoryNotification, NotificationID>.slice
        let ids = filter.ids(before: before)
        return try await pool.read { connection in
            let rows = try connection.run(
                """
                SELECT message.id, coalesce(app.team, message.team), coalesce(app.topic, message.topic), message.device,
                    message.code IS NOT NULL,
                    EXISTS(SELECT 1 FROM pending WHERE pending.device = message.device AND pending.id = message.id)
                FROM message LEFT JOIN app ON app.id = message.app
                WHERE message.id < $1 AND message.id >= $2 ORDER BY message.id DESC LIMIT $3
                """, ids.upperBound, ids.lowerBound, slice)
            var page = InventoryPage<InventoryNotification, NotificationID>()
            var passed = 0
            while passed < rows.count, page.items.count < limit {
                // As many as the page still needs are read at once.
                let some = rows[passed..<min(passed + limit, rows.count)]
                let found = try Self.inventory(of: some, filter: filter, connection)
                for row in some {
                    passed += 1
                    let id: NotificationID = try row[0]
                    if let notification = found[id], filter.wants(notification) { page.items.append(notification) }
                    if page.items.count == limit || passed == slice {
                        page.next = id
                        return page
                    }
                }
            }
            return page
        }
    }

    /// The notifications of rows that the filter may want.
    private static func inventory(
        of rows: Slice<PostgresRows>, filter: NotificationFilter, _ connection: PostgresConnection
    ) throws -> [NotificationID: InventoryNotification] {
        var states: [NotificationID: NotificationFilter.State] = [:]
        for row in rows {
            let state: NotificationFilter.State = try row[4] ? .refused : row[5] ? .waiting : .ended
            guard filter.wants(team: try row[1], topic: try row[2], device: try row[3], state: state) else { continue }
            states[try row[0]] = state
        }
        let ids = states.keys.sorted()
        let contents = try contents(of: ids, connection)
        var found: [NotificationID: InventoryNotification] = [:]
        for timeline in try TimelineReader(connection: connection).timelines(ids) {
            guard let state = states[timeline.id] else { continue }
            found[timeline.id] = InventoryNotification(timeline: timeline, state: state, content: contents[timeline.id])
        }
        return found
    }

    /// Reads the row of a notification, with its payload.
    package func content(of id: NotificationID) async throws -> NotificationContent? {
        try await pool.read { try Self.contents(of: [id], $0)[id] }
    }

    private static func contents(
        of ids: [NotificationID], _ connection: PostgresConnection
    ) throws -> [NotificationID: NotificationContent] {
        guard !ids.isEmpty else { return [:] }
        let rows = try connection.run(
            .init(
                """
                SELECT id, push_type, priority, collapse_id, expires_at, lane, coalesce(message.payload, (SELECT payload.content
                    FROM payload_use JOIN payload ON payload.id = payload_use.payload WHERE payload_use.message = message.id))
                FROM message WHERE id = ANY($1::bigint[]) AND code IS NULL
                """, [.ids(ids)]))
        return try rows.reduce(into: [:]) { found, row in
            found[try row[0] as NotificationID] = NotificationContent(
                pushType: try row.pushType("push_type"), priority: try row[2], collapseID: try row[3],
                expiresAt: try row[4], lane: try row[5], payload: try row[6])
        }
    }

    /// Reads a slice of rows by their ids, each with its registrations.
    package func devices(
        _ filter: DeviceFilter, after: DeviceID?, limit: Int
    ) async throws -> InventoryPage<InventoryDevice, DeviceID> {
        try await pool.read { connection in
            let slice = InventoryPage<InventoryDevice, DeviceID>.slice
            let rows = try connection.run(
                "SELECT * FROM device WHERE id > $1 ORDER BY id LIMIT $2", after.map { Int64($0.rawValue) } ?? 0, slice)
            let places = try Self.places(of: try rows.map { try $0["id"] }, team: filter.team, connection)
            var page = InventoryPage<InventoryDevice, DeviceID>()
            for (number, row) in rows.enumerated() {
                let id: DeviceID = try row["id"]
                let own = places[id] ?? []
                let device = InventoryDevice(
                    device: try EnrolledDevice(row, registrations: own.count), registrations: own)
                if filter.wants(device) { page.items.append(device) }
                if page.items.count == limit || number + 1 == slice {
                    page.next = id
                    return page
                }
            }
            return page
        }
    }

    private static func places(
        of devices: [DeviceID], team: TeamID?, _ connection: PostgresConnection
    ) throws -> [DeviceID: [InventoryDevice.Place]] {
        let rows = try connection.run(
            .init(
                """
                SELECT wanted.device, place.topic, place.environment FROM unnest($1::bigint[]) AS wanted(device)
                CROSS JOIN LATERAL (SELECT app.topic COLLATE "C" AS topic, registration.environment
                    FROM registration JOIN app ON app.id = registration.app
                    WHERE registration.device = wanted.device AND registration.ended_at IS NULL
                        AND ($2::text IS NULL OR app.team = $2) ORDER BY 1, 2 LIMIT \(InventoryDevice.placeLimit)) AS place
                """, [.devices(devices), PostgresParameter(team)]))
        return try rows.reduce(into: [:]) { places, row in
            places[try row[0], default: []].append(InventoryDevice.Place(topic: try row[1], environment: try row[2]))
        }
    }

    /// Reads the device's rows in one transaction.
    package func device(_ device: DeviceID, team: TeamID?) async throws -> DeviceDetail? {
        try await pool.read { connection in
            guard let row = try connection.run("SELECT * FROM device WHERE id = $1", device).first else { return nil }
            var apps = try Self.apps(on: device, team: team, connection)
            guard team == nil || !apps.isEmpty else { return nil }
            let waiting = try connection.run(
                "SELECT app, environment, count(*) FROM pending WHERE device = $1 GROUP BY app, environment", device)
            let missed = try connection.run(
                """
                SELECT app, environment, 'expired' AS reason, lane, count, since FROM missed WHERE device = $1
                UNION ALL SELECT app, environment, 'cleared', lane, count, since FROM tombstone WHERE device = $1
                ORDER BY reason, lane
                """, device)
            func index(_ row: PostgresRow) throws -> Int? {
                let place = RegistrationKey(device: device, app: try row[0], environment: try row[1])
                return apps.firstIndex { $0.place == place }
            }
            for row in waiting { if let index = try index(row) { apps[index].waiting = try row[2] } }
            for row in missed {
                guard let index = try index(row) else { continue }
                apps[index].missed.append(
                    DeviceDetail.Missed(
                        reason: DeviceDetail.Missed.Reason(rawValue: try row[2]) ?? .expired, lane: try row[3],
                        count: try row[4], since: try row[5]))
            }
            return DeviceDetail(device: try EnrolledDevice(row, registrations: apps.count), apps: apps)
        }
    }

    private static func apps(
        on device: DeviceID, team: TeamID?, _ connection: PostgresConnection
    ) throws -> [DeviceDetail.App] {
        try connection.run(
            """
            SELECT registration.*, app.topic, app.team, web.category, web.subtype, web.sender, web.installation,
                EXISTS(SELECT 1 FROM encryption_key AS key WHERE key.device = registration.device
                    AND key.app = registration.app AND key.environment = registration.environment) AS has_key
            FROM registration JOIN app ON app.id = registration.app
            LEFT JOIN web_registration AS web ON web.device = registration.device AND web.app = registration.app
                AND web.environment = registration.environment
            WHERE registration.device = $1 AND registration.ended_at IS NULL AND ($2::text IS NULL OR app.team = $2)
            ORDER BY app.topic COLLATE "C", registration.environment LIMIT $3
            """, device, team, InventoryDevice.placeLimit
        ).map { row in
            var app = DeviceDetail.App(
                place: RegistrationKey(device: device, app: try row["app"], environment: try row["environment"]),
                generation: try row["generation"], topic: try row["topic"], team: try row["team"],
                registeredAt: try row["registered_at"])
            app.hasEncryptionKey = try row["has_key"]
            if let category: String = try row["category"] {
                app.web = WebRegistration(
                    category: category, subtype: try row["subtype"], sender: try row["sender"],
                    installation: try row["installation"])
            }
            return app
        }
    }
}
