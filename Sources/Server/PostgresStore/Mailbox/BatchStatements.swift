import PushCore
import PushServer

/// The statements that make the changes of a batch, one a table.
struct BatchStatements {
    typealias Statement = PostgresConnection.Statement

    /// The statements, in an order in which each row is there before another refers to it.
    private(set) var all: [Statement] = []

    /// Creates the statements of a batch.
    init(_ batch: FoldedBatch) {
        // Rows that a batch removes were there before it.
        add(batch.waiting.removed, Self.remove("pending"))
        add(batch.tombstones.removed, Self.remove("tombstone"))
        add(batch.removedRecalls, Self.remove("recall"))
        add(batch.payloads, Self.payloads)
        add(batch.notifications.filter { $0.expiresAt != nil }) { Self.messages($0, onConflict: "") }
        // Two nodes may write the same attempt, where one did not hear of the other.
        add(batch.notifications.filter { $0.expiresAt == nil }) {
            Self.messages($0, onConflict: "ON CONFLICT DO NOTHING")
        }
        add(batch.notifications.filter { $0.sharedPayload != nil }, Self.payloadUses)
        add(batch.notifications.filter { $0.apnsID != nil }, Self.identities)
        add(
            batch.notifications.filter {
                batch.waiting.inserted.contains(FoldedBatch.OwnedID(device: $0.subject.device, id: $0.id))
            }, Self.waiting)
        add(batch.refusals, Self.refusals)
        add(batch.refusals.filter { $0.apnsID != nil }, Self.refusalNames)
        add(batch.tombstones.emptied.keys, Self.removeTombstones)
        add(batch.tombstones.kept.map { ($0.key, $0.value) }, Self.tombstones)
        add(batch.recalls.map { ($0.key.device, $0.value) }, Self.recalls)
        addMissed(batch.missed)
        add(batch.seen.map { ($0.key, $0.value) }, Self.seen)
        add(batch.lines, Self.lines)
        add(batch.cursors.map { ($0.key, $0.value) }, Self.cursors)
        add(batch.sessions.map { ($0.key, $0.value) }, Self.sessions)
        if let ceiling = batch.highWater { all.append(Self.highWater(ceiling)) }
        add(Array(batch.unrecorded.values), Self.unrecorded)
        addChanges(batch)
    }

    private mutating func add<Rows: Collection>(_ rows: Rows, _ statement: ([Rows.Element]) -> Statement) {
        if !rows.isEmpty { all.append(statement(Array(rows))) }
    }

    private static func remove(_ table: String) -> ([FoldedBatch.OwnedID]) -> Statement {
        { rows in
            Statement(
                """
                DELETE FROM \(table) USING unnest($1::bigint[], $2::bigint[]) AS gone(device, id)
                WHERE \(table).device = gone.device AND \(table).id = gone.id
                """, [.devices(rows.map(\.device)), .ids(rows.map(\.id))])
        }
    }

    private static func payloads(_ records: [PayloadRecord]) -> Statement {
        Statement(
            """
            INSERT INTO payload(id, lane, content, checked_at)
            SELECT * FROM unnest($1::bigint[], $2::smallint[], $3::bytea[], $4::bigint[])
            """,
            [
                .int8s(records.map(\.id.rawValue)), .int2s(records.map { Int16($0.lane.rawValue) }),
                .byteas(records.map(\.content)), .times(records.map(\.acceptedAt)),
            ])
    }

    private static func messages(_ records: [NotificationRecord], onConflict action: String) -> Statement {
        Statement(
            """
            INSERT INTO message(id, app, device, environment, generation, lane, apns_id, push_type, priority, collapse_id,
                accepted_at, expires_at, stored, note, payload)
            SELECT * FROM unnest($1::bigint[], $2::bigint[], $3::bigint[], $4::smallint[], $5::integer[], $6::smallint[],
                $7::text[], $8::text[], $9::smallint[], $10::text[], $11::bigint[], $12::bigint[], $13::boolean[],
                $14::text[], $15::bytea[]) \(action)
            """,
            [
                .ids(records.map(\.id)), .apps(records.map(\.subject.app)),
                .devices(records.map(\.subject.device)), .environments(records.map(\.subject.environment)),
                .int4s(records.map { Int32($0.subject.generation) }), .lanes(records.map(\.lane)),
                .texts(records.map { $0.apnsID?.rawValue }), .texts(records.map { $0.pushType?.rawValue }),
                .int2s(records.map { Int16($0.priority.rawValue) }), .texts(records.map(\.collapseID)),
                .times(records.map(\.acceptedAt)), .int8s(records.map { $0.expiresAt?.rawValue }),
                .bools(records.map { $0.waits }), .texts(records.map(\.note)), .byteas(records.map(\.ownPayload)),
            ])
    }

