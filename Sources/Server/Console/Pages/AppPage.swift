import Hummingbird
import PushCore
import PushServer
import Texts

/// The page of an app: its settings, its webhook, and the certificates and keys that may send to it.
enum AppPage {
    static func add(to routes: ConsoleRoutes) {
        routes.get("account/apps/:topic") { try await show($0) }
        routes.post("account/apps/:topic") { try await change($0) }
        routes.get("account/apps/:topic/remove") { try ask($0) }
        routes.post("account/apps/:topic/remove") { try await remove($0) }
        routes.post("account/apps/:topic/webhook") { try await setWebhook($0) }
        routes.post("account/apps/:topic/webhook/remove") { try await removeWebhook($0) }
    }

    private static func page(_ topic: String) -> String { "\(AppsPage.path)/\(QueryText.encoded(topic))" }

    private static func show(
        _ pageRequest: PageRequest, refused: RefusedForm? = nil
    ) async throws -> Response {
        let topic = try pageRequest.component("topic")
        let apps = try await pageRequest.json("/v1/apps?limit=1000")["apps"]?.items ?? []
        guard let app = apps.first(where: { $0["topic"]?.text == topic }) else {
            throw ControlError(
                status: .notFound, code: "notFound", message: pageRequest.texts.text("account.app.unknown"))
        }
        let facts = AccountTable(
            key: "account.app", columns: ["app", "team", "push"],
            rows: [
                (
                    [.code(topic), .code(app["team"]?.text), AppsPage.capability(app, pageRequest.texts)],
                    [.init(key: "remove", object: topic, path: "\(page(topic))/remove")]
                )
            ])
        let credentials = try await credentials(of: app, pageRequest)
        let webhook = try await WebhookView(pageRequest, root: JSONValue.path("apps", topic), page: page(topic))
        return pageRequest.account(
            "account.app", title: app["name"]?.text ?? topic, tables: [facts, credentials] + webhook.tables,
            forms: [form(app, page(topic)), webhook.form], refused: refused, back: AppsPage.path,
            same: SameRequest(path: "/v1/apps?name=\(QueryText.encoded(topic))", command: "app show \(topic)"))
    }

    private static func form(_ app: JSONValue, _ action: String) -> AccountForm {
        let isEnabled = app["capabilities"]?.items?.contains(.string("push")) == true
        return AccountForm(
            key: "account.app.change", action: action,
            fields: [
                FormField(name: "name"), FormField(name: "limit", kind: .line(type: "number")),
                FormField(name: "overflow", kind: .choice(AppsPage.overflows)),
                FormField(name: "push", kind: .check),
            ],
            values: [
                "name": app["name"]?.text ?? "", "limit": app["limit"]?.json ?? "",
                "overflow": app["overflow"]?.text ?? "", "push": isEnabled ? "1" : "",
            ])
    }

    /// The keys of the app's team, and the certificates of the app.
    private static func credentials(of app: JSONValue, _ pageRequest: PageRequest) async throws -> AccountTable {
        let keys = (try await pageRequest.json("/v1/keys")["keys"]?.items ?? []).filter { $0["team"] == app["team"] }
        let certificates = (try await pageRequest.json("/v1/certificates")["certificates"]?.items ?? []).filter {
            $0["app"] == app["topic"] && $0["state"]?.text == "valid"
        }
        let texts = pageRequest.texts
        return AccountTable(
            key: "account.app.credentials", columns: ["credential", "id", "validity"],
            rows: keys.map { key in
                (
                    [
                        .link(texts.text("account.column.key"), to: "/console/account/keys"),
                        .code(key["keyId"]?.text), .state(texts.text("account.days.unlimited"), .good),
                    ], []
                )
            }
                + certificates.map { certificate in
                    (
                        [
                            .link(texts.text("account.column.certificate"), to: "/console/account/certificates"),
                            .code(certificate["id"]?.text), .daysLeft(certificate["daysLeft"]?.integer, texts),
                        ], []
                    )
                })
    }

