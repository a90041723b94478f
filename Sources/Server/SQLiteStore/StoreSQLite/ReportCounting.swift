import Foundation
import GRDB
import PushCore
import PushServer

/// Counts one slice of changed notifications, in the writer's transaction.
struct ReportCounting {
    private struct Place: Hashable {
        var app: Int64
        var day: Int64
        var lane: Int64
    }

    private let database: Database
    private let statements: WriterStatements.CountingStatements
    /// The states that the timelines of this slice have, by their text.
    private var states: [String: NotificationState?] = [:]
    private var deltas: [Int64: ReportCounts] = [:]
    /// The labels of an app on a day, and the rows of its report.
    private var rows: [Place: [String: Int64]] = [:]
    /// The notifications that a person opened or dismissed for the first time in this slice.
    private var answered: [Int64] = []
    private(set) var result = CountedChanges()

    init(database: Database, statements: WriterStatements.CountingStatements) {
        self.database = database
        self.statements = statements
    }

    /// Counts about `limit` notifications.
    mutating func run(limit: Int) throws {
        let (ids, last, isMore) = try takeChanges(limit: limit)
        guard let last else { return }
        for id in ids { try count(id) }
        for id in answered { try clear(groupOf: id) }
        try Self.add(deltas, database)
        try database.cachedStatement(sql: "DELETE FROM report_change WHERE number <= ?").execute(arguments: [last])
        result.isMore = isMore
        for delta in deltas.values { result.added += delta }
    }

    private func takeChanges(limit: Int) throws -> (ids: [Int64], last: Int64?, isMore: Bool) {
        let changes = try Row.fetchCursor(
            database.cachedStatement(sql: "SELECT number, ids FROM report_change ORDER BY number"))
        var (ids, seen, last): ([Int64], Set<Int64>, Int64?) = ([], [], nil)
        while let row = try changes.next() {
            if ids.count >= limit { return (ids, last, true) }
            last = row[0]
            let bytes = row[1] as Data
            for start in stride(from: bytes.startIndex, to: bytes.endIndex - 7, by: 8) {
                let id = bytes[start..<start + 8].reversed().reduce(Int64(0)) { $0 << 8 | Int64($1) }
                if seen.insert(id).inserted { ids.append(id) }
            }
        }
        return (ids, last, false)
    }

    private mutating func count(_ id: Int64) throws {
        // A refused request is not counted, and a deleted notification was counted before.
        guard let (acceptedAt, counted) = try standing(of: id) else { return }
        let outcome = DeliveryOutcome(acceptedAt: acceptedAt, lines: try lines(of: id))
        let before = counted.flatMap { DeliveryOutcome(encoded: $0.outcome) }
        guard before != outcome else { return }
        guard let report = try counted?.report ?? begin(id, acceptedAt) else { return }
        if let before { deltas[report, default: ReportCounts()].count(before, by: -1) }
        deltas[report, default: ReportCounts()].count(outcome)
        let statement = statements.counted
        statement.bind(id)
        statement.bind(report)
        statement.bind(outcome.encoded)
        try statement.run()
        if Self.isAnswered(outcome), before.map(Self.isAnswered) != true { answered.append(id) }
    }

    /// The time at which a notification was accepted, and the outcome that was counted last.
    private func standing(of id: Int64) throws -> (acceptedAt: Timestamp, counted: (report: Int64, outcome: Int64)?)? {
        statements.standing.bind(id)
        return try statements.standing.first { row in
            let counted = row.integer(1).flatMap { report in row.integer(2).map { (report: report, outcome: $0) } }
            return (Timestamp(rawValue: row.integer(0) ?? 0), counted)
        }
    }

    private mutating func lines(of id: Int64) throws -> [TimelineEntry] {
        var lines: [TimelineEntry] = []
        statements.lines.bind(id)
        try statements.lines.forEach { row in
            let text = row.text(1)
            let known = states[text] ?? NotificationState(text: text)
            states[text] = .some(known)
            guard let state = known else { return }
            lines.append(
                TimelineEntry(
                    at: Timestamp(rawValue: row.integer(0) ?? 0), state: state,
                    source: TimelineSource(rawValue: row.text(2)) ?? .server))
        }
        return lines
    }

