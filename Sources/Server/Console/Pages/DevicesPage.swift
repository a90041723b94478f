import HTTPTypes
import Hummingbird
import PushCore
import PushServer
import Texts

/// The list of devices; `GET /v1/devices` as a page.
enum DevicesPage {
    private static let limit = 100
    static let states = ["active", "blocked", "revoked"]

    static func add(to routes: ConsoleRoutes) {
        routes.get("devices") { try await show($0) }
    }

    private static func show(_ pageRequest: PageRequest) async throws -> Response {
        let app = pageRequest.query.first("app")?.filter { !$0.isWhitespace } ?? ""
        let state = pageRequest.query.first("state") ?? ""
        var filter = QueryText()
        filter.add("app", app)
        filter.add("state", state)
        var query = filter
        query.add("limit", String(limit))
        query.add("after", pageRequest.query.first("after"))
        let path = "/v1/devices\(query.text)"
        let answer = try await pageRequest.json(path)
        var values: [String: Any] = [
            "app": app, "states": choices(state, pageRequest),
            "rows": (answer["devices"]?.items ?? []).map { row($0, pageRequest) },
            "empty": pageRequest.texts.text(filter.text.isEmpty ? "device.none" : "device.none.filtered"),
        ]
        values["apps"] = try await pageRequest.json("/v1/apps")["apps"]?.view
        if pageRequest.query.first("after") != nil { values["first"] = "/console/devices\(filter.text)" }
        if let next = answer["next"]?.text {
            var rest = filter
            rest.add("after", next)
            values["next"] = "/console/devices\(rest.text)"
        }
        var command = "device list"
        if !app.isEmpty { command += " --app \(SameRequest.quoted(app))" }
        if !state.isEmpty { command += " --state \(SameRequest.quoted(state))" }
        return pageRequest.page(
            "devices", title: pageRequest.texts.text("layout.devices"), section: "devices",
            same: SameRequest(path: path, command: command), values)
    }

    private static func choices(_ chosen: String, _ pageRequest: PageRequest) -> [[String: Any]] {
        ([""] + states).map {
            [
                "value": $0, "label": pageRequest.texts.text($0.isEmpty ? "inbox.any" : "device.state.\($0)"),
                "isChosen": $0 == chosen,
            ]
        }
    }

    private static func row(_ item: JSONValue, _ pageRequest: PageRequest) -> [String: Any] {
        let state = item["state"]?.text ?? ""
        let tone = tone(state)
        var row: [String: Any] = [
            "device": item["device"]?.text ?? "", "state": pageRequest.texts.text("device.state.\(state)"),
            "tone": tone.rawValue, "mark": tone.mark,
            "places": (item["apps"]?.items ?? []).map {
                ["topic": $0["topic"]?.text ?? "", "environment": $0["environment"]?.text ?? ""]
            },
        ]
        row["enrolled"] = pageRequest.time(item["enrolledAt"]?.text)
        row["seen"] = pageRequest.time(item["seenAt"]?.text)
        return row
    }

    /// The kind of a device's state.
    static func tone(_ state: String) -> Outcome.Tone {
        switch state {
        case "active": .good
        case "blocked": .warn
        default: .bad
        }
    }
}
