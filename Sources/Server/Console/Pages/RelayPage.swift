import HTTPTypes
import Hummingbird
import PushCore
import PushServer
import Texts

/// The accounts whose devices reach each other by the server; `GET /v1/relay/accounts` as a page.
enum RelayPage {
    static func add(to routes: ConsoleRoutes) {
        routes.get("relay") { try await show($0) }
    }

    private static func show(_ pageRequest: PageRequest) async throws -> Response {
        var query = QueryText()
        query.add("after", pageRequest.query.first("after"))
        let path = "/v1/relay/accounts\(query.text)"
        let answer = try await pageRequest.json(path)
        var values: [String: Any] = ["accounts": (answer["accounts"]?.items ?? []).map { account($0, pageRequest) }]
        if pageRequest.query.first("after") != nil { values["first"] = "/console/relay" }
        if let next = answer["next"]?.text {
            var rest = QueryText()
            rest.add("after", next)
            values["next"] = "/console/relay\(rest.text)"
        }
        return pageRequest.page(
            "relay", title: pageRequest.texts.text("layout.relay"), section: "relay", same: SameRequest(path: path),
            values)
    }

    private static func account(_ account: JSONValue, _ pageRequest: PageRequest) -> [String: Any] {
        let bytes = Int((account["documentBytes"]?.integer ?? 0) + 1023) >> 10
        return [
            "short": String(account["account"]?.text?.prefix(12) ?? ""),
            "documents": pageRequest.texts.text(
                "relay.documents", count: Int(account["documents"]?.integer ?? 0),
                ["size": pageRequest.texts.language.number(bytes)]),
            "devices": (account["devices"]?.items ?? []).map { device($0, pageRequest) },
        ]
    }

    private static func device(_ device: JSONValue, _ pageRequest: PageRequest) -> [String: Any] {
        let presence = device["presence"]?.text ?? ""
        let tone: Outcome.Tone = presence == "online" ? .good : presence == "wakeable" ? .neutral : .warn
        let service = device["wakesBy"]?.text == "fcm" ? "FCM" : "APNs"
        var view: [String: Any] = [
            "device": device["device"]?.text ?? "", "kind": device["kind"]?.text ?? "",
            "platform": device["platform"]?.text ?? "", "tone": tone.rawValue, "mark": tone.mark,
            "presence": pageRequest.texts.text("relay.presence.\(presence)", ["service": service]),
            "apps": pageRequest.texts.language.number(Int(device["apps"]?.integer ?? 0)),
            "messages": pageRequest.texts.language.number(Int(device["messages"]?.integer ?? 0)),
        ]
        view["seen"] = pageRequest.time(device["seenAt"]?.text)
        return view
    }
}
