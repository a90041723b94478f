import PushCore
import PushServer

/// The sums in the rows of reports.
enum ReportSums {
    /// The columns of the sums, in the order of ``ReportCounts/values``.
    static let columns = ReportCounts.names.map { "\"\($0)\"" }

    /// Adds to the rows of reports, by their numbers.
    static func add(_ deltas: [Int64: ReportCounts], _ connection: PostgresConnection) throws {
        let changed = deltas.filter { $0.value != ReportCounts() }.sorted { $0.key < $1.key }
        guard !changed.isEmpty else { return }
        let sums = columns.enumerated().map { "\($1) = \($1) + $\($0 + 2)" }.joined(separator: ", ")
        _ = try connection.pipeline(
            changed.map { report, counts in
                .init(
                    "UPDATE report SET \(sums) WHERE number = $1",
                    [PostgresParameter(report)] + counts.values.map { PostgresParameter($0) })
            })
    }
}

/// Counts one slice of changed notifications, in the present transaction.
struct PostgresReportCounting {
    private typealias Statement = PostgresConnection.Statement

    private struct Place: Hashable {
        var app: AppID
        var day: Int64
        var lane: Lane
    }

    /// A notification as it was read.
    private struct Standing {
        var acceptedAt: Timestamp
        var report: Int64?
        var outcome: Int64?
        var app: AppID
        var device: DeviceID
        var lane: Lane
        var marks: PayloadMarks
    }

    private let connection: PostgresConnection
    private var deltas: [Int64: ReportCounts] = [:]
    /// The labels of an app on a day, and the rows of its report.
    private var rows: [Place: [String: Int64]] = [:]
    private var counted: [(id: NotificationID, report: Int64, outcome: Int64)] = []
    private var members: [(id: NotificationID, app: AppID, device: DeviceID, group: String)] = []
    /// The notifications that a person opened or dismissed for the first time in this slice.
    private var answered: [NotificationID] = []
    private(set) var result = CountedChanges()

    init(connection: PostgresConnection) { self.connection = connection }

    /// Counts about `limit` notifications.
    mutating func run(limit: Int) throws {
        var (ids, numbers): (Set<NotificationID>, Set<Int64>) = ([], [])
        while ids.count < limit {
            // Another node may count other changes meanwhile. A change with a lower number may become visible later. A change
            // can have one notification, or some hundreds: few are locked at once, and each is counted whole.
            let changes = try connection.run(
                """
                WITH change AS (
                    SELECT number, ids FROM report_change WHERE number > $1 ORDER BY number LIMIT 8 FOR UPDATE SKIP LOCKED)
                SELECT number, unnest(ids) FROM change ORDER BY number
                """, numbers.max() ?? 0)
            guard !changes.isEmpty else { break }
            for row in changes {
                numbers.insert(try row[0])
                ids.insert(try row[1])
            }
        }
        guard !numbers.isEmpty else { return }
        try count(ids.sorted())
        try write()
        for id in answered { try clear(groupOf: id) }
        try ReportSums.add(deltas, connection)
        try connection.run(
            Statement("DELETE FROM report_change WHERE number = ANY($1::bigint[])", [.int8s(numbers.sorted())]))
        result.isMore = try !connection.run("SELECT 1 FROM report_change LIMIT 1").isEmpty
        for delta in deltas.values { result.added += delta }
    }

    private mutating func count(_ ids: [NotificationID]) throws {
        let parameter = [PostgresParameter.ids(ids)]
        // A refused request is not counted, and a deleted notification was counted before.
        let found = try connection.pipeline([
            Statement(
                """
                SELECT wanted.id, found.accepted_at, counted.report, counted.outcome, found.app, found.device, found.lane,
                    -- What a payload says of a notification is counted once.
                    CASE WHEN counted.report IS NULL THEN coalesce(found.payload, (SELECT payload.content FROM payload_use
                        JOIN payload ON payload.id = payload_use.payload WHERE payload_use.message = wanted.id)) END
                FROM unnest($1::bigint[]) AS wanted(id)
                CROSS JOIN LATERAL (
                    SELECT accepted_at, app, device, lane, payload, code FROM message
                    WHERE message.id = wanted.id \(PrefetchReader.byKey)) AS found
                LEFT JOIN LATERAL (
                    SELECT report, outcome FROM report_counted
                    WHERE report_counted.id = wanted.id \(PrefetchReader.byKey)) AS counted ON true
                WHERE found.code IS NULL ORDER BY wanted.id
                """, parameter),
            TimelineReader.lines(of: ids),
        ])
        var lines: [NotificationID: [TimelineEntry]] = [:]
        for row in found[1] {
            if let line = try TimelineEntry(row, from: 1) { lines[try row[0], default: []].append(line) }
        }
        for row in found[0] {
            let id: NotificationID = try row[0]
            let payload = try row[7] as [UInt8]? ?? []
            let standing = Standing(
                acceptedAt: try row[1], report: try row[2], outcome: try row[3], app: try row[4], device: try row[5],
                lane: try row[6], marks: payload.withUnsafeBytes(PayloadMarks.init(of:)))
            try count(id, standing: standing, lines: lines[id] ?? [])
        }
    }

