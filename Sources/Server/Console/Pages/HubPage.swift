import Hummingbird
import PushCore
import PushServer
import Texts

/// One hub: its keys, what it sends with to other push services, and its webhook.
enum HubPage {
    static func add(to routes: ConsoleRoutes) {
        routes.get("account/hubs/:hub") { try await show($0) }
        routes.post("account/hubs/:hub/keys") { try await createKey($0) }
        routes.get("account/hubs/:hub/keys/:id/revoke") { try askKey($0) }
        routes.post("account/hubs/:hub/keys/:id/revoke") { try await revokeKey($0) }
        routes.post("account/hubs/:hub/credentials") { try await addCredential($0) }
        routes.get("account/hubs/:hub/credentials/:id/remove") { try askCredential($0) }
        routes.post("account/hubs/:hub/credentials/:id/remove") { try await removeCredential($0) }
        routes.post("account/hubs/:hub/webhook") { try await setWebhook($0) }
        routes.post("account/hubs/:hub/webhook/remove") { try await removeWebhook($0) }
    }

    private static func page(_ hub: String) -> String { "\(HubsPage.path)/\(QueryText.encoded(hub))" }

    private static func show(
        _ pageRequest: PageRequest, refused: RefusedForm? = nil
    ) async throws -> Response {
        let hub = try pageRequest.component("hub")
        let root = JSONValue.path("hubs", hub)
        let keys = try await pageRequest.json("\(root)/keys")["keys"]?.items ?? []
        let credentials = try await pageRequest.json("\(root)/credentials")["credentials"]?.items ?? []
        let webhook = try await WebhookView(pageRequest, root: root, page: page(hub))
        return pageRequest.account(
            "account.hub", title: pageRequest.texts.text("account.hub.title", ["hub": hub]),
            tables: [table(keys: keys, hub, pageRequest), table(credentials: credentials, hub, pageRequest)]
                + webhook.tables,
            forms: [keyForm(hub), credentialForm(hub), webhook.form], refused: refused,
            back: HubsPage.path, same: SameRequest(path: "\(root)/keys", command: "hub key list \(hub)"))
    }

    private static func table(keys: [JSONValue], _ hub: String, _ pageRequest: PageRequest) -> AccountTable {
        AccountTable(
            key: "account.hub.keys", columns: ["name", "kind", "rights", "until"],
            rows: keys.map { key in
                let name = key["name"]?.text ?? ""
                return (
                    [
                        .text(name), .text(pageRequest.texts.text("account.hub.key.kind.\(key["kind"]?.text ?? "")")),
                        .text(key["rights"]?.text),
                        key["expiresAt"] == nil
                            ? .text(pageRequest.texts.text("account.days.unlimited")) : .time(key["expiresAt"]?.text),
                    ],
                    [.init(key: "revoke", object: name, path: "\(page(hub))/keys/\(QueryText.encoded(name))/revoke")]
                )
            })
    }

    private static func table(credentials: [JSONValue], _ hub: String, _ pageRequest: PageRequest) -> AccountTable {
        AccountTable(
            key: "account.hub.credentials", columns: ["kind", "name", "owner", "environments", "validity"],
            rows: credentials.map { credential in
                let number = credential["number"]?.json ?? ""
                return (
                    [
                        .text(
                            pageRequest.texts.text("account.hub.credential.service.\(credential["kind"]?.text ?? "")")),
                        .text(credential["name"]?.text), .text(credential["owner"]?.text),
                        .text(credential["environment"]?.text),
                        credential["daysLeft"]?.integer.map { .daysLeft($0, pageRequest.texts) }
                            ?? .state(pageRequest.texts.text("account.days.unlimited"), .good),
                    ],
                    [
                        .init(
                            key: "remove", object: credential["name"]?.text ?? number,
                            path: "\(page(hub))/credentials/\(number)/remove")
                    ]
                )
            })
    }

    private static func keyForm(_ hub: String) -> AccountForm {
        AccountForm(
            key: "account.hub.key", action: "\(page(hub))/keys",
            fields: [
                FormField(name: "name"), FormField(name: "kind", kind: .choice(["signature", "api", "backend"])),
                FormField(name: "rights"), FormField(name: "days", kind: .line(type: "number")),
            ], values: ["rights": "Listen"])
    }

    private static func credentialForm(_ hub: String) -> AccountForm {
        AccountForm(
            key: "account.hub.credential", action: "\(page(hub))/credentials",
            fields: [
                FormField(name: "service", kind: .choice(["apns", "apns-certificate", "fcm", "webpush"])),
                FormField(name: "environment", kind: .choice(["production", "sandbox"])), FormField(name: "keyId"),
                FormField(name: "team"), FormField(name: "subject"),
                FormField(name: "address", kind: .line(type: "url")),
                FormField(name: "key", kind: .area(rows: 8)), FormField(name: "replace", kind: .check),
            ])
    }

