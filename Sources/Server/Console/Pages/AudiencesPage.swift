import HTTPTypes
import Hummingbird
import PushCore
import PushServer
import Texts

/// The audience of an expression: its size, ten of it, or the fault at its character; `POST /v1/hubs/{hub}/audience` as a page.
enum AudiencesPage {
    static func add(to routes: ConsoleRoutes) {
        routes.get("audiences") { try await show(HubPageRequest($0)) }
    }

    private static func show(_ hub: HubPageRequest) async throws -> Response {
        let texts = hub.pageRequest.texts
        let given = hub.pageRequest.query.first("expression")
        let expression = given ?? ""
        var values: [String: Any] = ["expression": expression]
        var (same, status): (SameRequest?, HTTPResponse.Status) = (nil, .ok)
        if given != nil {
            let body = JSONValue.object([.init("expression", .string(expression))])
            let answer = try await hub.pageRequest.call(.post, "\(hub.root)/audience", body: body)
            status = answer.status
            if answer.isSuccess {
                values["audience"] = view(answer.json, expression: expression, hub)
                same = SameRequest(method: "POST", path: "\(hub.root)/audience", body: body.json)
            } else {
                values["wrong"] = ExpressionFault(message: answer.message, in: expression).view
            }
        }
        return hub.page(
            "audiences", title: texts.text("audiences.title"), part: "audiences", section: "installations", same: same,
            status: status, values)
    }

    private static func view(_ answer: JSONValue, expression: String, _ hub: HubPageRequest) -> [String: Any] {
        let texts = hub.pageRequest.texts
        func count(_ name: String) -> Int { Int(answer[name]?.integer ?? 0) }
        return [
            "count": texts.text("audiences.count", count: count("count")),
            "contents": texts.language.number(count("contents")),
            "templates": texts.language.number(count("templates")),
            "sample": (answer["sample"]?.items ?? []).compactMap(\.text).map {
                ["id": $0, "link": hub.link("installations/\(QueryText.encoded($0))")]
            }, "installations": hub.link("installations", [("expression", expression)]),
            "plan": hub.link("campaigns/new", [("audience", expression)], for: "GET campaigns/new"),
        ]
    }
}

/// The fault in an expression: its message, and the parts of the expression round the character.
struct ExpressionFault {
    let message: String
    let before: String
    let at: String
    let after: String

    /// - Parameter message: A message of the API; that of an expression begins with `character N: `, counted from 1, in its language.
    init(message: String, in expression: String) {
        self.message = message
        let scalars = Array(expression.unicodeScalars)
        guard let match = message.prefixMatch(of: #/(?:character|carácter) (\d+): /#), let number = Int(match.output.1)
        else {
            (before, at, after) = (expression, "", "")
            return
        }
        func text(_ part: ArraySlice<Unicode.Scalar>) -> String {
            var text = String.UnicodeScalarView()
            text.append(contentsOf: part)
            return String(text)
        }
        let place = min(max(number - 1, 0), scalars.count)
        before = text(scalars[..<place])
        at = place < scalars.count ? text(scalars[place...place]) : "␣"
        after = text(scalars[min(place + 1, scalars.count)...])
    }

    var view: [String: Any] { ["message": message, "before": before, "at": String?(at).shown, "after": after] }
}