    private static func payloadUses(_ records: [NotificationRecord]) -> Statement {
        Statement(
            "INSERT INTO payload_use(message, payload) SELECT * FROM unnest($1::bigint[], $2::bigint[])",
            [.ids(records.map(\.id)), .int8s(records.map { $0.sharedPayload?.rawValue })])
    }

    /// The device column of attempts in `identity`. The `apns-id` of an attempt may be repeated any number of times; it only finds
    /// timelines.
    static let nobody: Int64 = 0

    private static func identities(_ records: [NotificationRecord]) -> Statement {
        Statement(
            """
            INSERT INTO identity(apns_id, device, app, environment, id, accepted_at)
            SELECT * FROM unnest($1::text[], $2::bigint[], $3::bigint[], $4::smallint[], $5::bigint[], $6::bigint[])
            ON CONFLICT DO NOTHING
            """,
            [
                .texts(records.map { $0.apnsID?.lookUpKey }),
                .int8s(records.map { $0.expiresAt == nil ? nobody : Int64($0.subject.device.rawValue) }),
                .apps(records.map(\.subject.app)),
                .environments(records.map(\.subject.environment)), .ids(records.map(\.id)),
                .times(records.map(\.acceptedAt)),
            ])
    }

    private static func waiting(_ records: [NotificationRecord]) -> Statement {
        Statement(
            """
            INSERT INTO pending(device, id, app, environment, lane, expires_at, collapse_id)
            SELECT * FROM unnest($1::bigint[], $2::bigint[], $3::bigint[], $4::smallint[], $5::smallint[], $6::bigint[],
                $7::text[])
            """,
            [
                .devices(records.map(\.subject.device)), .ids(records.map(\.id)),
                .apps(records.map(\.subject.app)),
                .environments(records.map(\.subject.environment)), .lanes(records.map(\.lane)),
                .int8s(records.map { $0.expiresAt?.rawValue }), .texts(records.map(\.collapseID)),
            ])
    }

    private static func refusals(_ records: [RefusalRecord]) -> Statement {
        Statement(
            """
            INSERT INTO message(id, lane, priority, stored, apns_id, accepted_at, team, topic, code, note)
            SELECT id, 0, 10, false, apns_id, accepted_at, team, topic, code, note
            FROM unnest($1::bigint[], $2::text[], $3::bigint[], $4::text[], $5::text[], $6::text[], $7::text[])
                AS refused(id, apns_id, accepted_at, team, topic, code, note)
            """,
            [
                .ids(records.map(\.id)), .texts(records.map { $0.apnsID?.rawValue }), .times(records.map(\.at)),
                .texts(records.map { $0.team.rawValue }), .texts(records.map { $0.topic }),
                .texts(records.map { $0.code }),
                .texts(records.map(\.note)),
            ])
    }

    private static func refusalNames(_ records: [RefusalRecord]) -> Statement {
        Statement(
            "INSERT INTO refusal(apns_id, team, id) SELECT * FROM unnest($1::text[], $2::text[], $3::bigint[])",
            [
                .texts(records.map { $0.apnsID?.lookUpKey }), .texts(records.map { $0.team.rawValue }),
                .ids(records.map(\.id)),
            ])
    }

    private static func lines(_ lines: [FoldedBatch.OwnedLine]) -> Statement {
        Statement(
            """
            INSERT INTO timeline(id, at, state, source, note)
            SELECT * FROM unnest($1::bigint[], $2::bigint[], $3::text[], $4::text[], $5::text[]) ON CONFLICT DO NOTHING
            """,
            [
                .ids(lines.map(\.id)), .times(lines.map(\.line.at)), .texts(lines.map { $0.line.state.text }),
                .texts(lines.map { $0.line.source.rawValue }), .texts(lines.map(\.line.note)),
            ])
    }
}

