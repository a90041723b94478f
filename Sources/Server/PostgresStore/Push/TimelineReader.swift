import APNsProtocol
import PushCore
import PushServer

/// Timelines of notifications and broadcasts.
struct TimelineReader {
    let connection: PostgresConnection

    /// The timelines that there are, in the order of the ids.
    func timelines(_ ids: [NotificationID]) throws -> [NotificationTimeline] {
        guard !ids.isEmpty else { return [] }
        let parameter = [PostgresParameter.ids(ids)]
        let rows = try connection.pipeline([
            .init(
                """
                SELECT found.*, app.team AS app_team, app.topic AS app_topic
                FROM unnest($1::bigint[]) AS wanted(id)
                CROSS JOIN LATERAL (SELECT * FROM message WHERE message.id = wanted.id \(PrefetchReader.byKey)) AS found
                LEFT JOIN app ON app.id = found.app
                """, parameter),
            Self.lines(of: ids),
        ])
        var lines: [NotificationID: [TimelineEntry]] = [:]
        for row in rows[1] {
            if let line = try TimelineEntry(row, from: 1) { lines[try row[0], default: []].append(line) }
        }
        var found: [NotificationID: NotificationTimeline] = [:]
        for row in rows[0] {
            let id: NotificationID = try row["id"]
            found[id] = try Self.timeline(id, row: row, lines: lines[id] ?? [])
        }
        for id in ids where found[id] == nil { found[id] = try broadcast(id) }
        return ids.compactMap { found[$0] }
    }

    /// The lines of notifications. The join looks for each of them in the part of its day alone.
    static func lines(of ids: [NotificationID]) -> PostgresConnection.Statement {
        .init(
            """
            SELECT wanted.id, at, state, source, note
            FROM unnest($1::bigint[]) AS wanted(id) CROSS JOIN LATERAL (
                SELECT at, state, source, note FROM timeline
                WHERE timeline.id = wanted.id \(PrefetchReader.byKey)) AS line
            ORDER BY wanted.id, at, state
            """, [.ids(ids)])
    }

    private static func timeline(
        _ id: NotificationID, row: PostgresRow, lines: [TimelineEntry]
    ) throws -> NotificationTimeline {
        let acceptedAt: Timestamp = try row["accepted_at"]
        let code: String? = try row["code"]
        let expiresAt: Timestamp? = try row["expires_at"]
        var entries = [
            TimelineEntry(
                at: acceptedAt, state: code.map(NotificationState.failed) ?? .accepted, source: .server,
                note: try row["note"])
        ]
        if try code == nil && row["stored"] {
            entries.append(TimelineEntry(at: acceptedAt, state: .stored, source: .server))
        }
        return NotificationTimeline(
            id: id, apnsID: try row.apnsID("apns_id", of: id),
            team: try row["app_team"] ?? row["team"] ?? TeamID(rawValue: ""),
            topic: try row["app_topic"] ?? row["topic"] ?? Topic(rawValue: ""), device: try row["device"],
            environment: try row["environment"], isAttempt: code == nil && expiresAt == nil, entries: entries + lines)
    }

    /// Reads a broadcast's own lines, and sums over its copies; takes time proportional to their number.
    private func broadcast(_ id: NotificationID) throws -> NotificationTimeline? {
        guard let row = try connection.run("SELECT * FROM broadcast WHERE id = $1", id).first else { return nil }
        var entries = [TimelineEntry(at: try row["accepted_at"], state: .accepted, source: .server)]
        if let withdrawnAt: Timestamp = try row["withdrawn_at"] {
            entries.append(TimelineEntry(at: withdrawnAt, state: .withdrawn, source: .server))
        }
        let targeted: Int? = try connection.run("SELECT count(*) FROM payload_use WHERE payload = $1", id).first?[0]
        let states = try connection.run(
            """
            SELECT timeline.state, count(DISTINCT timeline.id) FROM payload_use
                JOIN timeline ON timeline.id = payload_use.message
            WHERE payload_use.payload = $1 GROUP BY timeline.state
            """, id)
        return NotificationTimeline(
            id: id, apnsID: ServerAPNsID.apnsID(of: id), team: try row["team"], topic: Topic(rawValue: ""), device: nil,
            environment: nil, entries: entries,
            broadcast: BroadcastSummary(
                audience: try row["written"], expiresAt: try row["expires_at"], targeted: targeted ?? 0,
                states: Dictionary(try states.map { (try $0[0] as String, try $0[1] as Int) }) { $1 }))
    }
}
