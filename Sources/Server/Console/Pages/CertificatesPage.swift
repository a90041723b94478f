import Hummingbird
import PushCore
import PushServer
import Texts

/// The certificates: those of providers, of teams' authorities and of the server itself; `/v1/certificates` as pages.
enum CertificatesPage {
    private static let path = "/console/account/certificates"

    static func add(to routes: ConsoleRoutes) {
        routes.get("account/certificates") { try await show($0) }
        routes.post("account/certificates") { try await create($0) }
        routes.post("account/certificates/import") { try await importCertificate($0) }
        routes.post("account/certificates/:id/renew") { try await renew($0) }
        routes.get("account/certificates/:id/revoke") { try ask($0) }
        routes.post("account/certificates/:id/revoke") { try await revoke($0) }
    }

    private static func show(
        _ pageRequest: PageRequest, refused: RefusedForm? = nil
    ) async throws -> Response {
        let answer = try await pageRequest.json("/v1/certificates")
        let providers = AccountTable(
            key: "account.certificates",
            columns: ["app", "id", "environments", "until", "validity"],
            rows: (answer["certificates"]?.items ?? []).map { row($0, pageRequest.texts) })
        return pageRequest.account(
            "account.certificates", tables: [providers, authorities(answer, pageRequest), server(answer, pageRequest)],
            forms: [
                AccountForm(
                    key: "account.certificates.create", action: path,
                    fields: [
                        FormField(name: "app", kind: .choice([])),
                        FormField(name: "environments", kind: .choice(["sandbox", "production", "both"])),
                        FormField(name: "days", kind: .line(type: "number")),
                        FormField(name: "request", kind: .area(rows: 8)),
                    ], choices: ["app": try await pageRequest.appOptions()], values: ["days": "365"]),
                AccountForm(
                    key: "account.certificates.import", action: "\(path)/import",
                    fields: [FormField(name: "certificate", kind: .area(rows: 8))]),
            ], refused: refused,
            same: SameRequest(path: "/v1/certificates", command: "certificate list"))
    }

    private static func row(
        _ item: JSONValue, _ texts: Catalogue
    ) -> (cells: [AccountCell], actions: [AccountTable.Action]) {
        let id = item["id"]?.text ?? ""
        let isRevoked = item["state"]?.text == "revoked"
        let root = "\(path)/\(QueryText.encoded(id))"
        let environments = (item["environments"]?.items ?? []).compactMap(\.text).joined(separator: ", ")
        return (
            [
                .text(item["app"]?.text), .code(id), .text(environments), .time(item["notAfter"]?.text),
                isRevoked ? .state(texts.text("account.revoked"), .bad) : .daysLeft(item["daysLeft"]?.integer, texts),
            ],
            isRevoked
                ? []
                : [
                    .init(key: "renew", object: id, path: "\(root)/renew", isForm: true),
                    .init(key: "revoke", object: id, path: "\(root)/revoke"),
                ]
        )
    }

    private static func authorities(_ answer: JSONValue, _ pageRequest: PageRequest) -> AccountTable {
        AccountTable(
            key: "account.certificates.authorities", columns: ["name", "team", "until", "validity"],
            rows: (answer["authorities"]?.items ?? []).map {
                (
                    [
                        .text($0["name"]?.text), .code($0["team"]?.text), .time($0["notAfter"]?.text),
                        .daysLeft($0["daysLeft"]?.integer, pageRequest.texts),
                    ], []
                )
            })
    }

    private static func server(_ answer: JSONValue, _ pageRequest: PageRequest) -> AccountTable {
        AccountTable(
            key: "account.certificates.server", columns: ["names", "until", "validity", "renewal"],
            rows: (answer["server"]?.items ?? []).map { item in
                let renewal = item["isRenewedByServer"]?.isTrue == true ? "server" : "operator"
                return (
                    [
                        .text((item["names"]?.items ?? []).compactMap(\.text).joined(separator: ", ")),
                        .time(item["notAfter"]?.text), .daysLeft(item["daysLeft"]?.integer, pageRequest.texts),
                        .text(pageRequest.texts.text("account.renewal.\(renewal)")),
                    ], []
                )
            })
    }

    private static func create(_ pageRequest: PageRequest) async throws -> Response {
        let form = try await pageRequest.form()
        let chosen = form.text("environments") ?? "sandbox"
        let environments = chosen == "both" ? ["sandbox", "production"] : [chosen]
        let body = JSONValue.document([
            ("app", form.string("app")), ("request", form.string("request")),
            ("environments", .array(environments.map { .string($0) })), ("days", form.number("days")),
        ])
        let answer = try await pageRequest.call(.post, "/v1/certificates", body: body)
        guard answer.isSuccess else {
            return try await show(pageRequest, refused: RefusedForm(action: path, fields: form, answer: answer))
        }
        let app = form.text("app") ?? ""
        return made(
            answer.json, pageRequest,
            same: SameRequest(
                method: "POST", path: "/v1/certificates", body: body.json,
                command: "certificate sign push.csr --app \(app) --environment \(chosen)"))
    }

    private static func importCertificate(_ pageRequest: PageRequest) async throws -> Response {
        let form = try await pageRequest.form()
        let body = JSONValue.document([("certificate", form.string("certificate") ?? .string(""))])
        let answer = try await pageRequest.call(.post, "/v1/certificates", body: body)
        guard answer.isSuccess else {
            return try await show(
                pageRequest, refused: RefusedForm(action: "\(path)/import", fields: form, answer: answer))
        }
        let id = answer.json["id"]?.text ?? ""
        return pageRequest.redirect(to: path, after: "certificates.imported", of: id)
    }

    private static func renew(_ pageRequest: PageRequest) async throws -> Response {
        let id = try pageRequest.component("id")
        let path = JSONValue.path("certificates", id, rest: "/renew")
        return made(
            try await pageRequest.change(.post, path, body: .object([])), pageRequest,
            same: SameRequest(method: "POST", path: path, body: "{}", command: "certificate renew \(id)"))
    }

    private static func made(_ certificate: JSONValue, _ pageRequest: PageRequest, same: SameRequest) -> Response {
        pageRequest.secrets(
            "account.certificates", object: certificate["id"]?.text ?? "",
            [
                AccountSecret(
                    name: "account.secret.certificate", text: certificate["certificate"]?.text ?? "",
                    file: "\(certificate["app"]?.text ?? "aps").pem")
            ], back: path, same: same)
    }

    private static func ask(_ pageRequest: PageRequest) throws -> Response {
        let id = try pageRequest.component("id")
        return pageRequest.confirmation(
            "account.certificates.revoke", object: id, back: path,
            same: SameRequest(
                method: "DELETE", path: JSONValue.path("certificates", id), command: "certificate revoke \(id)"))
    }

    private static func revoke(_ pageRequest: PageRequest) async throws -> Response {
        let id = try pageRequest.component("id")
        _ = try await pageRequest.change(.delete, JSONValue.path("certificates", id))
        return pageRequest.redirect(to: path, after: "certificates.revoked", of: id)
    }
}
