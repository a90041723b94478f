import PushCore
import PushServer
import Texts

/// The figures of a report, each with the party that it comes from.
enum ReportFigure: String, CaseIterable {
    case accepted, sent, received, presented, opened, dismissed, suppressed

    /// The figures as cards.
    static func cards(_ counts: JSONValue, _ texts: Catalogue) -> [[String: Any]] {
        allCases.map { figure in
            [
                "name": texts.text("reports.figure.\(figure.rawValue)"),
                "count": texts.language.number(figure.count(counts)),
                "source": texts.text("reports.source.\(figure.rawValue)"),
            ]
        }
    }

    /// The headings of a table of figures.
    static func columns(_ texts: Catalogue) -> [[String: Any]] {
        allCases.map {
            [
                "name": texts.text("reports.figure.\($0.rawValue)"),
                "from": texts.text("reports.from.\($0.rawValue)"),
            ]
        }
    }

    /// The numbers of a table's row.
    static func counts(_ counts: JSONValue, _ texts: Catalogue) -> [String] {
        allCases.map { texts.language.number($0.count(counts)) }
    }

    /// How the notifications ended.
    static func ends(_ counts: JSONValue, _ texts: Catalogue) -> [[String: Any]] {
        (counts["ends"]?.members ?? []).sorted { ($0.value.integer ?? 0) > ($1.value.integer ?? 0) }.map {
            [
                "name": texts.text("reports.end.\($0.name)"),
                "count": texts.language.number(Int($0.value.integer ?? 0)),
            ]
        }
    }

    /// The figure's number in an answer.
    func count(_ counts: JSONValue) -> Int { Int(counts[rawValue]?.integer ?? 0) }
}

/// The property by which the rows of a report are added up.
enum ReportGrouping: String, CaseIterable {
    case day, app, label, lane
}

/// An answer of `GET /v1/reports`.
struct DayReport {
    let from: String
    let to: String
    let rows: [JSONValue]
    let total: JSONValue

    init(_ answer: JSONValue) {
        from = answer["from"]?.text ?? ""
        to = answer["to"]?.text ?? ""
        rows = answer["rows"]?.items ?? []
        total = answer["total"] ?? .null
    }

    /// The rows added up by a member, in the order of their names; days without rows are among the days.
    func grouped(by grouping: ReportGrouping, _ texts: Catalogue) -> [(name: String, counts: JSONValue)] {
        var sums: [String: [ReportFigure: Int]] = [:]
        if grouping == .day { for day in days { sums[day] = [:] } }
        for row in rows {
            let name = row[grouping.rawValue]?.text ?? ""
            for figure in ReportFigure.allCases {
                sums[name, default: [:]][figure, default: 0] += figure.count(row["counts"] ?? .null)
            }
        }
        return sums.sorted { $0.key < $1.key }.map { name, sum in
            let members = ReportFigure.allCases.map {
                JSONValue.Member($0.rawValue, .number(String(sum[$0] ?? 0)))
            }
            let shown = grouping == .lane ? texts.text("reports.lane.\(name)") : name
            return (name.isEmpty ? texts.text("reports.unlabelled") : shown, .object(members))
        }
    }

    /// The days of the period.
    private var days: [String] {
        guard let first = ReportDay(text: from), let last = ReportDay(text: to), first <= last else { return [] }
        return (0...(last.number - first.number)).map { "\(first + $0)" }
    }

    /// The figures by day as a chart.
    func chart(_ texts: Catalogue) -> [String: Any] {
        let days = grouped(by: .day, texts)
        let shown: [ReportFigure] = [.accepted, .received, .presented, .opened]
        let chart = Chart(
            form: days.count > 14 ? .lines : .bars, labels: days.map { String($0.name.dropFirst(5)) },
            series: shown.map { figure in
                Chart.Series(
                    name: texts.text("reports.figure.\(figure.rawValue)"),
                    values: days.map { Double(figure.count($0.counts)) })
            })
        let sums = shown.map {
            "\(texts.text("reports.figure.\($0.rawValue)")): \(texts.language.number($0.count(total)))"
        }
        return chart.view(
            id: "days", title: texts.text("reports.chart", ["from": from, "to": to]),
            description: texts.text("reports.chart.description", ["figures": sums.joined(separator: ", ")]),
            language: texts.language)
    }

    // MARK: Export

    private static let ends = [
        "pending", "delivered", "expired", "replaced", "withdrawn", "droppedOverflow", "droppedInactive",
        "droppedUnregistered", "droppedOffline", "failed",
    ]

    /// The columns of the rows as CSV.
    static let columns =
        ["day", "app", "lane", "label", "accepted", "notifications", "sent", "received", "presented", "opened"]
        + ["dismissed", "suppressed"] + ends

    /// A row's fields in the order of the columns.
    static func fields(_ row: JSONValue) -> [String] {
        let counts = row["counts"]
        return columns.map { name in
            row[name]?.text
                ?? (counts?[name] ?? counts?["ends"]?[name]).flatMap(\.integer).map { String($0) } ?? ""
        }
    }
}
