import Hummingbird
import PushCore
import PushServer
import Texts

/// The keys by which new devices enrol; `/v1/enrolment-keys` as pages.
enum EnrolmentKeysPage {
    private static let path = "/console/account/enrolment-keys"

    static func add(to routes: ConsoleRoutes) {
        routes.get("account/enrolment-keys") { try await show($0) }
        routes.post("account/enrolment-keys") { try await create($0) }
        routes.get("account/enrolment-keys/:id/revoke") { try ask($0) }
        routes.post("account/enrolment-keys/:id/revoke") { try await revoke($0) }
    }

    private static func show(
        _ pageRequest: PageRequest, refused: RefusedForm? = nil
    ) async throws -> Response {
        let keys = try await pageRequest.json("/v1/enrolment-keys")["enrolmentKeys"]?.items ?? []
        let table = AccountTable(
            key: "account.enrolment-keys", columns: ["id", "used", "until", "state"],
            rows: keys.map { row($0, pageRequest.texts) })
        let form = AccountForm(
            key: "account.enrolment-keys.create", action: path,
            fields: [
                FormField(name: "id"), FormField(name: "quota", kind: .line(type: "number")),
                FormField(name: "hours", kind: .line(type: "number")),
            ])
        return pageRequest.account(
            "account.enrolment-keys", tables: [table], forms: [form], refused: refused,
            same: SameRequest(path: "/v1/enrolment-keys", command: "enrolment-key list"))
    }

    private static func row(
        _ key: JSONValue, _ texts: Catalogue
    ) -> (cells: [AccountCell], actions: [AccountTable.Action]) {
        let id = key["id"]?.text ?? ""
        let state = key["state"]?.text ?? ""
        let used = Int(key["used"]?.integer ?? 0)
        let devices =
            key["quota"]?.integer.map {
                texts.text(
                    "account.used.of",
                    ["count": texts.language.number(used), "quota": texts.language.number(Int($0))])
            } ?? texts.text("account.used", count: used)
        return (
            [
                .code(id), .text(devices),
                key["expiresAt"] == nil
                    ? .text(texts.text("account.days.unlimited")) : .time(key["expiresAt"]?.text),
                .state(texts.text("account.key.\(state)"), state == "valid" ? .good : .bad),
            ],
            state == "revoked"
                ? [] : [.init(key: "revoke", object: id, path: "\(path)/\(QueryText.encoded(id))/revoke")]
        )
    }

    private static func create(_ pageRequest: PageRequest) async throws -> Response {
        let form = try await pageRequest.form()
        let body = JSONValue.document([
            ("id", form.string("id")), ("quota", form.number("quota")), ("hours", form.number("hours")),
        ])
        let answer = try await pageRequest.call(.post, "/v1/enrolment-keys", body: body)
        guard answer.isSuccess, let secret = answer.json["key"]?.text else {
            return try await show(pageRequest, refused: RefusedForm(action: path, fields: form, answer: answer))
        }
        let id = answer.json["id"]?.text ?? ""
        var command = "enrolment-key create \(id)"
        if let quota = form.text("quota") { command += " --quota \(quota)" }
        if let hours = form.text("hours") { command += " --hours \(hours)" }
        return pageRequest.secrets(
            "account.enrolment-keys", object: id,
            [AccountSecret(name: "account.secret.key", text: secret)], back: path,
            same: SameRequest(method: "POST", path: "/v1/enrolment-keys", body: body.json, command: command))
    }

    private static func ask(_ pageRequest: PageRequest) throws -> Response {
        let id = try pageRequest.component("id")
        return pageRequest.confirmation(
            "account.enrolment-keys.revoke", object: id, back: path,
            same: SameRequest(
                method: "DELETE", path: JSONValue.path("enrolment-keys", id), command: "enrolment-key revoke \(id)"))
    }

    private static func revoke(_ pageRequest: PageRequest) async throws -> Response {
        let id = try pageRequest.component("id")
        _ = try await pageRequest.change(.delete, JSONValue.path("enrolment-keys", id))
        return pageRequest.redirect(to: path, after: "enrolment-keys.revoked", of: id)
    }
}
