import Foundation
import HTTPTypes
import Hummingbird
import NIOCore
import PushCore
import PushServer
import Texts

/// One request for a page: the reader's language and zone, the query, and the API on the reader's behalf.
struct PageRequest {
    let request: Request
    let context: ControlContext
    let api: ConsoleAPI
    let pages: PageRenderer
    /// The catalogue of the reader's language.
    let texts: Catalogue
    /// The time zone in which times are shown.
    let zone: TimeZone
    /// The fields of the query.
    let query: FormFields
    /// The user who made the request.
    let user: SignedInUser

    init(
        _ request: Request, _ context: ControlContext, user: SignedInUser, api: ConsoleAPI, pages: PageRenderer
    ) throws {
        self.user = user
        self.request = request
        self.context = context
        self.pages = pages
        query = try FormFields(request.uri.query ?? "")
        let cookies = request.cookies
        let language =
            query.first("language").flatMap(Language.init(rawValue:))
            ?? cookies["language"].flatMap { Language(rawValue: $0.value) }
        texts = Catalogue.of(language ?? Language(acceptLanguage: request.headers[.acceptLanguage]))
        self.api = api.limited(to: user.scope, in: texts.language)
        zone = cookies["zone"].flatMap { TimeZone(identifier: $0.value) } ?? TimeZone(secondsFromGMT: 0) ?? .current
    }

    /// A parameter of the path.
    func parameter(_ name: String) throws -> String { try context.parameters.require(name) }

    /// The JSON that a route answers.
    func json(_ path: String) async throws -> JSONValue { try await api.json(path, in: context) }

    /// Asks a route to change something; the answer may be a refusal.
    func call(
        _ method: HTTPRequest.Method, _ path: String, body: JSONValue? = nil, headers: HTTPFields = [:]
    ) async throws -> ConsoleAPI.Answer {
        try await api.call(method, path, body: body, headers: headers, in: context)
    }

    /// A page as a response.
    ///
    /// - Parameters:
    ///   - template: The name of the page's template.
    ///   - title: The page's title, in the reader's language.
    ///   - section: The name of the page in the navigation.
    ///   - same: The request of the API that the page shows, for its commands.
    func page(
        _ template: String, title: String, section: String, same: SameRequest? = nil,
        status: HTTPResponse.Status = .ok, _ values: [String: Any]
    ) -> Response {
        var values = values
        values["title"] = title
        values["same"] = same.map { $0.view(port: context.channel.localAddress?.port) }
        return pages.response(template, pageRequest: self, section: section, status: status, values)
    }

    /// Whether the user's role includes a route, `POST notifications/:id/withdraw`. Pages leave out the forms of others.
    func may(_ route: String) -> Bool {
        user.isOpen || ConsolePermissions.rule(route)?.admits(user.membership) { _ in nil } == true
    }

    /// Sends the browser to another page of the console after a form; `path` begins with `/console/`.
    func redirect(to path: String) -> Response {
        Response(status: .seeOther, headers: [.location: path, .cacheControl: "no-store"])
    }
}

/// A request of the API as other programs make it.
struct SameRequest {
    var method = "GET"
    /// The path with its query.
    var path: String
    var body: String?
    /// The arguments of `aldaba`; `nil` where no command does the same.
    var command: String?

    func view(port: Int?) -> [String: Any] {
        var curl = "curl"
        if method != "GET" { curl += " -X \(method)" }
        if let body { curl += " -H 'content-type: application/json' -d \(Self.quoted(body))" }
        curl += " \(Self.quoted("http://127.0.0.1:\(port ?? 0)\(path)"))"
        return ["curl": curl, "command": command.map { "aldaba \($0)" }.shown]
    }

    /// An argument that a shell takes unchanged.
    static func quoted(_ argument: String) -> String { "'" + argument.replacing("'", with: "'\\''") + "'" }
}
