import Hummingbird
import PushCore
import PushServer
import Texts

/// The provider keys: made, imported and revoked; `/v1/keys` as pages.
enum KeysPage {
    private static let path = "/console/account/keys"

    static func add(to routes: ConsoleRoutes) {
        routes.get("account/keys") { try await show($0) }
        routes.post("account/keys") { try await create($0) }
        routes.post("account/keys/import") { try await importKey($0) }
        routes.get("account/keys/:id/revoke") { ask($0, try $0.component("id")) }
        routes.post("account/keys/:id/revoke") { try await revoke($0) }
    }

    private static func show(
        _ pageRequest: PageRequest, refused: RefusedForm? = nil
    ) async throws -> Response {
        let keys = try await pageRequest.json("/v1/keys")["keys"]?.items ?? []
        let table = AccountTable(
            key: "account.keys", columns: ["key", "team", "since"],
            rows: keys.map { key in
                let id = key["keyId"]?.text ?? ""
                return (
                    [.code(id), .code(key["team"]?.text), .time(key["createdAt"]?.text)],
                    [.init(key: "revoke", object: id, path: "\(path)/\(QueryText.encoded(id))/revoke")]
                )
            })
        let teams = try await pageRequest.teamOptions()
        let create = AccountForm(
            key: "account.keys.create", action: path, fields: [FormField(name: "team", kind: .choice([]))],
            choices: ["team": teams])
        let add = AccountForm(
            key: "account.keys.import", action: "\(path)/import",
            fields: [
                FormField(name: "team", kind: .choice([])), FormField(name: "keyId"),
                FormField(name: "key", kind: .area(rows: 6)),
            ], choices: ["team": teams])
        return pageRequest.account(
            "account.keys", tables: [table], forms: [create, add], refused: refused,
            same: SameRequest(path: "/v1/keys", command: "key list"))
    }

    private static func create(_ pageRequest: PageRequest) async throws -> Response {
        let form = try await pageRequest.form()
        let body = JSONValue.document([("team", form.string("team"))])
        let answer = try await pageRequest.call(.post, "/v1/keys", body: body)
        guard answer.isSuccess, let secret = answer.json["privateKey"]?.text else {
            return try await show(pageRequest, refused: RefusedForm(action: path, fields: form, answer: answer))
        }
        let id = answer.json["keyId"]?.text ?? ""
        return pageRequest.secrets(
            "account.keys", object: id,
            [AccountSecret(name: "account.secret.private", text: secret, file: "AuthKey_\(id).p8")], back: path,
            same: SameRequest(
                method: "POST", path: "/v1/keys", body: body.json,
                command: "key create --team \(form.text("team") ?? "")"))
    }

    private static func importKey(_ pageRequest: PageRequest) async throws -> Response {
        let form = try await pageRequest.form()
        let body = JSONValue.document([
            ("team", form.string("team")), ("keyId", form.string("keyId") ?? .string("")),
            ("key", form.string("key") ?? .string("")),
        ])
        let answer = try await pageRequest.call(.post, "/v1/keys", body: body)
        guard answer.isSuccess else {
            return try await show(
                pageRequest, refused: RefusedForm(action: "\(path)/import", fields: form, answer: answer))
        }
        let id = answer.json["keyId"]?.text ?? ""
        return pageRequest.redirect(to: path, after: "keys.imported", of: id)
    }

    private static func ask(_ pageRequest: PageRequest, _ id: String, fault: String? = nil) -> Response {
        pageRequest.confirmation(
            "account.keys.revoke", object: id, back: path, isTyped: true, fault: fault,
            same: SameRequest(method: "DELETE", path: JSONValue.path("keys", id), command: "key revoke \(id)"))
    }

    private static func revoke(_ pageRequest: PageRequest) async throws -> Response {
        let id = try pageRequest.component("id")
        guard try await pageRequest.form().text("typed") == id else {
            return ask(pageRequest, id, fault: pageRequest.texts.text("account.confirm.differs", ["object": id]))
        }
        _ = try await pageRequest.change(.delete, JSONValue.path("keys", id))
        return pageRequest.redirect(to: path, after: "keys.revoked", of: id)
    }
}
