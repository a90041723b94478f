import HTTPTypes
import Hummingbird
import NIOCore
import Networking
import PushCore
import PushServer

/// Writes the entries of requests that change something, as ``RouteAudits`` says.
struct AuditRequests: RouterMiddleware {
    let log: AuditLog
    /// Whether requests show a credential, which their entries wait for.
    let isSecured: Bool
    /// Reads objects before they change.
    let reader: any HTTPResponder<ControlContext>

    private static let failure = RepeatedMessage("the end of a change could not be added to the audit log")

    /// Entries of one request, and what its answer tells.
    private struct Audited {
        let scope: AuditScope
        let makesObject: Bool
    }

    func handle(
        _ request: Request, context: ControlContext, next: (Request, ControlContext) async throws -> Response
    ) async throws -> Response {
        guard let audited = audited(request, context) else { return try await next(request, context) }
        return try await AuditScope.$current.withValue(audited.scope) {
            if !isSecured { try await audited.scope.begin(.development) }
            do {
                return await end(audited, with: try await next(request, context), context)
            } catch {
                let status = (error as? ControlError)?.status ?? (error as? any HTTPResponseError)?.status
                await note(audited.scope, status.map(Self.outcome) ?? .failed, context)
                throw error
            }
        }
    }

    private func audited(_ request: Request, _ context: ControlContext) -> Audited? {
        guard let path = context.endpointPath else { return nil }
        let (action, makesObject): (AuditAction, Bool)
        switch RouteAudits.decision(of: "\(request.method.rawValue) \(path)") {
        case .entry(let found): (action, makesObject) = (found, false)
        case .making(let found): (action, makesObject) = (found, true)
        case .itself, .some(.none), nil: return nil
        }
        let canRead = request.method != .post && RouteAudits.canRead(path)
        let scope = AuditScope(
            AuditChange(action, Self.object(of: path, context)), log: log, keyID: Self.keyID(of: request),
            origin: AuditOrigin(agent: request.headers[.userAgent])
        ) { canRead ? try await read(request, context) : nil }
        return Audited(scope: scope, makesObject: makesObject)
    }

    /// The object of a path: the values of its parameters, without those that are secret or the same for a whole team.
    private static func object(of path: String, _ context: ControlContext) -> String {
        let names = path.split(separator: "/").filter { $0.hasPrefix("{") }.map { $0.dropFirst().dropLast() }
        return names.filter { $0 != "token" && $0 != "project" }
            .compactMap { context.parameters.get(String($0)).map { $0.removingPercentEncoding ?? $0 } }
            .joined(separator: "/")
    }

    /// The id of the key in the head of a provider token; `nil` for other credentials.
    private static func keyID(of request: Request) -> String? {
        guard let token = request.headers[.authorization]?.split(separator: " ").last,
            let head = token.split(separator: ".").first, let bytes = Base64URL.decode(head.utf8),
            // Another credential has no such head.
            let json = try? JSONValue(object: bytes)
        else { return nil }
        return json["kid"]?.text
    }

    private func read(_ request: Request, _ context: ControlContext) async throws -> JSONValue? {
        let head = HTTPRequest(method: .get, scheme: "http", authority: "localhost", path: request.uri.path)
        let response = try await reader.respond(
            to: Request(head: head, body: RequestBody(buffer: ByteBuffer())), context: context)
        guard response.status == .ok else { return nil }
        return try await Self.tree(of: response).tree
    }

    /// The JSON of a response, and the response with the same body.
    private static func tree(of response: Response) async throws -> (tree: JSONValue?, response: Response) {
        guard response.headers[.contentType]?.contains("json") == true else { return (nil, response) }
        var response = response
        let collected = CollectedBody()
        try await response.body.write(collected)
        response.body = ResponseBody(byteBuffer: ByteBuffer(bytes: collected.bytes))
        // What says that it is JSON and is none is logged as nothing.
        return (try? JSONValue(collected.bytes), response)
    }

    private func end(_ audited: Audited, with response: Response, _ context: ControlContext) async -> Response {
        let outcome = Self.outcome(of: response.status)
        guard outcome == .done else {
            await note(audited.scope, outcome, context)
            return response
        }
        do {
            let (tree, response) = try await Self.tree(of: response)
            let made = audited.makesObject ? ["id", "name", "number"].compactMap { tree?[$0] }.first : nil
            await note(audited.scope, .done, made: made.map { $0.text ?? $0.json }, after: tree, context)
            return response
        } catch {
            await note(audited.scope, .done, context)
            return response
        }
    }

    private static func outcome(of status: HTTPResponse.Status) -> AuditOutcome {
        switch status.kind {
        case .clientError: .refused
        case .serverError: .failed
        case .invalid, .informational, .successful, .redirection: .done
        }
    }

    /// Writes the end. The change was made, so that a failure is logged alone: the entry says that the outcome is unknown.
    private func note(
        _ scope: AuditScope, _ outcome: AuditOutcome, made: String? = nil, after: JSONValue? = nil,
        _ context: ControlContext
    ) async {
        do { try await scope.end(outcome, made: made, after: after) } catch {
            Self.failure.log(error, to: context.logger)
        }
    }
}
