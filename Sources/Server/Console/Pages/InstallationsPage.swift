import HTTPTypes
import Hummingbird
import PushCore
import PushServer
import Texts

/// The installations of a hub, found by id, person or expression; `GET /v1/hubs/{hub}/installations` as a page.
enum InstallationsPage {
    static func add(to routes: ConsoleRoutes) {
        routes.get("installations") { try await list(HubPageRequest($0)) }
        InstallationPage.add(to: routes)
        PersonPage.add(to: routes)
    }

    private static func list(_ hub: HubPageRequest) async throws -> Response {
        let texts = hub.pageRequest.texts
        if let id = hub.field("id") {
            let answer = try await hub.pageRequest.call(.get, hub.path("installations", id))
            if answer.isSuccess {
                return hub.pageRequest.redirect(to: hub.link("installations/\(QueryText.encoded(id))"))
            }
        }
        let state = hub.field("state").flatMap { ["live", "dead"].contains($0) ? $0 : nil }
        let user = hub.field("user")
        let expression = hub.field("expression")
        var query = QueryText()
        query.add("limit", String(HubPageRequest.limit))
        query.add("expression", expression)
        query.add("user", user)
        query.add("state", state)
        query.add("cursor", hub.field("cursor"))
        let path = "\(hub.root)/installations\(query.text)"
        let answer = try await hub.pageRequest.call(.get, path)
        var values: [String: Any] = [
            "rows": (answer.json["installations"]?.items ?? []).map { row($0, hub) },
            "filter": ["id": hub.field("id") ?? "", "user": user ?? "", "expression": hub.field("expression") ?? ""],
            "states": ["", "live", "dead"].map {
                [
                    "value": $0, "text": texts.text("installations.state.\($0.isEmpty ? "any" : $0)"),
                    "isChosen": $0 == state ?? "",
                ] as [String: Any]
            },
            "empty": texts.text("installations.empty"), "audience": hub.link("audiences"),
            "everything": user.map { hub.link("users/\(QueryText.encoded($0))") }.shown,
        ]
        if hub.field("id") != nil { values["fault"] = texts.text("installations.unknown") }
        if !answer.isSuccess { values["wrong"] = ExpressionFault(message: answer.message, in: expression ?? "").view }
        let fields = [("user", user), ("expression", hub.field("expression")), ("state", state)]
        if let next = answer.json["next"]?.text {
            values["older"] = hub.link("installations", fields + [("cursor", next)])
        }
        if hub.field("cursor") != nil { values["newest"] = hub.link("installations", fields) }
        return hub.page(
            "installations", title: texts.text("installations.title"), part: "installations",
            section: "installations", same: SameRequest(path: path), status: answer.status, values)
    }

    /// An installation as a row.
    static func row(_ item: JSONValue, _ hub: HubPageRequest) -> [String: Any] {
        let id = item["installationId"]?.text ?? ""
        let isLive = item["state"]?.text == "live"
        let user = item["userId"]?.text
        var row: [String: Any] = [
            "id": id, "link": hub.link("installations/\(QueryText.encoded(id))"), "user": user.shown,
            "userLink": hub.link("users/\(QueryText.encoded(user ?? ""))"),
            "platform": item["platform"]?.text ?? "",
            "tags": (item["tags"]?.items ?? []).compactMap(\.text).joined(separator: " "),
            "state": hub.pageRequest.texts.text("installations.state.\(isLive ? "live" : "dead")"),
            "tone": isLive ? "good" : "warn", "mark": isLive ? "✓" : "!",
        ]
        row["seen"] = hub.pageRequest.time(item["lastSeen"]?.text)
        return row
    }
}