    private static func createKey(_ pageRequest: PageRequest) async throws -> Response {
        let hub = try pageRequest.component("hub")
        let form = try await pageRequest.form()
        let path = JSONValue.path("hubs", hub, rest: "/keys")
        let body = JSONValue.document([
            ("name", form.string("name")), ("kind", form.string("kind")), ("rights", form.string("rights")),
            ("days", form.number("days")),
        ])
        let answer = try await pageRequest.call(.post, path, body: body)
        guard answer.isSuccess, let secret = (answer.json["connectionString"] ?? answer.json["key"])?.text else {
            return try await show(
                pageRequest, refused: RefusedForm(action: "\(page(hub))/keys", fields: form, answer: answer))
        }
        let name = answer.json["name"]?.text ?? ""
        let kind = answer.json["kind"]?.text ?? ""
        let option = kind == "signature" ? "" : " --\(kind)"
        return pageRequest.secrets(
            "account.hub.key", object: name, [AccountSecret(name: "account.secret.key", text: secret)],
            back: page(hub),
            same: SameRequest(
                method: "POST", path: path, body: body.json,
                command: "hub key create \(hub) \(SameRequest.quoted(name)) --rights \(form.text("rights") ?? "Listen")"
                    + option))
    }

    private static func askKey(_ pageRequest: PageRequest) throws -> Response {
        let (hub, id) = (try pageRequest.component("hub"), try pageRequest.component("id"))
        return pageRequest.confirmation(
            "account.hub.key.revoke", object: id, back: page(hub),
            same: SameRequest(
                method: "DELETE", path: JSONValue.path("hubs", hub, rest: "/keys/\(QueryText.encoded(id))"),
                command: "hub key revoke \(hub) \(SameRequest.quoted(id))"))
    }

    private static func revokeKey(_ pageRequest: PageRequest) async throws -> Response {
        let (hub, id) = (try pageRequest.component("hub"), try pageRequest.component("id"))
        _ = try await pageRequest.change(.delete, JSONValue.path("hubs", hub, rest: "/keys/\(QueryText.encoded(id))"))
        return pageRequest.redirect(to: page(hub), after: "hub.key.revoked", of: id)
    }

    private static func addCredential(_ pageRequest: PageRequest) async throws -> Response {
        let hub = try pageRequest.component("hub")
        let form = try await pageRequest.form()
        let body = JSONValue.document(
            [("kind", form.string("service"))]
                + ["environment", "keyId", "team", "subject", "address", "key"].map { ($0, form.string($0)) }
                + [("replace", form.text("replace").map { _ in .boolean(true) })])
        let answer = try await pageRequest.call(.post, JSONValue.path("hubs", hub, rest: "/credentials"), body: body)
        guard answer.isSuccess else {
            return try await show(
                pageRequest, refused: RefusedForm(action: "\(page(hub))/credentials", fields: form, answer: answer))
        }
        return pageRequest.redirect(to: page(hub), after: "hub.credential.added", of: answer.json["name"]?.text ?? "")
    }

    private static func askCredential(_ pageRequest: PageRequest) throws -> Response {
        let (hub, id) = (try pageRequest.component("hub"), try pageRequest.component("id"))
        return pageRequest.confirmation(
            "account.hub.credential.remove", object: id, back: page(hub),
            same: SameRequest(
                method: "DELETE", path: JSONValue.path("hubs", hub, rest: "/credentials/\(QueryText.encoded(id))"),
                command: "hub credential remove \(hub) \(id)"))
    }

    private static func removeCredential(_ pageRequest: PageRequest) async throws -> Response {
        let (hub, id) = (try pageRequest.component("hub"), try pageRequest.component("id"))
        _ = try await pageRequest.change(
            .delete, JSONValue.path("hubs", hub, rest: "/credentials/\(QueryText.encoded(id))"))
        return pageRequest.redirect(to: page(hub), after: "hub.credential.removed", of: id)
    }

    private static func setWebhook(_ pageRequest: PageRequest) async throws -> Response {
        let hub = try pageRequest.component("hub")
        let form = try await pageRequest.form()
        let path = JSONValue.path("hubs", hub, rest: "/webhook")
        let body = JSONValue.document([("url", form.string("url"))])
        let answer = try await pageRequest.call(.put, path, body: body)
        guard answer.isSuccess, let secret = answer.json["secret"]?.text else {
            return try await show(
                pageRequest, refused: RefusedForm(action: "\(page(hub))/webhook", fields: form, answer: answer))
        }
        return pageRequest.secrets(
            "account.webhook", object: hub, [AccountSecret(name: "account.secret.webhook", text: secret)],
            back: page(hub), same: SameRequest(method: "PUT", path: path, body: body.json))
    }

    private static func removeWebhook(_ pageRequest: PageRequest) async throws -> Response {
        let hub = try pageRequest.component("hub")
        _ = try await pageRequest.change(.delete, JSONValue.path("hubs", hub, rest: "/webhook"))
        return pageRequest.redirect(to: page(hub), after: "webhook.removed")
    }
}