/// The tables of devices, of which a batch changes few rows.
extension BatchStatements {
    private typealias Place = FoldedBatch.TombstoneChanges.Place

    private static func removeTombstones(_ places: [Place]) -> Statement {
        Statement(
            """
            DELETE FROM tombstone USING unnest($1::bigint[], $2::bigint[], $3::smallint[], $4::smallint[])
                AS gone(device, app, environment, lane)
            WHERE tombstone.device = gone.device AND tombstone.app = gone.app
                AND tombstone.environment = gone.environment AND tombstone.lane = gone.lane
            """, columns(places))
    }

    private static func columns(_ places: [Place]) -> [PostgresParameter] {
        [
            .devices(places.map(\.device)), .apps(places.map(\.app)),
            .environments(places.map(\.environment)), .lanes(places.map(\.lane)),
        ]
    }

    private static func tombstones(_ kept: [(place: Place, tombstone: Mailbox.Tombstone)]) -> Statement {
        let tombstones = kept.map(\.tombstone)
        let values: [PostgresParameter] = [
            .ids(tombstones.map(\.id)), .counts(tombstones.map(\.count)), .times(tombstones.map(\.since)),
        ]
        return Statement(
            """
            INSERT INTO tombstone(device, app, environment, lane, id, count, since)
            SELECT * FROM unnest($1::bigint[], $2::bigint[], $3::smallint[], $4::smallint[], $5::bigint[], $6::bigint[],
                $7::bigint[])
            ON CONFLICT (device, app, environment, lane)
            DO UPDATE SET id = excluded.id, count = excluded.count, since = excluded.since
            """, columns(kept.map(\.place)) + values)
    }

    private static func recalls(_ recalls: [(device: DeviceID, recall: Mailbox.Recall)]) -> Statement {
        Statement(
            """
            INSERT INTO recall(device, id, message, at)
            SELECT * FROM unnest($1::bigint[], $2::bigint[], $3::bigint[], $4::bigint[])
            """,
            [
                .devices(recalls.map(\.device)), .ids(recalls.map(\.recall.id)),
                .ids(recalls.map(\.recall.notification)), .times(recalls.map(\.recall.at)),
            ])
    }

    private mutating func addMissed(_ missed: FoldedBatch.MissedChanges) {
        let forgotten = missed.forgotten.flatMap { device, places in places.map { (device, $0) } }
        add(forgotten.filter { $0.1 == nil }.map(\.0)) { devices in
            Statement("DELETE FROM missed WHERE device = ANY($1::bigint[])", [.devices(devices)])
        }
        add(forgotten.compactMap(\.1)) { places in
            Statement(
                """
                DELETE FROM missed USING unnest($1::bigint[], $2::bigint[], $3::smallint[]) AS gone(device, app, environment)
                WHERE missed.device = gone.device AND missed.app = gone.app AND missed.environment = gone.environment
                """,
                [
                    .devices(places.map(\.device)), .apps(places.map(\.app)),
                    .environments(places.map(\.environment)),
                ])
        }
        let added = missed.added.flatMap { device, counts in counts.map { (device: device, missed: $0) } }
        add(added, Self.missed)
    }

    private static func missed(_ rows: [(device: DeviceID, missed: MissedNotifications)]) -> Statement {
        let counts = rows.map(\.missed)
        return Statement(
            """
            INSERT INTO missed(device, app, environment, lane, count, since)
            SELECT * FROM unnest($1::bigint[], $2::bigint[], $3::smallint[], $4::smallint[], $5::bigint[], $6::bigint[])
            ON CONFLICT (device, app, environment, lane) DO UPDATE SET count = missed.count + excluded.count
            """,
            [
                .devices(rows.map(\.device)), .apps(counts.map(\.app)), .environments(counts.map(\.environment)),
                .lanes(counts.map(\.lane)), .counts(counts.map(\.count)), .times(counts.map(\.since)),
            ])
    }

