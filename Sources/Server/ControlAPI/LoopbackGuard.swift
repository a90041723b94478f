import HTTPTypes
import Hummingbird
import PushServer

/// Protects plain listeners on loopback from web pages. A page in a browser can send requests there under a name that
/// its owner resolves to 127.0.0.1, but not with our Host and without its Origin.
struct LoopbackGuard<Context: RequestContext>: RouterMiddleware {
    /// Whether only this machine reaches the listener; otherwise it is in a network of a test's own.
    var isOnLoopback = true
    /// The port that the listener is bound to, and those that are passed on to it.
    let ports: @Sendable () -> [Int]

    func handle(
        _ request: Request, context: Context, next: (Request, Context) async throws -> Response
    ) async throws -> Response {
        let (host, origin) = (request.head.authority, request.headers[.origin])
        let isAllowed =
            isOnLoopback
            ? ports().contains { Self.allows(host: host, origin: origin, port: $0) }
            : Self.allowsInNetwork(host: host, origin: origin)
        guard isAllowed else {
            throw ControlError(
                status: .forbidden, code: "forbidden",
                message:
                    "this listener answers only to localhost, 127.0.0.1 or [::1] with its port, and to no other origin")
        }
        return try await next(request, context)
    }

    /// Whether a request with these two headers is allowed in a network of a test's own: by an address, or a name without a
    /// domain, which no owner of a domain can choose. A container's port has another number outside.
    static func allowsInNetwork(host: String?, origin: String?) -> Bool {
        guard let host = host?.lowercased(), !host.isEmpty else { return false }
        let end = host.lastIndex(of: ":") ?? host.endIndex
        let name = host.hasPrefix("[") ? host : String(host[..<end])
        let isAddress = name.hasPrefix("[") || name.allSatisfy { $0.isASCII && ($0.isNumber || $0 == ".") }
        guard isAddress || !name.contains(".") || name == "host.docker.internal" else { return false }
        return origin == nil || origin?.lowercased() == "http://\(host)"
    }

    /// Whether a request with these two headers is allowed.
    static func allows(host: String?, origin: String?, port: Int) -> Bool {
        let names = ["localhost", "127.0.0.1", "[::1]"].map { "\($0):\(port)" }
        guard let host = host?.lowercased(), names.contains(host) else { return false }
        guard let origin = origin?.lowercased() else { return true }
        return origin == "http://\(host)"
    }
}
