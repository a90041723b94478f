import HTTPTypes
import Hummingbird
import PushServer

/// Protects plain listeners on loopback from web pages. A page in a browser can send requests there under a name that
/// its owner resolves to 127.0.0.1, but not with our Host and without its Origin.
struct LoopbackGuard<Context: RequestContext>: RouterMiddleware {
    /// The port that the listener is bound to.
    let port: @Sendable () -> Int?

    func handle(
        _ request: Request, context: Context, next: (Request, Context) async throws -> Response
    ) async throws -> Response {
        guard let port = port(), Self.allows(host: request.head.authority, origin: request.headers[.origin], port: port)
        else {
            throw ControlError(
                status: .forbidden, code: "forbidden",
                message:
                    "this listener answers only to localhost, 127.0.0.1 or [::1] with its port, and to no other origin")
        }
        return try await next(request, context)
    }

    /// Whether a request with these two headers is allowed.
    static func allows(host: String?, origin: String?, port: Int) -> Bool {
        let names = ["localhost", "127.0.0.1", "[::1]"].map { "\($0):\(port)" }
        guard let host = host?.lowercased(), names.contains(host) else { return false }
        guard let origin = origin?.lowercased() else { return true }
        return origin == "http://\(host)"
    }
}
