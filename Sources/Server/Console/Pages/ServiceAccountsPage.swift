import Hummingbird
import PushCore
import PushServer
import Texts

/// The service accounts, with which FCM's libraries send; `/v1/service-accounts` as pages.
enum ServiceAccountsPage {
    private static let path = "/console/account/service-accounts"

    static func add(to routes: ConsoleRoutes) {
        routes.get("account/service-accounts") { try await show($0) }
        routes.post("account/service-accounts") { try await create($0) }
        routes.get("account/service-accounts/:id/revoke") { try ask($0) }
        routes.post("account/service-accounts/:id/revoke") { try await revoke($0) }
    }

    private static func show(
        _ pageRequest: PageRequest, refused: RefusedForm? = nil
    ) async throws -> Response {
        let accounts = try await pageRequest.json("/v1/service-accounts")["serviceAccounts"]?.items ?? []
        let table = AccountTable(
            key: "account.service-accounts", columns: ["email", "team", "project", "since", "state"],
            rows: accounts.map { account in
                let id = account["keyId"]?.text ?? ""
                let isRevoked = account["revokedAt"] != nil
                return (
                    [
                        .text(account["email"]?.text), .code(account["team"]?.text),
                        .code(account["projectId"]?.text), .time(account["createdAt"]?.text),
                        isRevoked
                            ? .state(pageRequest.texts.text("account.revoked"), .bad)
                            : .state(pageRequest.texts.text("account.valid"), .good),
                    ],
                    isRevoked
                        ? []
                        : [.init(key: "revoke", object: account["email"]?.text ?? id, path: "\(path)/\(id)/revoke")]
                )
            })
        let form = AccountForm(
            key: "account.service-accounts.create", action: path,
            fields: [
                FormField(name: "team", kind: .choice([])), FormField(name: "url", kind: .line(type: "url")),
            ], choices: ["team": try await pageRequest.teamOptions()])
        return pageRequest.account(
            "account.service-accounts", tables: [table], forms: [form], refused: refused,
            same: SameRequest(path: "/v1/service-accounts", command: "service-account list"))
    }

    private static func create(_ pageRequest: PageRequest) async throws -> Response {
        let form = try await pageRequest.form()
        let body = JSONValue.document([("team", form.string("team")), ("url", form.string("url"))])
        let answer = try await pageRequest.call(.post, "/v1/service-accounts", body: body)
        guard answer.isSuccess, let file = answer.json["file"]?.text else {
            return try await show(pageRequest, refused: RefusedForm(action: path, fields: form, answer: answer))
        }
        let id = answer.json["keyId"]?.text ?? ""
        return pageRequest.secrets(
            "account.service-accounts", object: answer.json["email"]?.text ?? id,
            [
                AccountSecret(
                    name: "account.secret.file", text: file, file: "service-account-\(id.prefix(10)).json")
            ], back: path,
            same: SameRequest(
                method: "POST", path: "/v1/service-accounts", body: body.json,
                command: "service-account create --team \(form.text("team") ?? "")"))
    }

    private static func ask(_ pageRequest: PageRequest) throws -> Response {
        let id = try pageRequest.component("id")
        return pageRequest.confirmation(
            "account.service-accounts.revoke", object: id, back: path,
            same: SameRequest(
                method: "DELETE", path: JSONValue.path("service-accounts", id),
                command: "service-account revoke \(id)"))
    }

    private static func revoke(_ pageRequest: PageRequest) async throws -> Response {
        let id = try pageRequest.component("id")
        _ = try await pageRequest.change(.delete, JSONValue.path("service-accounts", id))
        return pageRequest.redirect(to: path, after: "service-accounts.revoked", of: id)
    }
}
