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
                    RegistrationKey(
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
        let statement = try database.cachedStatement(
            sql: """
                SELECT message.*, app.team AS app_team, app.topic AS app_topic
                FROM message LEFT JOIN app ON app.id = message.app WHERE message.id = ?
                """)
        guard let row = try Row.fetchOne(statement, arguments: [id.rawValue]) else {
            return try BroadcastTimeline(database: database).timeline(id)
        }
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

/// The rows that a batch needs. Each is found by its key.
extension SQLiteStore {
    /// Reads all rows in one transaction on the writer's connection.
    package func prefetch(_ request: PrefetchRequest) throws -> Prefetched {
        guard !request.isEmpty else { return Prefetched() }
        // The writer's connection has the pages in memory: a reader would read all of them again after each commit.
        return try pool.writeWithoutTransaction { database in
            var found = Prefetched()
            try database.inTransaction(.deferred) {
                found.identities = try Self.identities(request, database)
                found.waiting = try Self.waiting(request.mailboxes, database)
                found.tombstones = try Self.tombstones(request.mailboxes, database)
                found.recalls = try Self.recalls(request.mailboxes, database)
                found.notifications = try Self.facts(request.notifications, database)
                try Self.readDevices(request.secretHashes, into: &found, database)
                try Self.readMissed(into: &found, database)
                try AudienceReader(database: database).read(
                    request.audiences, known: request.known, away: request.away, into: &found)
                return .commit
            }
            return found
        }
    }

    private static func identities(
        _ request: PrefetchRequest, _ database: Database
    ) throws -> [NotificationIdentity: [AcceptedContent]] {
        guard !request.identities.isEmpty else { return [:] }
        let statement = try database.cachedStatement(
            sql: """
                SELECT identity.id, message.push_type, message.priority, message.collapse_id, message.payload
                FROM identity JOIN message ON message.id = identity.id
                WHERE identity.apns_id = ? AND identity.device = ? AND identity.app = ? AND identity.environment = ?
                    AND message.generation = ? AND message.accepted_at >= ? AND message.expires_at IS NOT NULL
                ORDER BY identity.id DESC LIMIT \(AcceptedContent.limit)
                """)
        var found: [NotificationIdentity: [AcceptedContent]] = [:]
        for identity in request.identities {
            let subject = identity.subject
            let rows = try Row.fetchAll(
                statement,
                arguments: [
                    identity.apnsID, subject.device.column, subject.app.column, subject.environment.column,
                    Int64(subject.generation), request.acceptedSince.rawValue,
                ])
            guard !rows.isEmpty else { continue }
            found[identity] = rows.map { row in
                AcceptedContent(
                    id: NotificationID(rawValue: row[0]),
                    pushType: (row[1] as String?).flatMap(PushType.init(rawValue:)),
                    priority: Priority(rawValue: row[2]) ?? .immediate, collapseID: row[3],
                    payload: (row[4] as Data?).map(Array.init))
            }
        }
        return found
    }

    private static func waiting(
        _ devices: Set<DeviceID>, _ database: Database
    ) throws -> [DeviceID: [Mailbox.Entry]] {
        guard !devices.isEmpty else { return [:] }
        let statement = try database.cachedStatement(
            sql: "SELECT id, app, environment, lane, expires_at, collapse_id FROM pending WHERE device = ? ORDER BY id")
        var found: [DeviceID: [Mailbox.Entry]] = [:]
        for device in devices {
            let rows = try Row.fetchAll(statement, arguments: [device.column])
            guard !rows.isEmpty else { continue }
            found[device] = rows.map { row in
                Mailbox.Entry(
                    id: NotificationID(rawValue: row[0]), app: AppID(column: row[1]),
                    environment: PushEnvironment(column: row[2]), lane: Lane(rawValue: row[3]) ?? .apns,
                    collapseID: row[5], expiresAt: Timestamp(rawValue: row[4]))
            }
        }
        return found
    }

    private static func tombstones(
        _ devices: Set<DeviceID>, _ database: Database
    ) throws -> [DeviceID: [Mailbox.Tombstone]] {
        guard !devices.isEmpty else { return [:] }
        let statement = try database.cachedStatement(
            sql: "SELECT id, app, environment, lane, count, since FROM tombstone WHERE device = ? ORDER BY id")
        var found: [DeviceID: [Mailbox.Tombstone]] = [:]
        for device in devices {
            let rows = try Row.fetchAll(statement, arguments: [device.column])
            guard !rows.isEmpty else { continue }
            found[device] = rows.map { row in
                Mailbox.Tombstone(
                    id: NotificationID(rawValue: row[0]), app: AppID(column: row[1]),
                    environment: PushEnvironment(column: row[2]), lane: Lane(rawValue: row[3]) ?? .apns, count: row[4],
                    since: Timestamp(rawValue: row[5]))
            }
        }
        return found
    }

    private static func recalls(
        _ devices: Set<DeviceID>, _ database: Database
    ) throws -> [DeviceID: [Mailbox.Recall]] {
        guard !devices.isEmpty else { return [:] }
        let statement = try database.cachedStatement(
            sql: "SELECT id, message, at FROM recall WHERE device = ? ORDER BY id")
        var found: [DeviceID: [Mailbox.Recall]] = [:]
        for device in devices {
            let rows = try Row.fetchAll(statement, arguments: [device.column])
            guard !rows.isEmpty else { continue }
            found[device] = rows.map { row in
                Mailbox.Recall(
                    id: NotificationID(rawValue: row[0]), notification: NotificationID(rawValue: row[1]),
                    at: Timestamp(rawValue: row[2]))
            }
        }
        return found
    }

    private static func facts(
        _ ids: Set<NotificationID>, _ database: Database
    ) throws -> [NotificationID: NotificationFacts] {
        guard !ids.isEmpty else { return [:] }
        let statement = try database.cachedStatement(sql: "SELECT device, app FROM message WHERE id = ?")
        var found: [NotificationID: NotificationFacts] = [:]
        for id in ids {
            // A refused request has no device.
            guard let row = try Row.fetchOne(statement, arguments: [id.rawValue]),
                let device = (row[0] as Int64?).flatMap(DeviceID.init(column:))
            else { continue }
            found[id] = NotificationFacts(
                device: device, app: (row[1] as Int64?).map(AppID.init(column:)), lines: try lines(of: id, database))
        }
        return found
    }

    /// The lines that were appended to a timeline, by time.
    static func lines(of id: NotificationID, _ database: Database) throws -> [TimelineEntry] {
        let statement = try database.cachedStatement(
            sql: "SELECT at, state, source, note FROM timeline WHERE id = ? ORDER BY at")
        return try Row.fetchAll(statement, arguments: [id.rawValue]).compactMap { row in
            NotificationState(text: row[1] as String).map { state in
                TimelineEntry(
                    at: Timestamp(rawValue: row[0]), state: state, source: TimelineSource(rawValue: row[2]) ?? .server,
                    note: row[3])
            }
        }
    }

    /// Reads what expired while the devices with a hash were away.
    private static func readMissed(into found: inout Prefetched, _ database: Database) throws {
        guard !found.secretHashes.isEmpty else { return }
        let statement = try database.cachedStatement(
            sql: "SELECT app, environment, lane, count, since FROM missed WHERE device = ?")
        for device in found.secretHashes.keys {
            let rows = try Row.fetchAll(statement, arguments: [device.column])
            guard !rows.isEmpty else { continue }
            found.missed[device] = rows.map { row in
                MissedNotifications(
                    app: AppID(column: row[0]), environment: PushEnvironment(column: row[1]),
                    lane: Lane(rawValue: row[2]) ?? .apns, count: row[3], since: Timestamp(rawValue: row[4]))
            }
        }
    }

    /// Reads the hashes of devices' secrets, and the times at which their presence was recorded.
    private static func readDevices(
        _ devices: Set<DeviceID>, into found: inout Prefetched, _ database: Database
    ) throws {
        guard !devices.isEmpty else { return }
        let statement = try database.cachedStatement(
            sql: """
                SELECT secret_hash, coalesce(seen_at, enrolled_at), blocked_at IS NOT NULL FROM device
                WHERE id = ? AND revoked_at IS NULL
                """)
        for device in devices {
            guard let row = try Row.fetchOne(statement, arguments: [device.column]) else { continue }
            found.secretHashes[device] = Array(row[0] as Data)
            found.lastSeen[device] = Timestamp(rawValue: row[1])
            if row[2] { found.blocked.insert(device) }
        }
    }
}
