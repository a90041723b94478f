import HTTPTypes
import Hummingbird
import PushCore
import PushServer
import Texts

/// The templates of a real installation with properties filled in; `POST /v1/hubs/{hub}/preview` as a page.
enum HubTemplatesPage {
    static func add(to routes: ConsoleRoutes) {
        routes.get("templates") { try await show(HubPageRequest($0)) }
    }

    private static func show(_ hub: HubPageRequest) async throws -> Response {
        let texts = hub.pageRequest.texts
        let (id, text) = (hub.field("installation"), hub.pageRequest.query.first("properties") ?? "")
        var values: [String: Any] = [
            "installation": id ?? "", "properties": text.isEmpty ? "{}" : text, "installations": try await some(hub),
        ]
        var (same, status): (SameRequest?, HTTPResponse.Status) = (nil, .ok)
        if let id {
            values["templates"] = try await templates(of: id, hub)
            do {
                let properties = try JSONValue(object: Array((text.isEmpty ? "{}" : text).utf8))
                let body = JSONValue.object([.init("installationId", .string(id)), .init("properties", properties)])
                let answer = try await hub.pageRequest.call(.post, "\(hub.root)/preview", body: body)
                status = answer.status
                if answer.isSuccess {
                    values["renderings"] = ["items": renderings(answer.json, texts)]
                    same = SameRequest(method: "POST", path: "\(hub.root)/preview", body: body.json)
                } else if answer.json["pointer"]?.text?.hasPrefix("/properties") == true {
                    values["wrong"] = answer.message
                } else {
                    values["fault"] = answer.message
                }
            } catch let fault as JSONScanner.Fault {
                status = .badRequest
                values["wrong"] = texts.text("campaign.fault.json", ["fault": "\(fault)"])
            }
        }
        return hub.page(
            "hub-templates", title: texts.text("templates.title"), part: "templates", section: "installations",
            same: same, status: status, values)
    }

    /// Some ids of installations, to choose from.
    private static func some(_ hub: HubPageRequest) async throws -> [String] {
        let answer = try await hub.pageRequest.call(.get, "\(hub.root)/installations?limit=20")
        return (answer.json["installations"]?.items ?? []).compactMap { $0["installationId"]?.text }
    }

    /// The bodies of the installation's templates.
    private static func templates(of id: String, _ hub: HubPageRequest) async throws -> [[String: Any]] {
        let answer = try await hub.pageRequest.call(.get, hub.path("installations", id))
        return (answer.json["templates"]?.members ?? []).map {
            ["name": $0.name, "body": $0.value["body"]?.text ?? $0.value.indented]
        }
    }

    private static func renderings(_ answer: JSONValue, _ texts: Catalogue) -> [[String: Any]] {
        (answer["renderings"]?.items ?? []).map { rendering in
            let bytes = texts.language.number(Int(rendering["bytes"]?.integer ?? 0))
            return [
                "name": rendering["template"]?.text ?? "", "fault": (rendering["fault"]?.text).shown,
                "payload": (rendering["payload"].map { $0.text ?? $0.indented }).shown,
                "size": texts.text("campaign.bytes", ["bytes": bytes]),
                "headers": (rendering["headers"]?.members ?? []).map {
                    ["name": $0.name, "value": $0.value.text ?? ""]
                },
            ]
        }
    }
}
