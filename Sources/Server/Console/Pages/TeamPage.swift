import Hummingbird
import PushCore
import PushServer
import Texts

/// The teams, which own apps, keys and certificates; `GET` and `POST /v1/teams` as a page.
enum TeamPage {
    private static let path = "/console/account/teams"

    static func add(to routes: ConsoleRoutes) {
        routes.get("account/teams") { try await show($0) }
        routes.post("account/teams") { try await create($0) }
    }

    private static func show(
        _ pageRequest: PageRequest, refused: RefusedForm? = nil
    ) async throws -> Response {
        let teams = try await pageRequest.json("/v1/teams")["teams"]?.items ?? []
        let table = AccountTable(
            key: "account.teams", columns: ["name", "team", "project", "sender", "apps", "keys", "certificates"],
            rows: teams.map { team in
                (
                    [
                        .text(team["name"]?.text), .code(team["id"]?.text), .code(team["projectId"]?.text),
                        .code(team["senderId"]?.text), .text(team["apps"]?.json), .text(team["keys"]?.json),
                        .text(team["certificates"]?.json),
                    ], []
                )
            })
        let form = AccountForm(
            key: "account.teams.create", action: path,
            fields: [FormField(name: "name", kind: .line(type: "text")), FormField(name: "id")])
        return pageRequest.account(
            "account.teams", tables: [table], forms: [form], refused: refused,
            same: SameRequest(path: "/v1/teams", command: "team list"))
    }

    private static func create(_ pageRequest: PageRequest) async throws -> Response {
        let form = try await pageRequest.form()
        let body = JSONValue.document([("name", form.string("name")), ("id", form.string("id"))])
        let answer = try await pageRequest.call(.post, "/v1/teams", body: body)
        guard answer.isSuccess else {
            return try await show(pageRequest, refused: RefusedForm(action: path, fields: form, answer: answer))
        }
        let id = answer.json["id"]?.text ?? ""
        return pageRequest.redirect(to: path, after: "teams.added", of: id)
    }
}
