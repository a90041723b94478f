import Foundation
import HTTPTypes
import Hummingbird
import PushCore
import PushServer

/// A request for a page of a hub. The field `hub` of the address names the hub; without it, it is the first.
struct HubPageRequest {
    let pageRequest: PageRequest
    let hub: String
    private let hubs: [String]
    /// The number of items on a page.
    static let limit = 50

    /// Finds the hub.
    ///
    /// - Throws: A refusal where there is no hub.
    init(_ pageRequest: PageRequest) async throws {
        self.pageRequest = pageRequest
        let named = pageRequest.query.first("hub").flatMap { $0.isEmpty ? nil : $0 }
        let answer = try await pageRequest.call(.get, "/v1/hubs")
        hubs = answer.isSuccess ? (answer.json["hubs"]?.items ?? []).compactMap { $0["name"]?.text } : []
        guard let hub = named ?? hubs.first else {
            throw ControlError(status: .notFound, code: "notFound", message: pageRequest.texts.text("hub.none"))
        }
        self.hub = hub
    }

    /// The path of the hub's API.
    var root: String { "/v1/hubs/\(QueryText.encoded(hub))" }

    /// The path of one item of the hub's API.
    func path(_ list: String, _ id: String, rest: String = "") -> String {
        "\(root)/\(list)/\(QueryText.encoded(id))\(rest)"
    }

    /// The address of a page of the same hub.
    func link(_ path: String, _ fields: [(String, String?)] = []) -> String {
        var query = QueryText()
        query.add("hub", hub)
        for (name, value) in fields { query.add(name, value) }
        return "/console/\(path)\(query.text)"
    }

    /// The address of a page of the same hub; `false` where the user's role does not include its route.
    func link(_ path: String, _ fields: [(String, String?)] = [], for route: String) -> Any {
        pageRequest.may(route) ? link(path, fields) as Any : false
    }

    /// A component of the path, decoded.
    func parameter(_ name: String) throws -> String {
        let text = try pageRequest.parameter(name)
        return text.removingPercentEncoding ?? text
    }

    /// The text of a field of the query; `nil` for none.
    func field(_ name: String) -> String? {
        guard let text = pageRequest.query.first(name)?.trimmingCharacters(in: .whitespacesAndNewlines), !text.isEmpty
        else { return nil }
        return text
    }

    /// The JSON that a route of the hub answers.
    func json(_ path: String) async throws -> JSONValue { try await pageRequest.json(path) }

    /// Asks a route of the hub to do something.
    ///
    /// - Throws: The refusal of the route.
    func change(_ method: HTTPRequest.Method, _ path: String, body: JSONValue? = nil) async throws -> JSONValue {
        let answer = try await pageRequest.call(method, path, body: body)
        guard answer.isSuccess else {
            throw ControlError(
                status: answer.status, code: answer.json["code"]?.text ?? "refused", message: answer.message)
        }
        return answer.json
    }

    /// A page of the hub.
    ///
    /// - Parameters:
    ///   - part: The name of the page among those of hubs.
    ///   - section: The name of the page in the navigation.
    func page(
        _ template: String, title: String, part: String, section: String, same: SameRequest? = nil,
        status: HTTPResponse.Status = .ok, _ values: [String: Any]
    ) -> Response {
        var values = values
        values["hub"] = hub
        values["hubPages"] = ["campaigns", "installations", "audiences", "templates"].map {
            ["path": link($0), "label": pageRequest.texts.text("hub.\($0)"), "isCurrent": $0 == part] as [String: Any]
        }
        if hubs.count > 1 {
            values["chooser"] = [
                "path": "/console/\(part)",
                "options": hubs.map { ["name": $0, "isChosen": $0 == hub] as [String: Any] },
            ]
        }
        return pageRequest.page(template, title: title, section: section, same: same, status: status, values)
    }
}