    private mutating func count(_ id: NotificationID, standing: Standing, lines: [TimelineEntry]) throws {
        let outcome = DeliveryOutcome(acceptedAt: standing.acceptedAt, lines: lines)
        let before = standing.outcome.flatMap { DeliveryOutcome(encoded: $0) }
        guard before != outcome else { return }
        let report = try standing.report ?? begin(id, standing)
        if let before { deltas[report, default: ReportCounts()].count(before, by: -1) }
        deltas[report, default: ReportCounts()].count(outcome)
        counted.append((id, report, outcome.encoded))
        if Self.isAnswered(outcome), before.map(Self.isAnswered) != true { answered.append(id) }
    }

    private static func isAnswered(_ outcome: DeliveryOutcome) -> Bool {
        outcome.has(.opened) || outcome.has(.dismissed)
    }

    /// Counts a notification as accepted, and notes its sync group; returns the number of its report row.
    private mutating func begin(_ id: NotificationID, _ standing: Standing) throws -> Int64 {
        let report = try row(
            Place(app: standing.app, day: ReportDay(standing.acceptedAt).number, lane: standing.lane),
            label: standing.marks.label)
        deltas[report, default: ReportCounts()].accept(hasAlert: standing.marks.hasAlert)
        if let group = standing.marks.syncGroup { members.append((id, standing.app, standing.device, group)) }
        return report
    }

    /// The row of an app, day and label, which is created where it is missing. Labels beyond the limit share a row without a
    /// label.
    private mutating func row(_ place: Place, label: String) throws -> Int64 {
        if rows[place] == nil {
            let known = try connection.run(
                "SELECT label, number FROM report WHERE app = $1 AND day = $2 AND lane = $3", place.app, place.day,
                place.lane)
            rows[place] = Dictionary(try known.map { (try $0[0] as String, try $0[1] as Int64) }) { first, _ in first }
        }
        let known = rows[place] ?? [:]
        if let number = known[label] { return number }
        if !label.isEmpty, known.count(where: { !$0.key.isEmpty }) >= ReportChoice.labelLimit {
            return try row(place, label: "")
        }
        let number: Int64 = try connection.run(
            """
            INSERT INTO report(app, day, lane, label) VALUES($1, $2, $3, $4)
            ON CONFLICT (app, day, lane, label) DO UPDATE SET label = excluded.label RETURNING number
            """, place.app, place.day, place.lane, label)[0][0]
        rows[place, default: [:]][label] = number
        return number
    }

    private func write() throws {
        _ = try connection.pipeline([
            Statement(
                """
                INSERT INTO report_counted(id, report, outcome) SELECT * FROM unnest($1::bigint[], $2::bigint[], $3::bigint[])
                ON CONFLICT (id) DO UPDATE SET outcome = excluded.outcome
                """,
                [.ids(counted.map(\.id)), .int8s(counted.map(\.report)), .int8s(counted.map(\.outcome))]),
            Statement(
                """
                INSERT INTO sync_member(id, app, device, name) SELECT * FROM unnest($1::bigint[], $2::bigint[], $3::bigint[],
                    $4::text[]) ON CONFLICT DO NOTHING
                """,
                [
                    .ids(members.map(\.id)), .int8s(members.map { Int64($0.app.rawValue) }),
                    .devices(members.map(\.device)), .texts(members.map { $0.group }),
                ]),
        ])
    }

    /// Queues the other members of a sync group for clearing, and empties the group.
    private mutating func clear(groupOf id: NotificationID) throws {
        let member = try connection.run("SELECT app, name FROM sync_member WHERE id = $1", id)
        guard let member = member.first else { return }
        let others = try connection.run(
            """
            WITH gone AS (DELETE FROM sync_member WHERE id IN (
                SELECT id FROM sync_member WHERE app = $1 AND name = $2 ORDER BY id LIMIT 1000) RETURNING id, device)
            INSERT INTO sync_clearing(id, device) SELECT id, device FROM gone WHERE id <> $3 ON CONFLICT DO NOTHING
            """, member[0] as AppID, member[1] as String, id)
        if others.changed > 0 { result.hasClearings = true }
    }
}
