import ControlHTTP
import Foundation
import HTTPTypes
import Hub
import HubWire
import Hummingbird
import NIOCore
import PushModel

/// One request of Azure's data plane that is allowed.
struct AzureCall: Sendable {
    let request: Request
    let hub: HubRecord
    let query: FormFields
    /// The address of the hub: scheme, host and name.
    let address: String
    /// The parts of the path behind the collection.
    let name: String

    /// Whether a flag of the query is there, bare or as `=true`.
    func has(_ flag: String) -> Bool { query.first(flag).map { $0.isEmpty || $0.lowercased() == "true" } ?? false }

    /// Where a send can be asked about.
    ///
    /// Of a batch too: SDKs take the third part of the path, or the last one, for the id.
    func location(_ id: String) -> String { "\(address)/messages/\(id)" }

    /// Where a send that waits for its time can be cancelled.
    func scheduledLocation(_ id: String) -> String { "\(address)/schedulednotifications/\(id)" }
}

/// A refusal of Azure's data plane.
struct AzureRefusal: Error {
    var status: HTTPResponse.Status
    /// The sentence; `nil` for an answer without a body.
    var detail: String?

    init(_ status: HTTPResponse.Status, _ detail: String?) {
        self.status = status
        self.detail = detail
    }

    static func bad(_ detail: String) -> AzureRefusal { AzureRefusal(.badRequest, detail) }

    /// Puts any error into Azure's terms.
    init?(_ error: any Error) {
        switch error {
        case let refusal as AzureRefusal: self = refusal
        case HubAccess.Refusal.unauthorized(let detail): self.init(.unauthorized, detail)
        case HubAccess.Refusal.forbidden: self.init(.forbidden, nil)
        case let fault as HubFault:
            switch fault {
            case .expression, .document: self.init(.badRequest, fault.description)
            case .missing: self.init(.notFound, fault.description)
            case .conditionFailed: self.init(.preconditionFailed, fault.description)
            case .keyReused, .conflict: self.init(.conflict, fault.description)
            }
        case let fault as InstallationFault:
            self.init(.badRequest, "Installation validation failed with following error(s): \(fault)")
        case let error as ControlError: self.init(error.status, error.message)
        case let error as any HTTPResponseError:
            self.init(
                error.status,
                error.status == .contentTooLarge
                    ? "the body is larger than is taken here" : "the request cannot be read")
        default: return nil
        }
    }

    /// The answer: XML with a code, a sentence, and what finds the request in a log.
    func response(tracking: String, now: Timestamp) -> Response {
        guard let detail else { return Response(status: status) }
        let text = AzureXML.error(
            code: status.code, detail: "\(detail).TrackingId:\(tracking),TimeStamp:\(WireTime.write(now))")
        return .text(text, type: "application/xml; charset=utf-8", status: status)
    }
}

/// What the routes of Azure's data plane have in common.
struct AzureRoutes: Sendable {
    let hubs: NotificationHubs
    let access: HubAccess
    let scheme: String

    typealias Answer = @Sendable (AzureCall) async throws -> Response

    func add(to router: Router<ControlContext>) {
        addInstallations(to: router)
        addMessages(to: router)
        addRegistrations(to: router)
    }

    /// A handler that lets in whoever has a right.
    func handler(
        _ right: HubRights, _ answer: @escaping Answer
    ) -> @Sendable (Request, ControlContext) async throws -> Response {
        { request, context in
            let tracking = Self.tracking(request)
            var response: Response
            do {
                let call = try await admitted(request, context, right)
                response = try await answer(call)
            } catch {
                guard let refusal = AzureRefusal(error) else { throw error }
                response = refusal.response(tracking: tracking.uuidString.lowercased(), now: hubs.now)
            }
            for name in ["TrackingId", "x-ms-correlation-request-id"] {
                if let name = HTTPField.Name(name) { response.headers[name] = tracking.uuidString.lowercased() }
            }
            return response
        }
    }

    /// What finds a request in a log: the client's word, or a new one.
    static func tracking(_ request: Request) -> UUID {
        request.field("TrackingId").flatMap(UUID.init(uuidString:)) ?? UUID()
    }

    private func admitted(_ request: Request, _ context: ControlContext, _ right: HubRights) async throws -> AzureCall {
        let name = Request.plain(try context.parameters.require("hub"))
        let authority = request.head.authority ?? ""
        guard let hub = try await hubs.store.hub(named: name) else {
            throw AzureRefusal(.notFound, "The messaging entity \(authority)/\(name) could not be found")
        }
        try await access.check(
            request.headers[.authorization], for: right, of: hub, authority: authority, path: request.uri.path,
            now: hubs.now)
        return AzureCall(
            request: request, hub: hub, query: FormFields(request.uri.query ?? ""),
            address: "\(scheme)://\(authority)/\(hub.name)",
            name: Request.plain(context.parameters.get("id") ?? ""))
    }
}

extension Response {
    /// An answer with a JSON tree.
    static func json(tree: JSONTree, status: HTTPResponse.Status = .ok) -> Response {
        Response(
            status: status,
            headers: [.contentType: "application/json; charset=utf-8", .cacheControl: "no-store"],
            body: ResponseBody(byteBuffer: ByteBuffer(bytes: tree.bytes)))
    }
}

extension Request {
    /// The whole body as bytes, 65,536 at most.
    func bytes() async throws -> [UInt8] { Array(buffer: try await wholeBody()) }

    /// The whole body as JSON.
    func tree() async throws -> JSONTree {
        do { return try JSONTree(try await bytes()) } catch let fault as JSONTree.Fault {
            throw InstallationFault("", "the body is no JSON: \(fault)")
        }
    }
}
