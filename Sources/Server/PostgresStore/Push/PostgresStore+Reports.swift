import PushCore
import PushServer

extension PostgresStore: ReportStore {
    /// Counts a slice in one transaction; reads first whether there is any.
    package func countChanges(limit: Int) async throws -> CountedChanges {
        let hasChanges = try await pool.read { try !$0.run("SELECT 1 FROM report_change LIMIT 1").isEmpty }
        guard hasChanges else { return CountedChanges() }
        return try await pool.write { connection in
            var counting = PostgresReportCounting(connection: connection)
            try counting.run(limit: limit)
            return counting.result
        }
    }

    /// Reads the rows of the selection.
    package func reports(_ choice: ReportChoice, limit: Int) async throws -> [ReportRow] {
        try await pool.read { connection in
            try connection.run(
                """
                SELECT report.app, topic, day, lane, label, \(ReportSums.columns.joined(separator: ", "))
                FROM report JOIN app ON app.id = report.app
                WHERE day BETWEEN $1 AND $2 AND ($3::text IS NULL OR app.team = $3) AND ($4::text IS NULL OR app.topic = $4)
                    AND ($5::text IS NULL OR label = $5) AND ($6::bigint IS NULL OR lane = $6)
                ORDER BY day, report.app, lane, label LIMIT $7
                """, choice.days.lowerBound.number, choice.days.upperBound.number, choice.team, choice.topic,
                choice.label,
                choice.lane, limit
            ).map { row in
                ReportRow(
                    app: try row[0], topic: try row[1], day: ReportDay(number: try row[2]), lane: try row[3],
                    label: try row[4],
                    counts: ReportCounts(values: try ReportCounts.names.indices.map { try row[5 + $0] }))
            }
        }
    }

    /// Adds up the copies by their outcomes.
    package func broadcastCounts(_ id: NotificationID, team: TeamID?) async throws -> ReportCounts? {
        try await pool.read { connection in
            let owner: TeamID? = try connection.run("SELECT team FROM broadcast WHERE id = $1", id).first?[0]
            guard let owner, team == nil || team == owner else { return nil }
            let content: [UInt8]? = try connection.run("SELECT content FROM payload WHERE id = $1", id).first?[0]
            let hasAlert = content?.withUnsafeBytes(PayloadMarks.init(of:)).hasAlert ?? false
            var sum = ReportCounts()
            let rows = try connection.run(
                """
                SELECT report_counted.outcome, count(*) FROM payload_use
                    JOIN report_counted ON report_counted.id = payload_use.message
                WHERE payload_use.payload = $1 GROUP BY report_counted.outcome
                """, id)
            for row in rows {
                guard let outcome = DeliveryOutcome(encoded: try row[0]) else { continue }
                let copies: Int = try row[1]
                sum.count(outcome, by: copies)
                sum.accepted += copies
                if hasAlert { sum.notifications += copies }
            }
            return sum
        }
    }

    /// Deletes the rows in one transaction.
    package func forgetReports(before day: ReportDay) async throws {
        try await pool.write { _ = try $0.run("DELETE FROM report WHERE day < $1", day.number) }
    }

    /// Reads a slice of notifications by their ids, and the timelines of those in the selection.
    package func events(_ choice: EventChoice, after: NotificationID, limit: Int) async throws -> EventPage {
        let generator = NotificationIDGenerator(node: 0, highWater: 0)
        let first = max(after.rawValue, generator.floor(at: choice.accepted.lowerBound) - 1)
        let end = generator.floor(at: choice.accepted.upperBound)
        return try await pool.read { connection in
            let rows = try connection.run(
                """
                SELECT message.id, message.lane, code IS NULL, app.team, app.topic, report.label,
                    -- The recipients of a list of a hub are nothing that a provider wrote.
                    CASE WHEN broadcast.audience NOT LIKE 'list %' THEN broadcast.written END
                FROM message LEFT JOIN app ON app.id = message.app
                LEFT JOIN report_counted ON report_counted.id = message.id
                LEFT JOIN report ON report.number = report_counted.report
                LEFT JOIN payload_use ON payload_use.message = message.id
                LEFT JOIN broadcast ON broadcast.id = payload_use.payload
                WHERE message.id > $1 AND message.id < $2 ORDER BY message.id LIMIT $3
                """, first, end, limit)
            let wanted = try rows.filter { row in
                let (team, topic): (TeamID?, Topic?) = (try row[3], try row[4])
                return try row[2] && topic != nil && (choice.topic == nil || choice.topic == topic)
                    && (choice.team == nil || choice.team == team)
            }
            let timelines = try TimelineReader(connection: connection).timelines(try wanted.map { try $0[0] })
            let found = Dictionary(timelines.map { ($0.id, $0) }) { $1 }
            var page = EventPage()
            for row in wanted {
                guard let found = found[try row[0]], let device = found.device, let environment = found.environment
                else {
                    continue
                }
                page.notifications.append(
                    ReportedNotification(
                        id: found.id, apnsID: found.apnsID, topic: found.topic, device: device,
                        environment: environment, lane: try row[1], label: try row[5] ?? "", audience: try row[6],
                        entries: TimelineEntry.ordered(found.entries)))
            }
            if rows.count == limit, let last = rows.last { page.next = try last[0] }
            return page
        }
    }

    /// Reads the oldest clearings.
    package func clearings(limit: Int) async throws -> [Clearing] {
        try await pool.read { connection in
            try connection.run("SELECT id, device FROM sync_clearing ORDER BY id LIMIT $1", limit)
                .map { Clearing(id: try $0[0], device: try $0[1]) }
        }
    }

    /// Deletes the clearings in one transaction.
    package func forgetClearings(_ ids: [NotificationID]) async throws {
        try await pool.write { connection in
            _ = try connection.run(.init("DELETE FROM sync_clearing WHERE id = ANY($1::bigint[])", [.ids(ids)]))
        }
    }
}
