import HTTPTypes
import Hummingbird
import PushCore
import PushServer
import Texts

/// A person's installations, the export of everything about the person, and its erasure.
enum PersonPage {
    static func add(to routes: ConsoleRoutes) {
        routes.get("users/:id") { try await show(HubPageRequest($0)) }
        routes.get("users/:id/export") { try await export(HubPageRequest($0)) }
        routes.post("users/:id/erase") { try await erase(HubPageRequest($0)) }
    }

    private static func show(
        _ hub: HubPageRequest, fault: String? = nil, status: HTTPResponse.Status = .ok, _ more: [String: Any] = [:]
    ) async throws -> Response {
        let user = try hub.parameter("id")
        var query = QueryText()
        query.add("limit", "1000")
        query.add("user", user)
        let path = "\(hub.root)/installations\(query.text)"
        let answer = try await hub.json(path)
        let here = "users/\(QueryText.encoded(user))"
        var values = more
        values["user"] = user
        values["rows"] = (answer["installations"]?.items ?? []).map { InstallationsPage.row($0, hub) }
        values["export"] = hub.link("\(here)/export", for: "GET users/:id/export")
        values["erase"] = hub.link("\(here)/erase", for: "POST users/:id/erase")
        values["wrong"] = fault.shown
        return hub.page(
            "person", title: user, part: "installations", section: "installations",
            same: SameRequest(path: hub.path("users", user, rest: "/export")), status: status, values)
    }

    private static func export(_ hub: HubPageRequest) async throws -> Response {
        let user = try hub.parameter("id")
        let response = try await hub.pageRequest.api.respond(
            .get, hub.path("users", user, rest: "/export"), in: hub.pageRequest.context)
        return response.asFile("person.json")
    }

    /// Erases the person, if the form repeats the id.
    private static func erase(_ hub: HubPageRequest) async throws -> Response {
        let user = try hub.parameter("id")
        let texts = hub.pageRequest.texts
        guard try await hub.pageRequest.request.form().first("user") == user else {
            return try await show(
                hub, fault: texts.text("person.erase.differs", ["user": user]), status: .badRequest)
        }
        let receipt = try await hub.change(.delete, hub.path("users", user))
        let count = receipt["installations"]?.items?.count ?? 0
        return try await show(
            hub,
            [
                "notice": texts.text("person.erased", count: count), "receipt": receipt.indented,
            ])
    }
}
