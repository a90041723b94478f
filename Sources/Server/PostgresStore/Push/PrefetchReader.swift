import PushCore
import PushServer

/// The rows that a batch needs, in one round trip; those of broadcasts in a few more.
struct PrefetchReader {
    typealias Statement = PostgresConnection.Statement

    private let request: PrefetchRequest
    private var statements: [Statement] = []
    private var readers: [(PostgresRows, inout Prefetched) throws -> Void] = []

    /// Reads the rows in one transaction.
    static func read(_ request: PrefetchRequest, _ connection: PostgresConnection) throws -> Prefetched {
        var reader = PrefetchReader(request: request)
        reader.addIdentities()
        reader.addMailboxes(request.mailboxes)
        reader.addNotifications()
        reader.addDevices()
        var found = Prefetched()
        guard !request.audiences.isEmpty else {
            try reader.take(try connection.pipeline(reader.statements), into: &found)
            return found
        }
        try connection.snapshot { connection in
            try reader.take(try connection.pipeline(reader.statements), into: &found)
            try PostgresAudience(connection: connection).read(
                request.audiences, known: request.known, away: request.away, into: &found)
        }
        return found
    }

    /// Begins a transaction, locks the mailboxes' rows, and reads what the batch needs.
    ///
    /// A statement sees what was committed before it began, so what is read after the locks stays until the end. The rows
    /// are locked in the order of the devices: the join is a nested loop over the array.
    static func lock(
        _ request: PrefetchRequest, _ block: NotificationIDBlock, _ connection: PostgresConnection
    ) throws -> Prefetched {
        var reader = PrefetchReader(request: request)
        reader.addIdentities()
        reader.addMailboxes(request.mailboxes)
        reader.addNotifications()
        let locks = request.locks.sorted { $0.key < $1.key }
        var found = Prefetched()
        let rows = try connection.pipeline([.init("BEGIN"), MailboxLocks.lock(locks, block)] + reader.statements)
        found.rows = try MailboxLocks.rows(rows[1])
        try reader.take(Array(rows.dropFirst(2)), into: &found)
        let new = locks.filter { found.rows[$0.key] == nil }
        if !new.isEmpty {
            // Another node may have added such a row meanwhile, and what belongs to it: everything is read again.
            let rows = try connection.pipeline([MailboxLocks.add(new, block)] + reader.statements)
            let known = found.rows
            found = Prefetched()
            found.rows = known.merging(try MailboxLocks.rows(rows[0])) { $1 }
            try reader.take(Array(rows.dropFirst()), into: &found)
        }
        try readChanged(locks, &found, connection)
        if !request.audiences.isEmpty {
            try PostgresAudience(connection: connection).read(
                request.audiences, known: request.known, away: request.away, into: &found)
        }
        return found
    }

    /// Reads the mailboxes that another node has changed since they were read.
    private static func readChanged(
        _ locks: [(key: DeviceID, value: MailboxLock)], _ found: inout Prefetched, _ connection: PostgresConnection
    ) throws {
        let changed = locks.filter { device, lock in
            guard let revision = lock.revision else { return false }
            return found.rows[device]?.revision != revision + 1
        }
        guard !changed.isEmpty else { return }
        found.changed = Set(changed.map(\.key))
        var reader = PrefetchReader(request: PrefetchRequest(acceptedSince: Timestamp(rawValue: 0)))
        reader.addMailboxes(found.changed)
        try reader.take(try connection.pipeline(reader.statements), into: &found)
    }

    /// The end of a subquery that PostgreSQL then executes for each key. A join of the same tables could be planned to read one of
    /// them whole, while it is nearly empty. Such a plan is used until the table is analyzed.
    static let byKey = "OFFSET 0"

    private init(request: PrefetchRequest) { self.request = request }

    private func take(_ rows: [PostgresRows], into found: inout Prefetched) throws {
        for (reader, rows) in zip(readers, rows) { try reader(rows, &found) }
    }

    private mutating func add(
        _ sql: String, _ parameters: [PostgresParameter],
        read: @escaping (PostgresRow, inout Prefetched) throws -> Void
    ) {
        statements.append(Statement(sql, parameters))
        readers.append { rows, found in for row in rows { try read(row, &found) } }
    }

