import Hummingbird
import PushCore
import PushServer
import Texts

/// The apps by their bundle ids; `GET` and `POST /v1/apps` as a page.
enum AppsPage {
    static let path = "/console/account/apps"
    /// The notifications that are dropped when too many wait for a device.
    static let overflows = ["dropOldest", "keepNewest", "clear"]

    static func add(to routes: ConsoleRoutes) {
        routes.get("account/apps") { try await show($0) }
        routes.post("account/apps") { try await create($0) }
    }

    static func show(_ pageRequest: PageRequest, refused: RefusedForm? = nil) async throws -> Response {
        let apps = try await pageRequest.json("/v1/apps?limit=1000")["apps"]?.items ?? []
        let table = AccountTable(
            key: "account.apps", columns: ["app", "name", "team", "push"],
            rows: apps.map { app in
                let topic = app["topic"]?.text ?? ""
                return (
                    [
                        .link(topic, to: "\(path)/\(QueryText.encoded(topic))"), .text(app["name"]?.text),
                        .code(app["team"]?.text), capability(app, pageRequest.texts),
                    ], []
                )
            })
        let form = AccountForm(
            key: "account.apps.create", action: path,
            fields: [
                FormField(name: "topic"), FormField(name: "team", kind: .choice([])), FormField(name: "name"),
                FormField(name: "limit", kind: .line(type: "number")),
                FormField(name: "overflow", kind: .choice(overflows)),
            ], choices: ["team": try await pageRequest.teamOptions()], values: ["limit": "1000"])
        return pageRequest.account(
            "account.apps", tables: [table], forms: [form], refused: refused,
            same: SameRequest(path: "/v1/apps", command: "app list"))
    }

    /// Whether pushes to an app are accepted.
    static func capability(_ app: JSONValue, _ texts: Catalogue) -> AccountCell {
        app["capabilities"]?.items?.contains(.string("push")) == true
            ? .state(texts.text("account.push.on"), .good) : .state(texts.text("account.push.off"), .warn)
    }

    private static func create(_ pageRequest: PageRequest) async throws -> Response {
        let form = try await pageRequest.form()
        let body = JSONValue.document([
            ("topic", form.string("topic")), ("team", form.string("team")), ("name", form.string("name")),
            ("limit", form.number("limit")), ("overflow", form.string("overflow")),
        ])
        let answer = try await pageRequest.call(.post, "/v1/apps", body: body)
        guard answer.isSuccess, let topic = answer.json["topic"]?.text else {
            return try await show(pageRequest, refused: RefusedForm(action: path, fields: form, answer: answer))
        }
        return pageRequest.redirect(to: "\(path)/\(QueryText.encoded(topic))")
    }
}
