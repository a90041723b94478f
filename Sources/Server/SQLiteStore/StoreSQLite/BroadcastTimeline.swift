import APNsProtocol
import GRDB
import PushCore
import PushServer

/// The timeline of a broadcast, read from the database.
struct BroadcastTimeline {
    let database: Database

    /// Reads the broadcast's own lines, and sums over its copies; takes time proportional to their number.
    func timeline(_ id: NotificationID) throws -> NotificationTimeline? {
        let found = try Row.fetchOne(
            database, sql: "SELECT * FROM broadcast WHERE id = ?", arguments: [id.rawValue])
        guard let row = found else { return nil }
        var entries = [
            TimelineEntry(at: Timestamp(rawValue: row["accepted_at"]), state: .accepted, source: .server)
        ]
        if let withdrawnAt = row["withdrawn_at"] as Int64? {
            entries.append(
                TimelineEntry(at: Timestamp(rawValue: withdrawnAt), state: .withdrawn, source: .server))
        }
        let targeted = try Int.fetchOne(
            database, sql: "SELECT count(*) FROM payload_use WHERE payload = ?", arguments: [id.rawValue])
        let states = try Row.fetchAll(
            database,
            sql: """
                SELECT timeline.state, count(DISTINCT timeline.id) FROM payload_use
                    CROSS JOIN timeline ON timeline.id = payload_use.message
                WHERE payload_use.payload = ? GROUP BY timeline.state
                """, arguments: [id.rawValue])
        return NotificationTimeline(
            id: id, apnsID: APNsID(column: nil, of: id), team: TeamID(rawValue: row["team"]),
            topic: Topic(rawValue: ""), device: nil, environment: nil, entries: entries,
            broadcast: BroadcastSummary(
                audience: row["written"], expiresAt: Timestamp(rawValue: row["expires_at"]), targeted: targeted ?? 0,
                states: Dictionary(states.map { ($0[0] as String, $0[1] as Int) }, uniquingKeysWith: { $1 })))
    }
}
