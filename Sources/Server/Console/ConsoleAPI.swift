import HTTPTypes
import Hummingbird
import NIOCore
import PushCore
import PushServer
import Texts

/// The routes under `/v1`, called by the console's pages without a connection.
///
/// A page has no powers beyond these routes: what it shows is what they answer.
package struct ConsoleAPI: Sendable {
    private let responder: any HTTPResponder<ControlContext>
    private var scope = SignedInUser.Scope()
    private var texts = CommandTexts.of(.english)

    /// Calls the routes of a responder.
    package init(_ responder: any HTTPResponder<ControlContext>) { self.responder = responder }

    /// The same routes, with what a user sees through them, and with their refusals in the reader's language.
    func limited(to scope: SignedInUser.Scope, in language: Language) -> ConsoleAPI {
        var api = self
        api.scope = scope
        api.texts = CommandTexts.of(language)
        return api
    }

    /// An answer of a route.
    struct Answer {
        /// The status.
        var status: HTTPResponse.Status
        /// The fields of the answer.
        var headers: HTTPFields = [:]
        /// The body as JSON; `null` where it has none.
        var json: JSONValue
        /// Whether the request was accepted.
        var isSuccess: Bool { status.kind == .successful }
        /// The texts of refusals in the reader's language.
        var texts = CommandTexts.of(.english)
        /// The message of a refusal, in the reader's language where it is known.
        var message: String {
            texts.text(
                json["detail"]?.text ?? json["error"]?["message"]?.text ?? json["reason"]?.text ?? status.reasonPhrase)
        }
    }

    /// Asks a route, and returns the answer whatever its status is.
    ///
    /// - Parameters:
    ///   - path: The path with its query.
    ///   - body: The JSON of a body; `nil` for none.
    func call(
        _ method: HTTPRequest.Method = .get, _ path: String, body: JSONValue? = nil,
        headers: HTTPFields = [:], in context: ControlContext
    ) async throws -> Answer {
        var headers = headers
        if body != nil, headers[.contentType] == nil { headers[.contentType] = "application/json" }
        let bytes = body.map { ByteBuffer(bytes: $0.bytes) } ?? ByteBuffer()
        return try await call(method, path, bytes: bytes, headers: headers, in: context)
    }

    /// Asks a route with a body that is no JSON, such as a file.
    func call(
        _ method: HTTPRequest.Method, _ path: String, bytes: ByteBuffer, headers: HTTPFields, in context: ControlContext
    ) async throws -> Answer {
        let response = try await answer(method, path, body: bytes, headers: headers, in: context)
        let collector = BodyCollector()
        try await response.body.write(BodyWriter(collector))
        let bytes = Array(buffer: collector.bytes)
        let json = bytes.isEmpty ? .null : (try? JSONValue(bytes)) ?? .null
        let isShown = scope.seesPayloads || response.status.kind != .successful
        return Answer(
            status: response.status, headers: response.headers, json: isShown ? json : PayloadFilter.filtered(json),
            texts: texts)
    }

    /// Asks a route, and returns its JSON.
    ///
    /// - Throws: ``ControlError`` of a refusal, which the console shows as a page.
    func json(_ path: String, in context: ControlContext) async throws -> JSONValue {
        let answer = try await call(.get, path, in: context)
        guard answer.isSuccess else {
            throw ControlError(
                status: answer.status, code: answer.json["code"]?.text ?? "refused", message: answer.message)
        }
        return answer.json
    }

    /// The response of a route as it is, for streams.
    func respond(
        _ method: HTTPRequest.Method, _ path: String, body: ByteBuffer = ByteBuffer(), headers: HTTPFields = [:],
        in context: ControlContext
    ) async throws -> Response {
        var response = try await answer(method, path, body: body, headers: headers, in: context)
        let isStream = response.headers[.contentType]?.hasPrefix("text/event-stream") == true
        if isStream, let isCurrent = scope.isCurrent {
            response.body = SessionStream.limited(response.body, while: isCurrent)
        }
        guard !scope.seesPayloads, response.status.kind == .successful else { return response }
        if isStream {
            response.body = PayloadFilter.filtered(response.body)
        } else if response.headers[.contentType]?.contains("json") == true {
            throw ConsoleRefusal.file.error
        }
        return response
    }

    private func answer(
        _ method: HTTPRequest.Method, _ path: String, body: ByteBuffer, headers: HTTPFields, in context: ControlContext
    ) async throws -> Response {
        let head = HTTPRequest(
            method: method, scheme: "http", authority: "localhost", path: path, headerFields: headers)
        let request = Request(head: head, body: RequestBody(buffer: body))
        if !scope.seesPayloads {
            let names = try FormFields(request.uri.query ?? "").names
            guard PayloadFilter.parameters.isDisjoint(with: names) else {
                throw ConsoleRefusal.search.error
            }
        }
        return try await AuditActor.$current.withValue(scope.actor) {
            try await ConsoleScope.$current.withValue(scope.team) {
                try await responder.respond(to: request, context: context)
            }
        }
    }
}

/// The bytes of a response's body.
private final class BodyCollector {
    var bytes = ByteBuffer()
}

/// Collects the body of a response.
private struct BodyWriter: ResponseBodyWriter {
    private let collector: BodyCollector

    init(_ collector: BodyCollector) { self.collector = collector }

    mutating func write(_ buffer: ByteBuffer) async throws {
        var buffer = buffer
        collector.bytes.writeBuffer(&buffer)
    }

    consuming func finish(_ trailingHeaders: HTTPFields?) async throws {}
}
