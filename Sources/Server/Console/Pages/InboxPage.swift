import Foundation
import HTTPTypes
import Hummingbird
import NIOCore
import PushCore
import PushServer
import Texts

/// The list of notifications, the newest first; `GET /v1/notifications` as a page.
enum InboxPage {
    private static let filters = ["app", "device", "state", "reason", "text", "from", "to"]
    private static let limit = 100

    static func add(to routes: ConsoleRoutes) {
        routes.get("") { try await list($0) }
        routes.get("inbox/events") { try await events($0) }
    }

    /// The query of the API for the filters of a page.
    private static func query(_ pageRequest: PageRequest) -> QueryText {
        var query = QueryText()
        for name in filters { query.add(name, value(name, pageRequest)) }
        return query
    }

    /// The value of a filter. A time without a zone is in the reader's.
    private static func value(_ name: String, _ pageRequest: PageRequest) -> String? {
        guard let text = pageRequest.query.first(name)?.trimmingCharacters(in: .whitespaces), !text.isEmpty else {
            return nil
        }
        return ["from", "to"].contains(name) ? pageRequest.instant(ofLocal: text) : text
    }

    private static func list(_ pageRequest: PageRequest) async throws -> Response {
        var query = query(pageRequest)
        let page = query
        query.add("limit", String(limit))
        query.add("after", pageRequest.query.first("after"))
        let answer = try await pageRequest.json("/v1/notifications\(query.text)")
        let items = answer["notifications"]?.items ?? []
        let isFiltered = !page.text.isEmpty
        let isFirst = pageRequest.query.first("after") == nil
        let next = answer["next"]?.text
        var values: [String: Any] = [
            "rows": items.map { InboxRow.view($0, pageRequest) }, "limit": limit,
            "filter": Dictionary(
                filters.map { ($0, pageRequest.query.first($0) ?? "") }, uniquingKeysWith: { first, _ in first }),
            "states": states(pageRequest), "apps": (try await pageRequest.json("/v1/apps")["apps"]?.view) as Any,
            "empty": pageRequest.texts.text(isFiltered ? "inbox.empty.filtered" : "inbox.empty"),
        ]
        if isFirst {
            var stream = page
            stream.add("since", items.first?["id"]?.text ?? "1")
            values["events"] = "/console/inbox/events\(stream.text)"
        }
        if !isFirst { values["newest"] = "/console/\(page.text)" }
        if let next {
            var older = page
            older.add("after", next)
            values["older"] = "/console/\(older.text)"
            if items.count < limit { values["more"] = pageRequest.texts.text("inbox.more", ["count": "2000"]) }
        }
        var command = "list notifications"
        for name in ["app", "device", "state"] {
            guard let value = pageRequest.query.first(name), !value.isEmpty else { continue }
            command += " --\(name) \(SameRequest.quoted(value))"
        }
        return pageRequest.page(
            "inbox", title: pageRequest.texts.text("inbox.title"), section: "inbox",
            same: SameRequest(path: "/v1/notifications\(query.text)", command: command), values)
    }

    private static func states(_ pageRequest: PageRequest) -> [[String: Any]] {
        let chosen = pageRequest.query.first("state") ?? ""
        return ["", "waiting", "ended", "refused"].map {
            [
                "value": $0, "label": pageRequest.texts.text($0.isEmpty ? "inbox.any" : "inbox.state.\($0)"),
                "isChosen": $0 == chosen,
            ]
        }
    }

    /// New and changed notifications as rows of the table.
    private static func events(_ pageRequest: PageRequest) async throws -> Response {
        var query = query(pageRequest)
        query.add("since", pageRequest.request.headers[.lastEventID] ?? pageRequest.query.first("since"))
        var response = try await pageRequest.api.respond(
            .get, "/v1/notifications/events\(query.text)", in: pageRequest.context)
        guard response.status == .ok else { return response }
        let inner = response.body
        response.body = ResponseBody { writer in
            try await inner.write(EventConverter(writer: writer) { event($0, data: $1, pageRequest) })
        }
        return response
    }

    /// The event of the page for one of the API.
    private static func event(_ name: Substring, data: JSONValue, _ pageRequest: PageRequest) -> String {
        guard name == "notification" else {
            let text = pageRequest.texts.text("inbox.skipped", count: Int(data["count"]?.integer ?? 0))
            return "event: status\ndata: \(JSONValue.object([.init("text", .string(text))]).json)\n\n"
        }
        let html = pageRequest.pages.fragment("inbox-row", texts: pageRequest.texts, InboxRow.view(data, pageRequest))
        let row = JSONValue.object([.init("id", data["id"] ?? .null), .init("html", .string(html))])
        return "event: row\ndata: \(row.json)\n\n"
    }
}

/// A notification of the list as templates show it.
enum InboxRow {
    static func view(_ item: JSONValue, _ pageRequest: PageRequest) -> [String: Any] {
        let last = item["outcome"]?.text ?? "-"
        let state = item["state"]?.text ?? ""
        let outcome = Outcome(state: last)
        var view: [String: Any] = [
            "id": item["id"]?.text ?? "", "topic": item["topic"]?.text ?? "",
            "state": pageRequest.texts.text("inbox.state.\(state)"), "last": last, "tone": outcome.tone.rawValue,
            "mark": outcome.tone.mark,
        ]
        // Templates take an optional value that is nil for a value.
        view["at"] = pageRequest.time(item["acceptedAt"]?.text ?? item["lastAt"]?.text)
        view["name"] = (item["title"] ?? item["body"])?.text
        view["body"] = item["title"] == nil ? nil : item["body"]?.text
        view["device"] = item["device"]?.text
        return view
    }
}

extension HTTPField.Name {
    fileprivate static let lastEventID = HTTPField.Name("Last-Event-ID")!
}
