import PushCore
import PushServer

extension PostgresStore: NotificationStore {
    /// Reads on the writer's connection. Where mailboxes are locked, the transaction stays open.
    package func prefetch(_ request: PrefetchRequest) throws -> Prefetched {
        guard !request.isEmpty else { return Prefetched() }
        if let block = request.block { return try writer.begin { try PrefetchReader.lock(request, block, $0) } }
        return try writer.read { try PrefetchReader.read(request, $0) }
    }

    /// Reads the queued notifications, and the notices among them.
    package func page(
        device: DeviceID, after: NotificationID?, limit: Int, now: Timestamp,
        then complete: @escaping @Sendable (Result<[OutgoingNotification], any Error>) -> Void
    ) {
        pool.readStatements(
            { connection in
                let place = [
                    PostgresParameter(device), PostgresParameter(after?.rawValue ?? 0), PostgresParameter(limit),
                ]
                let rows = try connection.pipeline([
                    .init(Self.pageSQL, place + [PostgresParameter(now)]), .init(Self.tombstoneSQL, place),
                    .init(Self.recallSQL, place),
                ])
                let page =
                    try rows[0].map(OutgoingNotification.init(waiting:))
                    + rows[1].map(OutgoingNotification.init(tombstone:))
                    + rows[2].map(OutgoingNotification.init(recall:))
                return Array(page.sorted { $0.id < $1.id }.prefix(limit))
            }, then: complete)
    }

    private static let pageSQL = """
        SELECT pending.id, app.team, app.topic, message.environment, message.lane, message.apns_id, message.push_type,
            message.priority, message.collapse_id, message.accepted_at, pending.expires_at,
            coalesce(message.payload, (SELECT payload.content FROM payload_use
                JOIN payload ON payload.id = payload_use.payload WHERE payload_use.message = message.id)) AS payload
        FROM pending JOIN message ON message.id = pending.id JOIN app ON app.id = pending.app
        WHERE pending.device = $1 AND pending.id > $2 AND pending.expires_at > $4 AND app.removed_at IS NULL
        ORDER BY pending.id LIMIT $3
        """
    private static let tombstoneSQL = """
        SELECT tombstone.id, app.team, app.topic, tombstone.environment, tombstone.lane, tombstone.count, tombstone.since
        FROM tombstone JOIN app ON app.id = tombstone.app
        WHERE tombstone.device = $1 AND tombstone.id > $2 AND app.removed_at IS NULL ORDER BY tombstone.id LIMIT $3
        """
    private static let recallSQL = """
        SELECT recall.id, app.team, app.topic, message.environment, message.lane, recall.message, recall.at
        FROM recall JOIN message ON message.id = recall.message JOIN app ON app.id = message.app
        WHERE recall.device = $1 AND recall.id > $2 AND app.removed_at IS NULL ORDER BY recall.id LIMIT $3
        """

    /// Finds the device's own ids by their keys.
    package func notifications(
        of device: DeviceID, among ids: [NotificationID],
        then complete: @escaping @Sendable (Result<Set<NotificationID>, any Error>) -> Void
    ) {
        pool.readStatements(
            { connection in
                let rows = try connection.run(
                    .init(
                        "SELECT id FROM message WHERE id = ANY($1::bigint[]) AND device = $2",
                        [.ids(ids), PostgresParameter(device)]))
                return Set(try rows.map { try $0[0] })
            }, then: complete)
    }

    /// Reads the next rows by device and id.
    package func expired(
        at now: Timestamp, awaySince: Timestamp, from position: SweepPosition?, limit: Int
    ) throws -> ExpiredSlice {
        try writer.read { connection in
            let rows = try connection.run(
                """
                SELECT pending.device, pending.id, pending.expires_at, pending.app, pending.environment,
                    device.revoked_at IS NOT NULL OR app.removed_at IS NOT NULL,
                    coalesce(coalesce(device.seen_at, device.enrolled_at) <= $1, false)
                FROM pending LEFT JOIN device ON device.id = pending.device LEFT JOIN app ON app.id = pending.app
                WHERE (pending.device, pending.id) > ($2, $3) ORDER BY pending.device, pending.id LIMIT $4
                """, awaySince, position.map { Int64($0.device.rawValue) } ?? 0, position?.id.rawValue ?? 0, limit)
            var slice = ExpiredSlice(devices: [], next: nil)
            slice.count = rows.count
            slice.oldest = try rows.map { try $0[1] as NotificationID }.min()
            for row in rows {
                let device: DeviceID = try row[0]
                if try row[2] <= now { slice.devices.insert(device) }
                if try row[6] { slice.away.insert(device) }
                guard try row[5] else { continue }
                slice.ended.insert(RegistrationKey(device: device, app: try row[3], environment: try row[4]))
            }
            if rows.count == limit, let last = rows.last {
                slice.next = SweepPosition(device: try last[0], id: try last[1])
            }
            return slice
        }
    }