    private mutating func addIdentities() {
        let identities = Array(request.identities)
        guard !identities.isEmpty else { return }
        add(
            """
            SELECT wanted.number, found.* FROM unnest($1::text[], $2::bigint[], $3::bigint[], $4::smallint[], $5::integer[])
                WITH ORDINALITY AS wanted(apns_id, device, app, environment, generation, number)
            CROSS JOIN LATERAL (
                SELECT identity.id, push_type, priority, collapse_id, payload
                FROM identity JOIN message ON message.id = identity.id
                WHERE identity.apns_id = wanted.apns_id AND identity.device = wanted.device AND identity.app = wanted.app
                    AND identity.environment = wanted.environment AND message.generation = wanted.generation
                    AND identity.accepted_at >= $6 AND message.expires_at IS NOT NULL
                ORDER BY identity.id DESC LIMIT \(AcceptedContent.limit)) AS found
            ORDER BY wanted.number, found.id DESC
            """,
            [
                .texts(identities.map { $0.apnsID }), .devices(identities.map(\.subject.device)),
                .int8s(identities.map { Int64($0.subject.app.rawValue) }),
                .environments(identities.map(\.subject.environment)),
                .int4s(identities.map { Int32($0.subject.generation) }), PostgresParameter(request.acceptedSince),
            ]
        ) { row, found in
            let number: Int = try row[0]
            found.identities[identities[number - 1], default: []].append(
                AcceptedContent(
                    id: try row[1], pushType: try row.pushType("push_type"), priority: try row[3],
                    collapseID: try row[4],
                    payload: try row[5]))
        }
    }

    private mutating func addMailboxes(_ mailboxes: Set<DeviceID>) {
        guard !mailboxes.isEmpty else { return }
        let devices = [PostgresParameter.devices(mailboxes)]
        // A join looks for a device in its part of `pending` alone, and `= ANY` in all parts.
        add(
            """
            SELECT wanted.device, id, app, environment, lane, collapse_id, expires_at
            FROM unnest($1::bigint[]) AS wanted(device) CROSS JOIN LATERAL (
                SELECT id, app, environment, lane, collapse_id, expires_at FROM pending
                WHERE pending.device = wanted.device \(Self.byKey)) AS found
            ORDER BY id
            """, devices
        ) { row, found in
            found.waiting[try row[0], default: []].append(
                Mailbox.Entry(
                    id: try row[1], app: try row[2], environment: try row[3], lane: try row[4],
                    collapseID: try row[5], expiresAt: try row[6]))
        }
        add(
            """
            SELECT device, id, app, environment, lane, count, since FROM tombstone
            WHERE device = ANY($1::bigint[]) ORDER BY id
            """, devices
        ) { row, found in
            found.tombstones[try row[0], default: []].append(
                Mailbox.Tombstone(
                    id: try row[1], app: try row[2], environment: try row[3], lane: try row[4], count: try row[5],
                    since: try row[6]))
        }
        add("SELECT device, id, message, at FROM recall WHERE device = ANY($1::bigint[]) ORDER BY id", devices) {
            row, found in
            found.recalls[try row[0], default: []].append(
                Mailbox.Recall(id: try row[1], notification: try row[2], at: try row[3]))
        }
    }

    private mutating func addNotifications() {
        guard !request.notifications.isEmpty else { return }
        let ids = [PostgresParameter.ids(Array(request.notifications))]
        // A refused request has no device. The timeline's columns of a notification without lines are NULL.
        add(
            """
            SELECT wanted.id, device, app, at, state, source, note
            FROM unnest($1::bigint[]) AS wanted(id)
            CROSS JOIN LATERAL (SELECT device, app FROM message WHERE message.id = wanted.id \(Self.byKey)) AS found
            LEFT JOIN LATERAL (
                SELECT at, state, source, note FROM timeline WHERE timeline.id = wanted.id \(Self.byKey)) AS line ON true
            WHERE device IS NOT NULL ORDER BY wanted.id, at, state
            """, ids
        ) { row, found in
            let id: NotificationID = try row[0]
            let at: Timestamp? = try row[3]
            let line = try at.flatMap { _ in try TimelineEntry(row, from: 3) }
            let known = found.notifications[id]?.lines ?? []
            found.notifications[id] = NotificationFacts(
                device: try row[1], app: try row[2], lines: known + (line.map { [$0] } ?? []))
        }
    }

    private mutating func addDevices() {
        guard !request.secretHashes.isEmpty else { return }
        let devices = [PostgresParameter.devices(request.secretHashes)]
        add(
            """
            SELECT id, secret_hash, coalesce(seen_at, enrolled_at), blocked_at IS NOT NULL FROM device
            WHERE id = ANY($1::bigint[]) AND revoked_at IS NULL
            """, devices
        ) { row, found in
            let device: DeviceID = try row[0]
            found.secretHashes[device] = try row[1]
            found.lastSeen[device] = try row[2]
            if try row[3] { found.blocked.insert(device) }
        }
        add("SELECT device, app, environment, lane, count, since FROM missed WHERE device = ANY($1::bigint[])", devices)
        {
            row, found in
            let device: DeviceID = try row[0]
            guard found.secretHashes[device] != nil else { return }
            found.missed[device, default: []].append(
                MissedNotifications(
                    app: try row[1], environment: try row[2], lane: try row[3], count: try row[4], since: try row[5]))
        }
    }
}

extension TimelineEntry {
    /// Decodes the columns `at`, `state`, `source` and `note`; `nil` for a state of a later version.
    init?(_ row: PostgresRow, from column: Int) throws {
        guard let state = NotificationState(text: try row[column + 1] as String) else { return nil }
        self.init(at: try row[column], state: state, source: try row[column + 2], note: try row[column + 3])
    }
}