    private static func seen(_ seen: [(device: DeviceID, at: Timestamp)]) -> Statement {
        Statement(
            """
            UPDATE device SET seen_at = seen.at FROM unnest($1::bigint[], $2::bigint[]) AS seen(device, at)
            WHERE device.id = seen.device
            """, [.devices(seen.map(\.device)), .times(seen.map(\.at))])
    }

    private static func cursors(_ cursors: [(device: DeviceID, sequence: Int64)]) -> Statement {
        Statement(
            """
            INSERT INTO fanout_cursor(device, sequence) SELECT * FROM unnest($1::bigint[], $2::bigint[])
            ON CONFLICT (device) DO UPDATE SET sequence = greatest(fanout_cursor.sequence, excluded.sequence)
            """, [.devices(cursors.map(\.device)), .int8s(cursors.map(\.sequence))])
    }

    private static func highWater(_ ceiling: Int64) -> Statement {
        Statement(
            """
            INSERT INTO meta(key, value) VALUES('high_water', $1)
            ON CONFLICT (key) DO UPDATE SET value = greatest(meta.value, excluded.value)
            """, [PostgresParameter(ceiling)])
    }

    private static func unrecorded(_ spans: [UnrecordedSpan]) -> Statement {
        Statement(
            """
            INSERT INTO unrecorded(team, first, last, count)
            SELECT * FROM unnest($1::text[], $2::bigint[], $3::bigint[], $4::bigint[])
            ON CONFLICT (team, first) DO UPDATE SET last = greatest(unrecorded.last, excluded.last),
                count = unrecorded.count + excluded.count
            """,
            [
                .texts(spans.map { $0.team.rawValue }), .ids(spans.map(\.first)), .ids(spans.map(\.last)),
                .counts(spans.map(\.count)),
            ])
    }

    private static func sessions(_ rows: [(device: DeviceID, row: FoldedBatch.SessionRow)]) -> Statement {
        Statement(
            """
            UPDATE mailbox SET node = changed.node, epoch = changed.epoch
            FROM unnest($1::bigint[], $2::bigint[], $3::bigint[]) AS changed(device, node, epoch)
            WHERE mailbox.device = changed.device AND mailbox.epoch <= changed.epoch
            """,
            [
                .devices(rows.map(\.device)), .int8s(rows.map { $0.row.node.map { Int64($0) } }),
                .int8s(rows.map { Int64($0.row.epoch) }),
            ])
    }

    /// Records in one row which notifications the batch concerns, for the reports.
    private mutating func addChanges(_ batch: FoldedBatch) {
        let ids = Set(batch.notifications.map(\.id.rawValue)).union(batch.lines.lazy.map(\.id.rawValue))
        guard !ids.isEmpty else { return }
        all.append(Statement("INSERT INTO report_change(ids) VALUES($1)", [.int8s(ids.sorted())]))
    }
}

extension PostgresParameter {
    static func ids(_ ids: [NotificationID]) -> PostgresParameter { int8s(ids.map(\.rawValue)) }

    static func devices(_ devices: some Collection<DeviceID>) -> PostgresParameter {
        int8s(devices.map { Int64($0.rawValue) })
    }

    static func apps(_ apps: [AppID]) -> PostgresParameter { int8s(apps.map { Int64($0.rawValue) }) }

    static func times(_ instants: [Timestamp]) -> PostgresParameter { int8s(instants.map(\.rawValue)) }

    static func counts(_ counts: [Int]) -> PostgresParameter { int8s(counts.map { Int64($0) }) }

    static func environments(_ environments: [PushEnvironment]) -> PostgresParameter {
        int2s(environments.map { Int16($0.column) })
    }

    static func lanes(_ lanes: [Lane]) -> PostgresParameter { int2s(lanes.map { Int16($0.rawValue) }) }
}

extension NotificationRecord {
    /// The payload of its own; `nil` where it shares one.
    fileprivate var ownPayload: [UInt8]? {
        if case .own(let bytes) = payload { bytes } else { nil }
    }

    /// The payload that it shares; `nil` where it has its own.
    fileprivate var sharedPayload: PayloadID? {
        if case .shared(let id) = payload { id } else { nil }
    }
}
