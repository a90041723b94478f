import Foundation
import HTTPTypes
import Hummingbird
import NIOCore
import PushCore
import PushServer
import Texts

/// How many notifications came how far; `GET /v1/reports` as a page, with a chart by day.
enum ReportsPage {
    static let filters = ["app", "label", "lane", "from", "to"]

    static func add(to routes: ConsoleRoutes) {
        routes.get("reports") { try await show($0) }
        routes.get("reports/rows") { try await rows($0) }
        routes.get("reports/events") { try await events($0) }
        routes.get("reports/sends") { try await send($0) }
    }

    /// The query of the API for the filters of a page.
    private static func query(_ pageRequest: PageRequest, _ names: [String]) -> QueryText {
        var query = QueryText()
        for name in names { query.add(name, value(name, pageRequest)) }
        return query
    }

    private static func value(_ name: String, _ pageRequest: PageRequest) -> String? {
        pageRequest.query.first(name)?.trimmingCharacters(in: .whitespaces)
    }

    // MARK: The page

    private static func show(_ pageRequest: PageRequest) async throws -> Response {
        let texts = pageRequest.texts
        let query = query(pageRequest, filters)
        let path = "/v1/reports\(query.text)"
        let answer = try await pageRequest.call(.get, path)
        let apps = try await pageRequest.json("/v1/apps")["apps"]?.items ?? []
        let grouping = ReportGrouping(rawValue: value("by", pageRequest) ?? "") ?? .day
        var values: [String: Any] = [
            "apps": apps.compactMap { $0["topic"]?.text },
            "filter": Dictionary(filters.map { ($0, value($0, pageRequest) ?? "") }) { $1 },
            "lanes": choices(["", "apns", "fcm"], chosen: value("lane", pageRequest) ?? "", "reports.lane", texts),
            "groupings": choices(
                ReportGrouping.allCases.map(\.rawValue), chosen: grouping.rawValue, "reports.by", texts),
        ]
        let title = texts.text("reports.title")
        guard answer.isSuccess else {
            values["fault"] = answer.message
            return pageRequest.page("reports", title: title, section: "reports", status: answer.status, values)
        }
        let report = DayReport(answer.json)
        values.merge(view(report, grouping, query: query, pageRequest)) { $1 }
        return pageRequest.page(
            "reports", title: title, section: "reports", same: SameRequest(path: path, command: command(pageRequest)),
            values)
    }

    private static func view(
        _ report: DayReport, _ grouping: ReportGrouping, query: QueryText, _ pageRequest: PageRequest
    ) -> [String: Any] {
        let texts = pageRequest.texts
        func download(_ path: String, _ names: [String], _ format: String) -> String {
            var query = self.query(pageRequest, names)
            query.add("format", format)
            return "/console/reports/\(path)\(query.text)"
        }
        return [
            "report": [
                "chart": report.chart(texts), "figures": ReportFigure.cards(report.total, texts),
                "columns": ReportFigure.columns(texts),
                "groupedBy": texts.text("reports.by.\(grouping.rawValue)"),
                "rows": report.grouped(by: grouping, texts).map { name, counts in
                    ["name": name, "counts": ReportFigure.counts(counts, texts)] as [String: Any]
                }, "ends": ReportFigure.ends(report.total, texts),
                "period": texts.text("reports.period", ["from": report.from, "to": report.to]),
                "isEmpty": report.rows.isEmpty,
                "rowsCSV": download("rows", filters, "csv"), "rowsLines": download("rows", filters, "jsonl"),
                "eventsCSV": download("events", ["app", "from", "to"], "csv"),
                "eventsLines": download("events", ["app", "from", "to"], "jsonl"),
            ] as [String: Any]
        ]
    }

    private static func choices(
        _ values: [String], chosen: String, _ key: String, _ texts: Catalogue
    ) -> [[String: Any]] {
        values.map {
            [
                "value": $0, "text": texts.text($0.isEmpty ? "reports.any" : "\(key).\($0)"),
                "isChosen": $0 == chosen,
            ]
        }
    }

    /// The command with the same filters; there is none with a platform.
    private static func command(_ pageRequest: PageRequest) -> String? {
        guard value("lane", pageRequest) ?? "" == "" else { return nil }
        var command = "report"
        for name in ["app", "label", "from", "to"] {
            if let value = value(name, pageRequest), !value.isEmpty {
                command += " --\(name) \(SameRequest.quoted(value))"
            }
        }
        return command
    }

    // MARK: Downloads

    /// The rows of the report as CSV or JSON Lines.
    private static func rows(_ pageRequest: PageRequest) async throws -> Response {
        let answer = try await pageRequest.json("/v1/reports\(query(pageRequest, filters).text)")
        let rows = answer["rows"]?.items ?? []
        let isCSV = value("format", pageRequest) == "csv"
        var text = isCSV ? CSVField.line(DayReport.columns) : ""
        for row in rows { text += isCSV ? CSVField.line(DayReport.fields(row)) : row.json + "\n" }
        let headers: HTTPFields = [
            .contentType: isCSV ? "text/csv; charset=utf-8" : "application/jsonl; charset=utf-8",
            .cacheControl: "no-store",
        ]
        return Response(status: .ok, headers: headers, body: ResponseBody(byteBuffer: ByteBuffer(string: text)))
            .asFile("report.\(isCSV ? "csv" : "jsonl")")
    }

    /// Every event of the period, as the API exports them.
    private static func events(_ pageRequest: PageRequest) async throws -> Response {
        let isCSV = value("format", pageRequest) == "csv"
        var query = query(pageRequest, ["app", "from", "to"])
        query.add("format", isCSV ? "csv" : "jsonl")
        let response = try await pageRequest.api.respond(.get, "/v1/events\(query.text)", in: pageRequest.context)
        return response.asFile("events.\(isCSV ? "csv" : "jsonl")")
    }

    // MARK: One send

    private static func send(_ pageRequest: PageRequest) async throws -> Response {
        let texts = pageRequest.texts
        let id = value("id", pageRequest) ?? ""
        let path = "/v1/reports/messages/\(QueryText.encoded(id))"
        var values: [String: Any] = ["id": id]
        var same: SameRequest?
        if !id.isEmpty {
            let answer = try await pageRequest.call(.get, path)
            if answer.isSuccess, let counts = answer.json["counts"] {
                values["report"] = [
                    "figures": ReportFigure.cards(counts, texts), "ends": ReportFigure.ends(counts, texts),
                ]
                same = SameRequest(path: path)
            } else {
                values["fault"] = answer.status == .notFound ? texts.text("reports.send.none") : answer.message
            }
        }
        return pageRequest.page(
            "report-send", title: texts.text("reports.send"), section: "reports", same: same, values)
    }
}
