import ConnectionAdmission
import Hummingbird
import NIOCore

/// A request of the control API, with the connection that it came on.
struct ControlContext: RequestContext {
    var coreContext: CoreRequestContextStorage
    let channel: any Channel

    init(source: ApplicationRequestContextSource) {
        coreContext = CoreRequestContextStorage(source: source)
        channel = source.channel
    }
}

/// Counts a connection as proven when a request on it was served: a request without a valid credential is refused.
struct ProofOfConnections: RouterMiddleware {
    let limiter: ConnectionLimiter

    func handle(
        _ request: Request, context: ControlContext,
        next: (Request, ControlContext) async throws -> Response
    ) async throws -> Response {
        let response = try await next(request, context)
        if response.status.code < 400, request.uri.path != "/health" { limiter.proven(context.channel) }
        return response
    }
}
