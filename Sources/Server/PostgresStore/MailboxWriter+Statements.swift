import PushCore
import PushServer

extension MailboxWriter {
    typealias Statement = (name: String, sql: String, kinds: [PostgresParameter.Kind])

    static let statements: [Statement] = [
        ("begin", "BEGIN", []), ("commit", "COMMIT", []),
        (
            "mailbox",
            "INSERT INTO mailbox(device) SELECT unnest($1::bigint[]) ON CONFLICT DO NOTHING", [.int8Array]
        ),
        (
            "reserve",
            """
            UPDATE mailbox SET last_id = greatest(mailbox.last_id + wanted.count, $3), revision = revision + 1
            FROM unnest($1::bigint[], $2::bigint[]) AS wanted(device, count) WHERE mailbox.device = wanted.device
            RETURNING mailbox.device, mailbox.last_id, mailbox.revision
            """, [.int8Array, .int8Array, .int8]
        ),
        (
            "message",
            """
            INSERT INTO message SELECT * FROM unnest($1::bigint[], $2::bigint[], $3::bigint[], $4::smallint[],
                $5::integer[], $6::text[], $7::text[], $8::smallint[], $9::text[], $10::bigint[], $11::bigint[],
                $12::boolean[], $13::smallint[], $14::bytea[], $15::text[])
            """,
            [
                .int8Array, .int8Array, .int8Array, .int2Array, .int4Array, .textArray, .textArray, .int2Array,
                .textArray, .int8Array, .int8Array, .boolArray, .int2Array, .byteaArray, .textArray,
            ]
        ),
        (
            "pending",
            """
            INSERT INTO pending SELECT * FROM unnest($1::bigint[], $2::bigint[], $3::bigint[], $4::smallint[],
                $5::smallint[], $6::bigint[])
            """, [.int8Array, .int8Array, .int8Array, .int2Array, .int2Array, .int8Array]
        ),
        (
            "removal",
            """
            DELETE FROM pending USING unnest($1::bigint[], $2::bigint[]) AS gone(device, id)
            WHERE pending.device = gone.device AND pending.id = gone.id
            """, [.int8Array, .int8Array]
        ),
        (
            "timeline",
            """
            INSERT INTO timeline SELECT * FROM unnest($1::bigint[], $2::bigint[], $3::text[], $4::text[], $5::text[])
            ON CONFLICT DO NOTHING
            """, [.int8Array, .int8Array, .textArray, .textArray, .textArray]
        ),
    ]

    static func message(_ records: [NotificationRecord]) -> PostgresConnection.Query {
        .init(
            "message",
            [
                .int8s(records.map(\.id.rawValue)),
                .int8s(records.map { Int64(bitPattern: $0.subject.device.rawValue) }),
                .int8s(records.map { Int64($0.subject.app.rawValue) }),
                .int2s(records.map { $0.subject.environment == .production ? 1 : 0 }),
                .int4s(records.map { Int32($0.subject.generation) }), .texts(records.map { $0.apnsID?.rawValue }),
                .texts(records.map { $0.pushType?.rawValue }), .int2s(records.map { Int16($0.priority.rawValue) }),
                .texts(records.map(\.collapseID)), .int8s(records.map(\.acceptedAt.rawValue)),
                .int8s(records.map { $0.expiresAt?.rawValue }), .bools(records.map { $0.waits }),
                .int2s(records.map { Int16($0.lane.rawValue) }), .byteas(records.map(\.ownPayload)),
                .texts(records.map(\.note)),
            ])
    }

    static func pending(_ records: [NotificationRecord]) -> PostgresConnection.Query {
        .init(
            "pending",
            [
                .int8s(records.map { Int64(bitPattern: $0.subject.device.rawValue) }),
                .int8s(records.map(\.id.rawValue)),
                .int8s(records.map { Int64($0.subject.app.rawValue) }),
                .int2s(records.map { $0.subject.environment == .production ? 1 : 0 }),
                .int2s(records.map { Int16($0.lane.rawValue) }), .int8s(records.map { $0.expiresAt?.rawValue }),
            ])
    }

    static func removal(_ rows: [FoldedBatch.OwnedID]) -> PostgresConnection.Query {
        .init(
            "removal",
            [.int8s(rows.map { Int64(bitPattern: $0.device.rawValue) }), .int8s(rows.map(\.id.rawValue))])
    }

    static func timeline(_ lines: [FoldedBatch.OwnedLine]) -> PostgresConnection.Query {
        .init(
            "timeline",
            [
                .int8s(lines.map(\.id.rawValue)), .int8s(lines.map(\.line.at.rawValue)),
                .texts(lines.map { $0.line.state.text }), .texts(lines.map { $0.line.source.rawValue }),
                .texts(lines.map(\.line.note)),
            ])
    }
}

extension NotificationRecord {
    /// The payload of its own; `nil` where it shares one.
    fileprivate var ownPayload: [UInt8]? {
        if case .own(let bytes) = payload { bytes } else { nil }
    }
}
