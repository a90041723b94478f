import Foundation
import HTTPTypes
import Hummingbird
import PushCore
import PushServer
import Texts

/// The audit log, the newest entry first; `GET /v1/audit` as a page.
enum AuditPage {
    private static let filters = ["action", "object", "actor", "team", "origin", "from", "to"]
    private static let limit = 100

    static func add(to routes: ConsoleRoutes) {
        routes.get("audit") { try await list($0) }
        routes.get("audit/export") { try await export($0) }
    }

    /// The query of a page: the filters as the reader gave them.
    private static func page(_ pageRequest: PageRequest) -> QueryText {
        var query = QueryText()
        for name in filters { query.add(name, pageRequest.query.first(name)?.trimmingCharacters(in: .whitespaces)) }
        return query
    }

    /// The query of the API for the filters of a page. The days are those of the reader's zone.
    private static func query(_ pageRequest: PageRequest) -> QueryText {
        var query = QueryText()
        for name in filters {
            let text = pageRequest.query.first(name)?.trimmingCharacters(in: .whitespaces) ?? ""
            switch name {
            case "from": query.add(name, instant(text, daysLater: 0, pageRequest))
            case "to": query.add(name, instant(text, daysLater: 1, pageRequest))
            default: query.add(name, text)
            }
        }
        return query
    }

    /// The beginning of a day; a text that is no day stays, and the API says what is wrong with it.
    private static func instant(_ day: String, daysLater: Int64, _ pageRequest: PageRequest) -> String {
        guard let midnight = Timestamp(text: "\(day)T00:00:00Z") else { return day }
        let begin = midnight.adding(milliseconds: daysLater * 86_400_000)
        let date = Date(timeIntervalSince1970: Double(begin.rawValue / 1000))
        return begin.adding(milliseconds: Int64(-1000 * pageRequest.zone.secondsFromGMT(for: date))).description
    }

    private static func list(_ pageRequest: PageRequest) async throws -> Response {
        let page = page(pageRequest)
        var query = query(pageRequest)
        let filtered = query
        query.add("limit", String(limit))
        query.add("after", pageRequest.query.first("after"))
        let answer = try await pageRequest.json("/v1/audit\(query.text)")
        let entries = answer["entries"]?.items ?? []
        var values: [String: Any] = [
            "rows": entries.map { row($0, pageRequest) }, "origins": origins(pageRequest),
            "filter": Dictionary(
                filters.map { ($0, pageRequest.query.first($0) ?? "") }, uniquingKeysWith: { first, _ in first }),
            "empty": pageRequest.texts.text(page.text.isEmpty ? "audit.empty" : "audit.empty.filtered"),
            "csv": exportPath(page, "csv"), "jsonl": exportPath(page, "jsonl"),
        ]
        if pageRequest.query.first("after") != nil { values["newest"] = "/console/audit\(page.text)" }
        if let next = answer["next"]?.text {
            var older = page
            older.add("after", next)
            values["older"] = "/console/audit\(older.text)"
            if entries.count < limit { values["more"] = pageRequest.texts.text("audit.more", ["count": "2000"]) }
        }
        return pageRequest.page(
            "audit", title: pageRequest.texts.text("audit.title"), section: "audit",
            same: SameRequest(path: "/v1/audit\(filtered.text)", command: command(pageRequest)), values)
    }

    private static func exportPath(_ page: QueryText, _ format: String) -> String {
        var query = page
        query.add("format", format)
        return "/console/audit/export\(query.text)"
    }

    private static func command(_ pageRequest: PageRequest) -> String {
        ["action", "object", "actor"].reduce("audit") { command, name in
            guard let value = pageRequest.query.first(name), !value.isEmpty else { return command }
            return command + " --\(name) \(SameRequest.quoted(value))"
        }
    }

    private static func origins(_ pageRequest: PageRequest) -> [[String: Any]] {
        let chosen = pageRequest.query.first("origin") ?? ""
        return ([""] + AuditOrigin.allCases.map(\.rawValue)).map {
            [
                "value": $0, "label": pageRequest.texts.text($0.isEmpty ? "inbox.any" : "audit.origin.\($0)"),
                "isChosen": $0 == chosen,
            ]
        }
    }

    /// The view of an entry.
    private static func row(_ entry: JSONValue, _ pageRequest: PageRequest) -> [String: Any] {
        func name(_ list: String, _ word: String) -> String { pageRequest.texts.text("audit.\(list).\(word)") }
        let outcome = entry["outcome"]?.text ?? "unknown"
        let isDone = outcome == AuditOutcome.done.rawValue
        let kind = entry["actor"]?["kind"]?.text ?? ""
        var row: [String: Any] = [
            "number": entry["number"]?.json ?? "", "action": entry["action"]?.text ?? "",
            "object": entry["object"]?.text ?? "", "origin": name("origin", entry["origin"]?.text ?? ""),
            "outcome": name("outcome", outcome), "tone": isDone ? "good" : "warn", "mark": isDone ? "✓" : "!",
            "kind": name("actor", kind),
        ]
        row["at"] = pageRequest.time(entry["at"]?.text)
        row["team"] = entry["team"]?.text
        // The name of the console and of development is their kind.
        if !["console", "development"].contains(kind) { row["actor"] = entry["actor"]?["name"]?.text }
        row["actorID"] = entry["actor"]?["id"]?.text
        if let before = entry["before"], before != .null { row["before"] = before.indented }
        if let after = entry["after"], after != .null { row["after"] = after.indented }
        return row
    }

    /// The entries of the filters as a file, as the API exports them.
    private static func export(_ pageRequest: PageRequest) async throws -> Response {
        var query = query(pageRequest)
        query.add("format", pageRequest.query.first("format"))
        let path = "/v1/audit/export\(query.text)"
        let response = try await pageRequest.api.respond(.get, path, in: pageRequest.context)
        // A refusal is shown as a page; the same request as JSON says why.
        if response.status != .ok { _ = try await pageRequest.json(path) }
        return response
    }
}
