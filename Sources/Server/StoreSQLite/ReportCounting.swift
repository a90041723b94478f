import Foundation
import GRDB
import PushModel
import Reports

/// Counts one slice of what has changed, inside the writer's transaction.
struct ReportCounting {
    private struct Place: Hashable {
        var app: Int64
        var day: Int64
        var lane: Int64
    }

    private let database: Database
    private var deltas: [Int64: ReportCounts] = [:]
    /// The labels that an app has on a day, and the rows of its report.
    private var rows: [Place: [String: Int64]] = [:]
    /// Of which a person saw something for the first time in this slice.
    private var answered: [Int64] = []
    private(set) var result = CountedChanges()

    init(database: Database) { self.database = database }

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
        let counted = try Row.fetchOne(
            database.cachedStatement(sql: "SELECT report, outcome FROM report_counted WHERE id = ?"), arguments: [id])
        guard let acceptedAt = try acceptance(of: id) else { return }
        let lines = try SQLiteStore.lines(of: NotificationID(rawValue: id), database)
        let outcome = DeliveryOutcome(acceptedAt: acceptedAt, lines: lines)
        let before = counted.flatMap { DeliveryOutcome(encoded: $0[1]) }
        guard before != outcome else { return }
        guard let report = try counted.map({ $0[0] as Int64 }) ?? begin(id, acceptedAt) else { return }
        if let before { deltas[report, default: ReportCounts()].count(before, by: -1) }
        deltas[report, default: ReportCounts()].count(outcome)
        try database.cachedStatement(
            sql: """
                INSERT INTO report_counted(id, report, outcome) VALUES(?, ?, ?)
                ON CONFLICT(id) DO UPDATE SET outcome = excluded.outcome
                """
        ).execute(arguments: [id, report, outcome.encoded])
        if Self.isAnswered(outcome), before.map(Self.isAnswered) != true { answered.append(id) }
    }

    private static func isAnswered(_ outcome: DeliveryOutcome) -> Bool {
        outcome.has(.opened) || outcome.has(.dismissed)
    }

    /// When a notification was accepted; `nil` for a refused request, and for one that is gone.
    private func acceptance(of id: Int64) throws -> Timestamp? {
        try Int64.fetchOne(
            database.cachedStatement(sql: "SELECT accepted_at FROM message WHERE id = ? AND code IS NULL"),
            arguments: [id]
        ).map(Timestamp.init(rawValue:))
    }

    /// Counts a notification as accepted, and notes its group.
    ///
    /// - Returns: The row of the report that it belongs to.
    private mutating func begin(_ id: Int64, _ acceptedAt: Timestamp) throws -> Int64? {
        let found = try Row.fetchOne(
            database.cachedStatement(
                sql: """
                    SELECT app, device, lane, coalesce(payload, (SELECT payload.content FROM payload_use
                        JOIN payload ON payload.id = payload_use.payload WHERE payload_use.message = message.id))
                    FROM message WHERE id = ?
                    """), arguments: [id])
        guard let row = found, let app = row[0] as Int64?, let device = row[1] as Int64? else { return nil }
        let marks = PayloadMarks((row[3] as Data?).map { Array($0) } ?? [])
        let report = try self.row(
            Place(app: app, day: ReportDay(acceptedAt).number, lane: row[2]), label: marks.label)
        deltas[report, default: ReportCounts()].accept(hasAlert: marks.hasAlert)
        if let group = marks.syncGroup {
            try database.cachedStatement(
                sql: "INSERT OR IGNORE INTO sync_member(id, app, device, name) VALUES(?, ?, ?, ?)"
            ).execute(arguments: [id, app, device, group])
        }
        return report
    }

    /// The row of a place and a label, which is made where it is missing. Labels beyond the limit have none of their own.
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

    /// Has the other members of a group taken off; the group is empty then.
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
