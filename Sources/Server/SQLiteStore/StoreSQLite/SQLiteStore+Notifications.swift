import APNsProtocol
import Foundation
import GRDB
import PushCore
import PushServer

extension SQLiteStore: NotificationStore {
    /// Reads the queued notifications on one of the readers' connections.
    package func page(
        device: DeviceID, after: NotificationID?, limit: Int, now: Timestamp,
        then complete: @escaping @Sendable (Result<[OutgoingNotification], any Error>) -> Void
    ) {
        pool.asyncRead(
            { database in
                let page = try Row.fetchAll(
                    database.cachedStatement(sql: Self.pageSQL),
                    arguments: [device.column, after?.rawValue ?? 0, now.rawValue, limit]
                ).map(Self.outgoing)
                let notices = try DeviceNotices(database: database).page(for: device, after: after, limit: limit)
                return notices.isEmpty ? page : Array((page + notices).sorted { $0.id < $1.id }.prefix(limit))
            }, then: complete)
    }

    /// Finds the device's own ids, each by its key, on one of the readers' connections.
    package func notifications(
        of device: DeviceID, among ids: [NotificationID],
        then complete: @escaping @Sendable (Result<Set<NotificationID>, any Error>) -> Void
    ) {
        pool.asyncRead(
            { database in
                let statement = try database.cachedStatement(sql: "SELECT 1 FROM message WHERE id = ? AND device = ?")
                var own: Set<NotificationID> = []
                for id in ids where try Int.fetchOne(statement, arguments: [id.rawValue, device.column]) != nil {
                    own.insert(id)
                }
                return own
            }, then: complete)
    }

    private static let pageSQL = """
        SELECT pending.id, message.apns_id, app.team, app.topic, message.environment, message.lane,
            message.push_type, message.priority, message.collapse_id, message.accepted_at, pending.expires_at,
            coalesce(message.payload, (SELECT payload.content FROM payload_use
                JOIN payload ON payload.id = payload_use.payload WHERE payload_use.message = message.id))
        FROM pending JOIN message ON message.id = pending.message JOIN app ON app.id = pending.app
        WHERE pending.device = ? AND pending.id > ? AND pending.expires_at > ? AND app.removed_at IS NULL
        ORDER BY pending.id LIMIT ?
        """

    private static func outgoing(_ row: Row) -> OutgoingNotification {
        let id = NotificationID(rawValue: row[0])
        return OutgoingNotification(
            id: id, apnsID: APNsID(column: row[1], of: id), team: TeamID(rawValue: row[2]),
            topic: Topic(rawValue: row[3]), environment: PushEnvironment(column: row[4]),
            lane: Lane(rawValue: row[5]) ?? .apns, pushType: (row[6] as String?).flatMap(PushType.init),
            priority: Priority(rawValue: row[7]) ?? .immediate, collapseID: row[8],
            acceptedAt: Timestamp(rawValue: row[9]), expiresAt: Timestamp(rawValue: row[10]),
            payload: (row[11] as Data?).map { Array($0) } ?? [])
    }

    /// Reads the next rows by device and id.
    package func expired(
        at now: Timestamp, awaySince: Timestamp, from position: SweepPosition?, limit: Int
    ) throws -> ExpiredSlice {
        try pool.read { database in
            let rows = try Row.fetchAll(
                database.cachedStatement(
                    sql: """
                        SELECT pending.device, pending.id, pending.expires_at, pending.app, pending.environment,
                            device.revoked_at IS NOT NULL OR app.removed_at IS NOT NULL,
                            coalesce(device.seen_at, device.enrolled_at) <= ?
                        FROM pending LEFT JOIN device ON device.id = pending.device
                            LEFT JOIN app ON app.id = pending.app
                        WHERE (pending.device, pending.id) > (?, ?) ORDER BY pending.device, pending.id LIMIT ?
                        """),
                arguments: [
                    awaySince.rawValue, position?.device.column ?? 0, position?.id.rawValue ?? 0, limit,
                ])
            var slice = ExpiredSlice(devices: [], next: nil)
            slice.count = rows.count
            slice.oldest = rows.lazy.map { $0[1] as Int64 }.min().map(NotificationID.init(rawValue:))
            for row in rows {
                guard let device = DeviceID(column: row[0]) else { continue }
                if (row[2] as Int64) <= now.rawValue { slice.devices.insert(device) }
                if row[6] as Bool? == true { slice.away.insert(device) }
                guard row[5] as Bool else { continue }
                slice.ended.insert(
                    RegistrationPlace(
                        device: device, app: AppID(column: row[3]), environment: PushEnvironment(column: row[4])))
            }
            if rows.count == limit, let last = rows.last, let device = DeviceID(column: last[0]) {
                slice.next = SweepPosition(device: device, id: NotificationID(rawValue: last[1]))
            }
            return slice
        }
    }