    private static func isAnswered(_ outcome: DeliveryOutcome) -> Bool {
        outcome.has(.opened) || outcome.has(.dismissed)
    }

    /// Counts a notification as accepted, and records its sync group.
    ///
    /// - Returns: The number of its report row.
    private mutating func begin(_ id: Int64, _ acceptedAt: Timestamp) throws -> Int64? {
        statements.place.bind(id)
        let found = try statements.place.first { row in
            (row.integer(0), row.integer(1), row.integer(2) ?? 0, row.withBytes(3, PayloadMarks.init(of:)))
        }
        guard case (let app?, let device?, let lane, let marks)? = found else { return nil }
        let report = try self.row(
            Place(app: app, day: ReportDay(acceptedAt).number, lane: lane), label: marks.label)
        deltas[report, default: ReportCounts()].accept(hasAlert: marks.hasAlert)
        if let group = marks.syncGroup {
            try database.cachedStatement(
                sql: "INSERT OR IGNORE INTO sync_member(id, app, device, name) VALUES(?, ?, ?, ?)"
            ).execute(arguments: [id, app, device, group])
        }
        return report
    }

    /// The row of an app, day and label, which is created where it is missing. Labels beyond the limit share a row
    /// without a label.
    private mutating func row(_ place: Place, label: String) throws -> Int64 {
        if rows[place] == nil {
            let known = try Row.fetchAll(
                database.cachedStatement(
                    sql: "SELECT label, number FROM report WHERE app = ? AND day = ? AND lane = ?"),
                arguments: [place.app, place.day, place.lane])
            rows[place] = Dictionary(known.map { ($0[0], $0[1]) }, uniquingKeysWith: { first, _ in first })
        }
        let known = rows[place] ?? [:]
        if let number = known[label] { return number }
        if !label.isEmpty, known.count(where: { !$0.key.isEmpty }) >= ReportChoice.labelLimit {
            return try row(place, label: "")
        }
        try database.cachedStatement(sql: "INSERT INTO report(app, day, lane, label) VALUES(?, ?, ?, ?)")
            .execute(arguments: [place.app, place.day, place.lane, label])
        rows[place, default: [:]][label] = database.lastInsertedRowID
        return database.lastInsertedRowID
    }

    /// Queues the other members of a sync group for clearing, and empties the group.
    private mutating func clear(groupOf id: Int64) throws {
        let member = try Row.fetchOne(
            database.cachedStatement(sql: "SELECT app, name FROM sync_member WHERE id = ?"), arguments: [id])
        guard let member else { return }
        let group: StatementArguments = [member[0] as Int64, member[1] as String]
        let others = try Row.fetchAll(
            database.cachedStatement(
                sql: "SELECT id, device FROM sync_member WHERE app = ? AND name = ? ORDER BY id LIMIT 1000"),
            arguments: group)
        for other in others {
            let otherID = other[0] as Int64
            try database.cachedStatement(sql: "DELETE FROM sync_member WHERE id = ?").execute(arguments: [otherID])
            guard otherID != id else { continue }
            try database.cachedStatement(sql: "INSERT OR IGNORE INTO sync_clearing(id, device) VALUES(?, ?)")
                .execute(arguments: [otherID, other[1] as Int64])
            result.hasClearings = true
        }
    }

    /// Adds to the rows of reports.
    static func add(_ deltas: [Int64: ReportCounts], _ database: Database) throws {
        let sums = ReportCounts.names.map { "\($0) = \($0) + ?" }.joined(separator: ", ")
        for (report, counts) in deltas where counts != ReportCounts() {
            var arguments = StatementArguments(counts.values)
            arguments += [report]
            try database.cachedStatement(sql: "UPDATE report SET \(sums) WHERE number = ?").execute(
                arguments: arguments)
        }
    }
}
