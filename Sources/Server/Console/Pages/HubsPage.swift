import Hummingbird
import PushCore
import PushServer
import Texts

/// The notification hubs; `GET` and `POST /v1/hubs` as a page.
enum HubsPage {
    static let path = "/console/account/hubs"

    static func add(to routes: ConsoleRoutes) {
        routes.get("account/hubs") { try await show($0) }
        routes.post("account/hubs") { try await create($0) }
    }

    private static func show(_ pageRequest: PageRequest, refused: RefusedForm? = nil) async throws -> Response {
        let hubs = try await pageRequest.json("/v1/hubs")["hubs"]?.items ?? []
        let table = AccountTable(
            key: "account.hubs", columns: ["hub", "app", "team", "since"],
            rows: hubs.map { hub in
                let name = hub["name"]?.text ?? ""
                return (
                    [
                        .link(name, to: "\(path)/\(QueryText.encoded(name))"), .text(hub["topic"]?.text),
                        .code(hub["team"]?.text), .time(hub["createdAt"]?.text),
                    ], []
                )
            })
        let form = AccountForm(
            key: "account.hubs.create", action: path,
            fields: [
                FormField(name: "name"), FormField(name: "topic", kind: .choice([])),
                FormField(name: "azureLimits", kind: .check),
            ], choices: ["topic": try await pageRequest.appOptions()])
        return pageRequest.account(
            "account.hubs", tables: [table], forms: [form], refused: refused,
            same: SameRequest(path: "/v1/hubs", command: "hub list"))
    }

    private static func create(_ pageRequest: PageRequest) async throws -> Response {
        let form = try await pageRequest.form()
        let body = JSONValue.document([
            ("name", form.string("name")), ("topic", form.string("topic")),
            ("azureLimits", form.text("azureLimits").map { _ in .boolean(true) }),
        ])
        let answer = try await pageRequest.call(.post, "/v1/hubs", body: body)
        guard answer.isSuccess, let name = answer.json["name"]?.text else {
            return try await show(pageRequest, refused: RefusedForm(action: path, fields: form, answer: answer))
        }
        return pageRequest.secrets(
            "account.hubs", object: name,
            [
                AccountSecret(name: "account.secret.full", text: answer.json["full"]?.text ?? ""),
                AccountSecret(name: "account.secret.listen", text: answer.json["listen"]?.text ?? ""),
            ], back: "\(path)/\(QueryText.encoded(name))",
            same: SameRequest(
                method: "POST", path: "/v1/hubs", body: body.json,
                command: "hub create \(name) --app \(answer.json["topic"]?.text ?? "")"))
    }
}
