import ConnectionAdmission
import Hummingbird
import NIOCore

/// A request of the control API, with the connection that it came on.
package struct ControlContext: RequestContext {
    /// What Hummingbird keeps of a request.
    package var coreContext: CoreRequestContextStorage
    /// The connection that the request came on.
    package let channel: any Channel

    /// Takes what the server knows of a request.
    package init(source: ApplicationRequestContextSource) {
        coreContext = CoreRequestContextStorage(source: source)
        channel = source.channel
    }
}

/// Counts a connection as proven when a request on it was served: a request without a valid credential is refused.
package struct ProofOfConnections: RouterMiddleware {
    private let limiter: ConnectionLimiter

    /// Counts for the connections of a limiter.
    package init(limiter: ConnectionLimiter) { self.limiter = limiter }

    /// Counts the connection as proven, unless the request was refused.
    package func handle(
        _ request: Request, context: ControlContext,
        next: (Request, ControlContext) async throws -> Response
    ) async throws -> Response {
        let response = try await next(request, context)
        if response.status.code < 400, !["/health", "/ready"].contains(request.uri.path) {
            limiter.proven(context.channel)
        }
        return response
    }
}
