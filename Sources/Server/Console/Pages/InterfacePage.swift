import Hummingbird
import PushCore
import PushServer

/// The description of the API, `GET /v1/openapi.json`, as a page.
enum InterfacePage {
    static func add(to routes: ConsoleRoutes) {
        routes.get("api") { try await show($0) }
    }

    private static let methods = ["get", "post", "put", "patch", "delete"]

    private static func show(_ pageRequest: PageRequest) async throws -> Response {
        let path = "/v1/openapi.json"
        let document = try await pageRequest.json(path)
        var groups: [(name: String, operations: [[String: Any]])] = []
        for member in document["paths"]?.members ?? [] {
            let name = group(member.name)
            let operations = methods.compactMap { method in
                member.value[method].map { operation($0, method: method, path: member.name, of: member.value) }
            }
            if let place = groups.firstIndex(where: { $0.name == name }) {
                groups[place].operations += operations
            } else {
                groups.append((name, operations))
            }
        }
        return pageRequest.page(
            "api", title: pageRequest.texts.text("api.title"), section: "", same: SameRequest(path: path),
            ["groups": groups.map { ["name": $0.name, "operations": $0.operations] as [String: Any] }])
    }

    /// The first component of a path after the version.
    private static func group(_ path: String) -> String {
        path.split(separator: "/").dropFirst().first.map(String.init) ?? path
    }

    private static func operation(
        _ operation: JSONValue, method: String, path: String, of item: JSONValue
    ) -> [String: Any] {
        let parameters = (item["parameters"]?.items ?? []) + (operation["parameters"]?.items ?? [])
        var view: [String: Any] = [
            "method": method.uppercased(), "path": path, "summary": operation["summary"]?.text ?? "",
            "query": parameters.filter { $0["in"]?.text == "query" }.compactMap { $0["name"]?.text }
                .joined(separator: ", "),
        ]
        view["description"] = operation["description"]?.text
        return view
    }
}