    /// The durable ceiling, or the highest id that is stored where that is greater.
    package func highWater() throws -> Int64 {
        try pool.read { database in
            let mark = try Int64.fetchOne(database, sql: "SELECT value FROM meta WHERE key = 'high_water'") ?? 0
            let last = try Int64.fetchOne(database, sql: "SELECT max(id) FROM message") ?? 0
            return max(mark, last)
        }
    }

    /// The team of a recorded span that contains the id.
    package func isUnrecorded(_ id: NotificationID, team: TeamID?) async throws -> TeamID? {
        try await pool.read { database in
            try String.fetchOne(
                database,
                sql: "SELECT team FROM unrecorded WHERE first <= ? AND last >= ? AND (? IS NULL OR team = ?) LIMIT 1",
                arguments: [id.rawValue, id.rawValue, team?.rawValue, team?.rawValue]
            ).map(TeamID.init(rawValue:))
        }
    }

    /// Reads the timelines, in the order of their ids; of accepted ones with the same `apns-id` the newest 1000.
    package func timelines(
        id: NotificationID?, apnsID: APNsID?, team: TeamID?
    ) async throws -> [NotificationTimeline] {
        try await pool.read { database in
            var ids: Set<Int64> = id.map { [$0.rawValue] } ?? []
            if let apnsID = apnsID?.lookUpKey {
                ids.formUnion(
                    try Int64.fetchAll(
                        database, sql: Self.acceptedSQL, arguments: [apnsID, team?.rawValue, team?.rawValue]))
                let teams = try team.map { [$0.rawValue] } ?? Self.teamsRefused(apnsID, database)
                for team in teams {
                    ids.formUnion(try Int64.fetchAll(database, sql: Self.refusalSQL, arguments: [apnsID, team]))
                }
            }
            return try ids.sorted().compactMap { try Self.timeline(NotificationID(rawValue: $0), database) }
                .filter { team == nil || $0.team == team }
        }
    }

    private static let acceptedSQL = """
        SELECT identity.id FROM identity JOIN app ON app.id = identity.app
        WHERE identity.apns_id = ? AND (? IS NULL OR app.team = ?) ORDER BY identity.id DESC LIMIT 1000
        """
    private static let refusalSQL = "SELECT id FROM refusal WHERE apns_id = ? AND team = ? ORDER BY id DESC LIMIT 50"

    /// The teams whose requests with this `apns-id` were refused; reads one row of each.
    private static func teamsRefused(_ apnsID: String, _ database: Database) throws -> [String] {
        var teams: [String] = []
        while let next = try String.fetchOne(
            database, sql: "SELECT min(team) FROM refusal WHERE apns_id = ? AND team > ?",
            arguments: [apnsID, teams.last ?? ""])
        {
            teams.append(next)
        }
        return teams
    }

    static func timeline(_ id: NotificationID, _ database: Database) throws -> NotificationTimeline? {
        let found = try Row.fetchOne(
            database,
            sql: """
                SELECT message.*, app.team AS app_team, app.topic AS app_topic
                FROM message LEFT JOIN app ON app.id = message.app WHERE message.id = ?
                """, arguments: [id.rawValue])
        guard let row = found else { return try BroadcastTimeline(database: database).timeline(id) }
        let acceptedAt = Timestamp(rawValue: row["accepted_at"])
        var entries: [TimelineEntry] = []
        if let code = row["code"] as String? {
            entries.append(
                TimelineEntry(at: acceptedAt, state: .failed(code), source: .server, note: row["note"]))
        } else {
            entries.append(TimelineEntry(at: acceptedAt, state: .accepted, source: .server, note: row["note"]))
            if row["stored"] as Bool { entries.append(TimelineEntry(at: acceptedAt, state: .stored, source: .server)) }
        }
        entries += try lines(of: id, database)
        return NotificationTimeline(
            id: id, apnsID: APNsID(column: row["apns_id"], of: id),
            team: TeamID(rawValue: row["app_team"] ?? row["team"] ?? ""),
            topic: Topic(rawValue: row["app_topic"] ?? row["topic"] ?? ""),
            device: (row["device"] as Int64?).flatMap(DeviceID.init(column:)),
            environment: (row["environment"] as Int64?).map(PushEnvironment.init(column:)),
            isAttempt: row["code"] == nil && row["expires_at"] == nil, entries: entries)
    }
}
