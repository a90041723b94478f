import Foundation
import HTTPTypes
import HubProtocol
import Hummingbird
import NIOCore
import PushCore
import PushServer

/// An authorized request of Azure's data plane.
struct AzureCall: Sendable {
    let request: Request
    let hub: HubRecord
    let query: FormFields
    /// The address of the hub: scheme, host and name.
    let address: String
    /// The components of the path after the collection.
    let name: String

    /// Whether the query has a flag, bare or as `=true`.
    func has(_ flag: String) -> Bool { query.first(flag).map { $0.isEmpty || $0.lowercased() == "true" } ?? false }

    /// The URL of a send's status.
    ///
    /// A batch has the same form: SDKs take the third component of the path, or the last one, for the id.
    func location(_ id: String) -> String { "\(address)/messages/\(id)" }

    /// The URL at which a scheduled send can be cancelled.
    func scheduledLocation(_ id: String) -> String { "\(address)/schedulednotifications/\(id)" }
}

/// A refusal of Azure's data plane.
struct AzureRejection: Error {
    var status: HTTPResponse.Status
    /// The description; `nil` for a response without a body.
    var detail: String?
    /// Seconds after which the request may be made again.
    var retryAfter: Int?

    init(_ status: HTTPResponse.Status, _ detail: String?, retryAfter: Int? = nil) {
        self.status = status
        self.detail = detail
        self.retryAfter = retryAfter
    }

    static func bad(_ detail: String) -> AzureRejection { AzureRejection(.badRequest, detail) }

    /// Maps any error to Azure's codes.
    init?(_ error: any Error) {
        switch error {
        case let refusal as AzureRejection: self = refusal
        case HubAccess.Refusal.unauthorized(let detail): self.init(.unauthorized, detail)
        case HubAccess.Refusal.forbidden: self.init(.forbidden, nil)
        case let fault as HubError:
            switch fault {
            case .expression, .document: self.init(.badRequest, fault.description)
            case .missing: self.init(.notFound, fault.description)
            case .conditionFailed: self.init(.preconditionFailed, fault.description)
            case .keyReused, .conflict: self.init(.conflict, fault.description)
            // SDKs take 403 with Retry-After for a throttled request, too, and 429 alone for nothing else.
            case .quota(.writes(_, let seconds)):
                self.init(.tooManyRequests, "Throttled: \(fault.description)", retryAfter: seconds)
            case .quota: self.init(.forbidden, "QuotaExceeded: \(fault.description)")
            }
        case let fault as InstallationError:
            self.init(.badRequest, "Installation validation failed with following error(s): \(fault)")
        case let error as ControlError: self.init(error.status, error.message)
        case let error as any HTTPResponseError:
            self.init(
                error.status,
                error.status == .contentTooLarge
                    ? "the body is larger than is taken here" : "the request cannot be read")
        default:
            guard let sentence = HubOutage.sentence(error) else { return nil }
            self.init(.serviceUnavailable, sentence)
        }
    }

    /// The response: XML with a code, a description, and the tracking id that identifies the request in a log.
    func response(tracking: String, now: Timestamp) -> Response {
        guard let detail else { return Response(status: status) }
        let text = AzureXML.error(
            code: status.code, detail: "\(detail).TrackingId:\(tracking),TimeStamp:\(WireTime.write(now))")
        var response = Response.text(text, type: "application/xml; charset=utf-8", status: status)
        if let retryAfter { response.headers[.retryAfter] = String(retryAfter) }
        return response
    }
}

/// The common part of the routes of Azure's data plane.
struct AzureRoutes: Sendable {
    let hubs: NotificationHubs
    let access: HubAccess
    let writes: HubWriteGate
    var scheme: String { writes.isSecured ? "https" : "http" }

    typealias Answer = @Sendable (AzureCall) async throws -> Response

    func add(to router: Router<ControlContext>) {
        addInstallations(to: router)
        addMessages(to: router)
        addRegistrations(to: router)
    }

    /// A handler that accepts whoever has a right.
    ///
    /// - Parameter isWrite: Whether the request writes an installation, and is counted.
    func handler(
        _ right: HubRights, isWrite: Bool = false, _ answer: @escaping Answer
    ) -> @Sendable (Request, ControlContext) async throws -> Response {
        { request, context in
            let tracking = Self.tracking(request)
            var response: Response
            do {
                let (call, writer) = try await admitted(request, context: context, right: right)
                if isWrite { try writes.check(writer, call.hub, from: context.channel, at: hubs.now) }
                response = try await answer(call)
            } catch {
                writes.rates.countRefusal(error)
                guard let refusal = AzureRejection(error) else { throw error }
                if case HubAccess.Refusal.unauthorized(let why) = error {
                    CredentialRefusals.log("hub, \(why)", to: context.logger)
                }
                response = refusal.response(tracking: tracking.uuidString.lowercased(), now: hubs.now)
            }
            for name in ["TrackingId", "x-ms-correlation-request-id"] {
                if let name = HTTPField.Name(name) { response.headers[name] = tracking.uuidString.lowercased() }
            }
            return response
        }
    }

    /// The tracking id that identifies a request in a log: the client's, or a new one.
    static func tracking(_ request: Request) -> UUID {
        request.field("TrackingId").flatMap(UUID.init(uuidString:)) ?? UUID()
    }

    private func admitted(
        _ request: Request, context: ControlContext, right: HubRights
    ) async throws -> (AzureCall, HubWriter) {
        let name = Request.plain(try context.parameters.require("hub"))
        let authority = request.head.authority ?? ""
        guard let hub = try await hubs.store.hub(named: name) else {
            throw AzureRejection(.notFound, "The messaging entity \(authority)/\(name) could not be found")
        }
        let writer = try await access.check(
            request.headers[.authorization], for: right, of: hub, path: request.uri.path, now: hubs.now)
        let call = AzureCall(
            request: request, hub: hub, query: try FormFields(request.uri.query ?? ""),
            address: "\(scheme)://\(authority)/\(hub.name)",
            name: Request.plain(context.parameters.get("id") ?? ""))
        return (call, writer)
    }
}

extension Response {
    /// A response with a JSON tree.
    static func json(tree: JSONValue, status: HTTPResponse.Status = .ok) -> Response {
        json(ByteBuffer(bytes: tree.bytes), status: status)
    }

    /// An answer with the bytes of a JSON text.
    static func json(_ bytes: ByteBuffer, status: HTTPResponse.Status = .ok) -> Response {
        Response(
            status: status,
            headers: [.contentType: "application/json; charset=utf-8", .cacheControl: "no-store"],
            body: ResponseBody(byteBuffer: bytes))
    }
}

extension Request {
    /// The whole body as bytes, 65,536 at most.
    func bytes() async throws -> [UInt8] { Array(buffer: try await wholeBody()) }

    /// The whole body as JSON.
    func tree() async throws -> JSONValue {
        do { return try JSONValue(try await bytes()) } catch let fault as JSONScanner.Fault {
            throw InstallationError("", "the body is no JSON: \(fault)")
        }
    }
}
