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
    private static func page(_ visit: Visit) -> QueryText {
        var query = QueryText()
        for name in filters { query.add(name, visit.query.first(name)?.trimmingCharacters(in: .whitespaces)) }
        return query
    }

    /// The query of the API for the filters of a page. The days are those of the reader's zone.
    private static func query(_ visit: Visit) -> QueryText {
        var query = QueryText()
        for name in filters {
            let text = visit.query.first(name)?.trimmingCharacters(in: .whitespaces) ?? ""
            switch name {
            case "from": query.add(name, instant(text, daysLater: 0, visit))
            case "to": query.add(name, instant(text, daysLater: 1, visit))
            default: query.add(name, text)
            }
        }
        return query
    }

    /// The beginning of a day; a text that is no day stays, and the API says what is wrong with it.
    private static func instant(_ day: String, daysLater: Int64, _ visit: Visit) -> String {
        guard let midnight = Timestamp(text: "\(day)T00:00:00Z") else { return day }
        let begin = midnight.adding(milliseconds: daysLater * 86_400_000)
        let date = Date(timeIntervalSince1970: Double(begin.rawValue / 1000))
        return begin.adding(milliseconds: Int64(-1000 * visit.zone.secondsFromGMT(for: date))).description
    }

    private static func list(_ visit: Visit) async throws -> Response {
        let page = page(visit)
        var query = query(visit)
        let filtered = query
        query.add("limit", String(limit))
        query.add("after", visit.query.first("after"))
        let answer = try await visit.json("/v1/audit\(query.text)")
        let entries = answer["entries"]?.items ?? []
        var values: [String: Any] = [
            "rows": entries.map { row($0, visit) }, "origins": origins(visit),
            "filter": Dictionary(
                filters.map { ($0, visit.query.first($0) ?? "") }, uniquingKeysWith: { first, _ in first }),
            "empty": visit.texts.text(page.text.isEmpty ? "audit.empty" : "audit.empty.filtered"),
            "csv": exportPath(page, "csv"), "jsonl": exportPath(page, "jsonl"),
        ]
        if visit.query.first("after") != nil { values["newest"] = "/console/audit\(page.text)" }
        if let next = answer["next"]?.text {
            var older = page
            older.add("after", next)
            values["older"] = "/console/audit\(older.text)"
            if entries.count < limit { values["more"] = visit.texts.text("audit.more", ["count": "2000"]) }
        }
        return visit.page(
            "audit", title: visit.texts.text("audit.title"), section: "audit",
            same: SameRequest(path: "/v1/audit\(filtered.text)", command: command(visit)), values)
    }

    private static func exportPath(_ page: QueryText, _ format: String) -> String {
        var query = page
        query.add("format", format)
        return "/console/audit/export\(query.text)"
    }

    private static func command(_ visit: Visit) -> String {
        ["action", "object", "actor"].reduce("audit") { command, name in
            guard let value = visit.query.first(name), !value.isEmpty else { return command }
            return command + " --\(name) \(SameRequest.quoted(value))"
        }
    }

    private static func origins(_ visit: Visit) -> [[String: Any]] {
        let chosen = visit.query.first("origin") ?? ""
        return ([""] + AuditOrigin.allCases.map(\.rawValue)).map {
            [
                "value": $0, "label": visit.texts.text($0.isEmpty ? "inbox.any" : "audit.origin.\($0)"),
                "isChosen": $0 == chosen,
            ]
        }
    }

    /// The view of an entry.
    private static func row(_ entry: JSONValue, _ visit: Visit) -> [String: Any] {
        func name(_ list: String, _ word: String) -> String { visit.texts.text("audit.\(list).\(word)") }
        let outcome = entry["outcome"]?.text ?? "unknown"
        let isDone = outcome == AuditOutcome.done.rawValue
        let kind = entry["actor"]?["kind"]?.text ?? ""
        var row: [String: Any] = [
            "number": entry["number"]?.json ?? "", "action": entry["action"]?.text ?? "",
            "object": entry["object"]?.text ?? "", "origin": name("origin", entry["origin"]?.text ?? ""),
            "outcome": name("outcome", outcome), "tone": isDone ? "good" : "warn", "mark": isDone ? "✓" : "!",
            "kind": name("actor", kind),
        ]
        row["at"] = visit.time(entry["at"]?.text)
        row["team"] = entry["team"]?.text
        // The name of the console and of development is their kind.
        if !["console", "development"].contains(kind) { row["actor"] = entry["actor"]?["name"]?.text }
        row["actorID"] = entry["actor"]?["id"]?.text
        if let before = entry["before"], before != .null { row["before"] = before.indented }
        if let after = entry["after"], after != .null { row["after"] = after.indented }
        return row
    }

    /// The entries of the filters as a file, as the API exports them.
    private static func export(_ visit: Visit) async throws -> Response {
        var query = query(visit)
        query.add("format", visit.query.first("format"))
        let path = "/v1/audit/export\(query.text)"
        let response = try await visit.api.respond(.get, path, in: visit.context)
        // A refusal is shown as a page; the same request as JSON says why.
        if response.status != .ok { _ = try await visit.json(path) }
        return response
    }
}
