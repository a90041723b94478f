import HTTPTypes
import HubProtocol
import Hummingbird
import PushServer

/// Responds to requests without a route: 405 with `Allow` where the path exists with other methods (RFC 9110, section
/// 15.5.6), otherwise 404. Each response has the form of the requested API.
struct UnservedPaths: RouterMiddleware {
    typealias Context = ControlContext

    private let hubs: NotificationHubs
    /// The components of each served path, and its methods. A variable component is `nil`.
    private let served: [(parts: [String?], methods: Set<HTTPRequest.Method>)]

    /// Reads the routes that a router has now.
    init(hubs: NotificationHubs, router: Router<ControlContext>) {
        self.hubs = hubs
        let routes = Dictionary(grouping: router.routes, by: { "\($0.path)" })
        served = routes.map { path, routes in
            let parts = path.split(separator: "/").map { $0.hasPrefix("{") ? nil : String($0) }
            return (parts, Set(routes.map(\.method)))
        }
    }

    func handle(
        _ request: Request, context: ControlContext, next: (Request, ControlContext) async throws -> Response
    ) async throws -> Response {
        do { return try await next(request, context) } catch let error as HTTPError where error.status == .notFound {
            let parts = request.uri.path.split(separator: "/").map(String.init)
            // FCM's interface responds as Google's does: 404, whatever the method.
            guard let first = parts.first, !parts.starts(with: ["v1", "projects"]) else { throw error }
            let methods = methods(parts)
            let isAzure = first != "v1" && first != "api"
            let hub: HubRecord?
            do { hub = isAzure ? try await hubs.store.hub(named: Request.plain(first)) : nil } catch let outage {
                // Whether there is such a hub is not known; a path that no hub has is not there in any case.
                guard !methods.isEmpty, let refusal = AzureRejection(outage) else { throw error }
                return refusal.response(tracking: tracking(request), now: hubs.now)
            }
            guard hub != nil || !isAzure && !methods.isEmpty else { throw error }
            var response =
                hub == nil
                ? refusal(methods).response(to: request.uri.path)
                : azureRefusal(parts, methods).response(tracking: tracking(request), now: hubs.now)
            if !methods.isEmpty { response.headers[.allow] = methods.joined(separator: ", ") }
            return response
        }
    }

    private func methods(_ parts: [String]) -> [String] {
        let found = served.filter { path in
            // A variable first component is a hub's name, which our own paths do not have there.
            path.parts.count == parts.count && (path.parts[0] == nil) != ["v1", "api"].contains(parts[0])
                && zip(path.parts, parts).allSatisfy { $0 == nil || $0 == $1 }
        }
        var methods = found.reduce(into: Set<HTTPRequest.Method>()) { $0.formUnion($1.methods) }
        if methods.contains(.get) { methods.insert(.head) }
        return methods.map(\.rawValue).sorted()
    }

    private func refusal(_ methods: [String]) -> ControlError {
        ControlError(
            status: .methodNotAllowed, code: "methodNotAllowed",
            message: "this path takes \(methods.joined(separator: ", "))")
    }

    private func azureRefusal(_ parts: [String], _ methods: [String]) -> AzureRejection {
        guard methods.isEmpty else {
            return AzureRejection(.methodNotAllowed, "this path takes \(methods.joined(separator: ", "))")
        }
        return AzureRejection(
            .notFound,
            "there is no /\(parts.dropFirst().joined(separator: "/")) here; there are installations, registrations, messages "
                + "and schedulednotifications")
    }

    private func tracking(_ request: Request) -> String { AzureRoutes.tracking(request).uuidString.lowercased() }
}
