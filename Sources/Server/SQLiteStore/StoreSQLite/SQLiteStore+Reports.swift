import Foundation
import GRDB
import PushCore
import PushServer

extension SQLiteStore: ReportStore {
    /// Counts a slice in one transaction of the writer's; checks on a reader's connection whether there is any.
    package func countChanges(limit: Int) async throws -> CountedChanges {
        let hasChanges = try await pool.read { database in
            try Bool.fetchOne(
                database.cachedStatement(sql: "SELECT EXISTS(SELECT 1 FROM report_change)")) ?? false
        }
        guard hasChanges else { return CountedChanges() }
        return try await pool.write { database in
            var counting = ReportCounting(database: database, statements: try hot.prepared(database).counting)
            try counting.run(limit: limit)
            return counting.result
        }
    }

    /// Counts everything that is not counted yet, in one transaction for each slice.
    package func countAllChanges(slice: Int) throws {
        var isMore = true
        while isMore {
            isMore = try pool.write { database in
                var counting = ReportCounting(database: database, statements: try hot.prepared(database).counting)
                try counting.run(limit: slice)
                return counting.result.isMore
            }
        }
    }

    /// Reads the rows of the selection.
    package func reports(_ choice: ReportChoice, limit: Int) async throws -> [ReportRow] {
        var (conditions, arguments): ([String], StatementArguments) = (
            ["day BETWEEN ? AND ?"], [choice.days.lowerBound.number, choice.days.upperBound.number]
        )
        if let team = choice.team {
            conditions.append("app.team = ?")
            arguments += [team.rawValue]
        }
        if let topic = choice.topic {
            conditions.append("app.topic = ?")
            arguments += [topic.rawValue]
        }
        if let label = choice.label {
            conditions.append("label = ?")
            arguments += [label]
        }
        if let lane = choice.lane {
            conditions.append("lane = ?")
            arguments += [Int64(lane.rawValue)]
        }
        arguments += [limit]
        let sql = """
            SELECT report.app, topic, day, lane, label, \(ReportCounts.names.joined(separator: ", "))
            FROM report JOIN app ON app.id = report.app WHERE \(conditions.joined(separator: " AND "))
            ORDER BY day, report.app, lane, label LIMIT ?
            """
        return try await pool.read { [arguments] database in
            try Row.fetchAll(database.cachedStatement(sql: sql), arguments: arguments).map { row in
                ReportRow(
                    app: AppID(column: row[0]), topic: Topic(rawValue: row[1]), day: ReportDay(number: row[2]),
                    lane: Lane(rawValue: row[3]) ?? .apns, label: row[4],
                    counts: ReportCounts(values: ReportCounts.names.indices.map { row[5 + $0] }))
            }
        }
    }

    /// Adds up the copies by their outcomes.
    package func broadcastCounts(_ id: NotificationID, team: TeamID?) async throws -> ReportCounts? {
        try await pool.read { database in
            let owner = try String.fetchOne(
                database.cachedStatement(sql: "SELECT team FROM broadcast WHERE id = ?"), arguments: [id.rawValue])
            guard let owner, team == nil || team?.rawValue == owner else { return nil }
            let content = try Data.fetchOne(
                database.cachedStatement(sql: "SELECT content FROM payload WHERE id = ?"), arguments: [id.rawValue])
            let hasAlert = content?.withUnsafeBytes(PayloadMarks.init(of:)).hasAlert ?? false
            var sum = ReportCounts()
            let rows = try Row.fetchAll(
                database.cachedStatement(
                    sql: """
                        SELECT report_counted.outcome, count(*) FROM payload_use
                            CROSS JOIN report_counted ON report_counted.id = payload_use.message
                        WHERE payload_use.payload = ? GROUP BY report_counted.outcome
                        """), arguments: [id.rawValue])
            for row in rows {
                guard let outcome = DeliveryOutcome(encoded: row[0]) else { continue }
                let copies = row[1] as Int
                sum.count(outcome, by: copies)
                sum.accepted += copies
                if hasAlert { sum.notifications += copies }
            }
            return sum
        }
    }

    /// Deletes the rows in one transaction of the writer's, if there are any.
    package func forgetReports(before day: ReportDay) async throws {
        let isAny = try await pool.read { database in
            try Bool.fetchOne(
                database, sql: "SELECT EXISTS(SELECT 1 FROM report WHERE day < ?)", arguments: [day.number]) ?? false
        }
        guard isAny else { return }
        try await pool.write { database in
            try database.execute(sql: "DELETE FROM report WHERE day < ?", arguments: [day.number])
        }
    }

    /// Reads a slice of notifications by their ids, and the timelines of those in the selection.
    package func events(_ choice: EventChoice, after: NotificationID, limit: Int) async throws -> EventPage {
        let generator = NotificationIDGenerator(node: 0, highWater: 0)
        let first = max(after.rawValue, generator.floor(at: choice.accepted.lowerBound) - 1)
        let end = generator.floor(at: choice.accepted.upperBound)
        return try await pool.read { database in
            let rows = try Row.fetchAll(
                database.cachedStatement(
                    sql: """
                        SELECT message.id, message.lane, code IS NULL, app.team, app.topic, report.label,
                            -- Who is in a list of a hub's is nothing that a provider wrote.
                            CASE WHEN broadcast.audience NOT LIKE 'list %' THEN broadcast.written END
                        FROM message LEFT JOIN app ON app.id = message.app
                        LEFT JOIN report_counted ON report_counted.id = message.id
                        LEFT JOIN report ON report.number = report_counted.report
                        LEFT JOIN payload_use ON payload_use.message = message.id
                        LEFT JOIN broadcast ON broadcast.id = payload_use.payload
                        WHERE message.id > ? AND message.id < ?
                        ORDER BY message.id LIMIT ?
                        """), arguments: [first, end, limit])
            var page = EventPage()
            for row in rows where row[2] as Bool {
                guard let topic = row[4] as String?, choice.topic == nil || choice.topic?.rawValue == topic,
                    choice.team == nil || choice.team?.rawValue == row[3] as String?,
                    let found = try Self.timeline(NotificationID(rawValue: row[0]), database),
                    let device = found.device,
                    let environment = found.environment
                else { continue }
                page.notifications.append(
                    ReportedNotification(
                        id: found.id, apnsID: found.apnsID, topic: found.topic, device: device,
                        environment: environment, lane: Lane(rawValue: row[1]) ?? .apns,
                        label: row[5] ?? "", audience: row[6],
                        entries: TimelineEntry.ordered(found.entries)))
            }
            if rows.count == limit, let last = rows.last { page.next = NotificationID(rawValue: last[0]) }
            return page
        }
    }

    /// Reads the oldest clearings.
    package func clearings(limit: Int) async throws -> [Clearing] {
        try await pool.read { database in
            try Row.fetchAll(
                database.cachedStatement(sql: "SELECT id, device FROM sync_clearing ORDER BY id LIMIT ?"),
                arguments: [limit]
            ).compactMap { row in
                DeviceID(column: row[1]).map { Clearing(id: NotificationID(rawValue: row[0]), device: $0) }
            }
        }
    }

    /// Deletes the clearings in one transaction of the writer's.
    package func forgetClearings(_ ids: [NotificationID]) async throws {
        try await pool.write { database in
            for id in ids {
                try database.cachedStatement(sql: "DELETE FROM sync_clearing WHERE id = ?")
                    .execute(arguments: [id.rawValue])
            }
        }
    }
}