    private static func change(_ pageRequest: PageRequest) async throws -> Response {
        let topic = try pageRequest.component("topic")
        let form = try await pageRequest.form()
        let body = JSONValue.document([
            ("name", .string(form.text("name") ?? "")), ("limit", form.number("limit")),
            ("overflow", form.string("overflow")), ("push", .boolean(form.text("push") != nil)),
        ])
        let answer = try await pageRequest.call(.patch, JSONValue.path("apps", topic), body: body)
        guard answer.isSuccess else {
            return try await show(pageRequest, refused: RefusedForm(action: page(topic), fields: form, answer: answer))
        }
        return pageRequest.redirect(to: page(topic), after: "app.saved")
    }

    private static func ask(_ pageRequest: PageRequest) throws -> Response {
        let topic = try pageRequest.component("topic")
        return pageRequest.confirmation(
            "account.apps.remove", object: topic, back: page(topic), isTyped: true,
            same: SameRequest(method: "DELETE", path: JSONValue.path("apps", topic), command: "app remove \(topic)"))
    }

    private static func remove(_ pageRequest: PageRequest) async throws -> Response {
        let topic = try pageRequest.component("topic")
        guard try await pageRequest.form().text("typed") == topic else {
            return pageRequest.confirmation(
                "account.apps.remove", object: topic, back: page(topic), isTyped: true,
                fault: pageRequest.texts.text("account.confirm.differs", ["object": topic]),
                same: SameRequest(
                    method: "DELETE", path: JSONValue.path("apps", topic), command: "app remove \(topic)"))
        }
        _ = try await pageRequest.change(.delete, JSONValue.path("apps", topic))
        return pageRequest.redirect(to: AppsPage.path, after: "apps.removed", of: topic)
    }

    private static func setWebhook(_ pageRequest: PageRequest) async throws -> Response {
        let topic = try pageRequest.component("topic")
        let form = try await pageRequest.form()
        let path = JSONValue.path("apps", topic, rest: "/webhook")
        let body = JSONValue.document([("url", form.string("url"))])
        let answer = try await pageRequest.call(.put, path, body: body)
        guard answer.isSuccess, let secret = answer.json["secret"]?.text else {
            return try await show(
                pageRequest, refused: RefusedForm(action: "\(page(topic))/webhook", fields: form, answer: answer))
        }
        return pageRequest.secrets(
            "account.webhook", object: topic, [AccountSecret(name: "account.secret.webhook", text: secret)],
            back: page(topic),
            same: SameRequest(
                method: "PUT", path: path, body: body.json,
                command: "app webhook set \(topic) --url \(SameRequest.quoted(form.text("url") ?? ""))"))
    }

    private static func removeWebhook(_ pageRequest: PageRequest) async throws -> Response {
        let topic = try pageRequest.component("topic")
        _ = try await pageRequest.change(.delete, JSONValue.path("apps", topic, rest: "/webhook"))
        return pageRequest.redirect(to: page(topic), after: "webhook.removed")
    }
}

/// The webhook of an app or of a hub, with its last answers.
struct WebhookView {
    let tables: [AccountTable]
    let form: AccountForm

    /// - Parameters:
    ///   - root: The address of the app or the hub in the API.
    ///   - page: Its page.
    init(_ pageRequest: PageRequest, root: String, page: String) async throws {
        let answer = try await pageRequest.call(.get, "\(root)/webhook")
        var values: [String: String] = [:]
        var tables: [AccountTable] = []
        if answer.isSuccess {
            let url = answer.json["url"]?.text ?? ""
            values["url"] = url
            tables.append(
                AccountTable(
                    key: "account.webhook", columns: ["address", "since"],
                    rows: [
                        (
                            [.code(url), .time(answer.json["since"]?.text)],
                            [.init(key: "remove", object: url, path: "\(page)/webhook/remove", isForm: true)]
                        )
                    ]))
            let answers = try await pageRequest.call(.get, "\(root)/webhook/answers").json["answers"]?.items ?? []
            tables.append(
                AccountTable(
                    key: "account.webhook.answers", columns: ["at", "answer"],
                    rows: answers.map { ([.time($0["at"]?.text), Self.cell($0)], []) }))
        }
        self.tables = tables
        form = AccountForm(
            key: "account.webhook.set", action: "\(page)/webhook",
            fields: [FormField(name: "url", kind: .line(type: "url"))], values: values)
    }

    private static func cell(_ answer: JSONValue) -> AccountCell {
        guard let status = answer["status"]?.integer else { return .state(answer["fault"]?.text ?? "", .bad) }
        return .state(String(status), (200..<300).contains(status) ? .good : .bad)
    }
}