    /// The durable ceiling, or the highest id that is stored where that is greater.
    package func highWater() throws -> Int64 {
        try writer.read { connection in
            let rows = try connection.run(
                """
                SELECT greatest((SELECT value FROM meta WHERE key = 'high_water'), (SELECT max(id) FROM message))
                """)
            return try rows.first?[0] as Int64? ?? 0
        }
    }

    /// The team of a recorded span that contains the id.
    package func isUnrecorded(_ id: NotificationID, team: TeamID?) async throws -> TeamID? {
        try await pool.read { connection in
            try connection.run(
                """
                SELECT team FROM unrecorded WHERE first <= $1 AND last >= $1 AND ($2::text IS NULL OR team = $2) LIMIT 1
                """, id, team
            ).first?[0]
        }
    }

    /// Reads the timelines, in the order of their ids; of accepted ones with the same `apns-id` the newest 1000.
    package func timelines(
        id: NotificationID?, apnsID: APNsID?, team: TeamID?
    ) async throws -> [NotificationTimeline] {
        try await pool.read { connection in
            var ids: Set<NotificationID> = id.map { [$0] } ?? []
            if let name = apnsID?.lookUpKey {
                for sql in [Self.acceptedSQL, Self.refusalSQL] {
                    ids.formUnion(try connection.run(sql, name, team).map { try $0[0] })
                }
            }
            return try TimelineReader(connection: connection).timelines(ids.sorted())
                .filter { team == nil || $0.team == team }
        }
    }

    private static let acceptedSQL = """
        SELECT identity.id FROM identity JOIN app ON app.id = identity.app
        WHERE identity.apns_id = $1 AND ($2::text IS NULL OR app.team = $2) ORDER BY identity.id DESC LIMIT 1000
        """
    /// The newest refusals of each team, one team after the other by the index.
    private static let refusalSQL = """
        WITH RECURSIVE named(team) AS (
            SELECT min(team) FROM refusal WHERE apns_id = $1 AND ($2::text IS NULL OR team = $2)
            UNION ALL
            SELECT (SELECT min(team) FROM refusal WHERE apns_id = $1 AND team > named.team AND $2 IS NULL)
            FROM named WHERE named.team IS NOT NULL)
        SELECT found.id FROM named CROSS JOIN LATERAL (
            SELECT id FROM refusal WHERE apns_id = $1 AND team = named.team ORDER BY id DESC LIMIT 50) AS found
        """
}

extension OutgoingNotification {
    fileprivate init(waiting row: PostgresRow) throws {
        let id: NotificationID = try row["id"]
        self.init(
            id: id, apnsID: try row.apnsID("apns_id", of: id), team: try row["team"], topic: try row["topic"],
            environment: try row["environment"], lane: try row["lane"], pushType: try row.pushType("push_type"),
            priority: try row["priority"], collapseID: try row["collapse_id"], acceptedAt: try row["accepted_at"],
            expiresAt: try row["expires_at"], payload: try row["payload"] as [UInt8]? ?? [])
    }

    fileprivate init(tombstone row: PostgresRow) throws {
        let since: Timestamp = try row[6]
        self.init(
            .deleted(count: try row[5], since: since), id: try row[0], team: try row[1], topic: try row[2],
            environment: try row[3], lane: try row[4], at: since)
    }

    fileprivate init(recall row: PostgresRow) throws {
        self.init(
            .withdrawn(try row[5]), id: try row[0], team: try row[1], topic: try row[2], environment: try row[3],
            lane: try row[4], at: try row[6])
    }
}
