import Foundation
import HTTPTypes
import HubProtocol
import Hummingbird
import NIOCore
import PushCore
import PushServer

/// Our own API, `/v1/hubs/{hub}/`: JSON, problems (RFC 9457), entity tags, pages by cursor, idempotency keys.
///
/// A request has a key of the hub, a shared access signature, or a provider token of its team; on the development
/// listener it needs none.
struct OwnRoutes: Sendable {
    let hubs: NotificationHubs
    let access: HubAccess
    let writes: HubWriteGate
    let providers: ProviderAccess
    let timelines: any TimelineService
    let withdrawal: any NotificationWithdrawal
    let slots: StreamSlots

    /// An authorized request.
    struct Call: Sendable {
        let request: Request
        let hub: HubRecord
        let query: FormFields
        /// The variable component of the path.
        let name: String

        /// Refuses parameters that do not exist: an ignored one would widen a list.
        func check(parameters known: Set<String>) throws {
            guard let unknown = query.names.first(where: { !known.contains($0) }) else { return }
            throw InstallationError(
                unknown, "there is no such parameter; there are \(known.sorted().joined(separator: ", "))")
        }

        /// The number of items on a page: 100, or the number in the query, 1000 at most.
        func limit() throws -> Int {
            guard let text = query.first("limit") else { return 100 }
            guard let limit = Int(text), (1...1000).contains(limit) else {
                throw InstallationError("limit", "a page has 1 to 1000 items")
            }
            return limit
        }

        /// The number after which a page begins.
        func cursor() throws -> Int64? {
            guard let text = query.first("cursor"), !text.isEmpty else { return nil }
            guard let number = Int64(text), number >= 0 else {
                throw InstallationError("cursor", "a cursor is what the page before told as \"next\"")
            }
            return number
        }

        /// The condition of `If-Match` and `If-None-Match` (RFC 9110, section 13.1).
        func condition() throws -> EntityCondition {
            if let text = request.headers[.ifNoneMatch] {
                guard text == "*" else { throw InstallationError("If-None-Match", "only * is taken") }
                return .isMissing
            }
            guard let text = request.headers[.ifMatch] else { return .none }
            if text == "*" { return .exists }
            guard let version = Int64(text.replacing("W/", with: "").filter { $0 != "\"" }) else {
                throw InstallationError("If-Match", "expected an entity tag that was answered before, or *")
            }
            return .version(version)
        }
    }

    func add(to router: Router<ControlContext>) {
        router.get("v1/hubs/:hub", use: handler(.manage) { try await summary($0) })
        addInstallations(to: router)
        addSends(to: router)
        addCampaignTestRoutes(to: router)
        addWebhook(to: router)
        let document = ByteBuffer(bytes: OpenAPIDocument.tree.bytes)
        router.get("v1/openapi.json") { _, _ in Response.json(document) }
    }

    private func summary(_ call: Call) async throws -> Response {
        let size = try await hubs.size(of: call.hub)
        return .json(
            tree: .object([
                .init("name", .string(call.hub.name)), .init("team", .string(call.hub.team.rawValue)),
                .init("topic", .string(call.hub.topic.rawValue)),
                .init("createdAt", .string(WireTime.write(call.hub.createdAt))),
                .init("reachableInstallations", .number(String(size.installations))),
                .init("audienceBytes", .number(String(size.memory))),
                .init("distinctTags", .number(String(size.tags))),
            ]))
    }

    /// A handler that accepts whoever has one of some rights.
    ///
    /// - Parameter isWrite: Whether the request writes an installation, and is counted.
    func handler(
        _ right: HubRights, isWrite: Bool = false, _ answer: @escaping @Sendable (Call) async throws -> Response
    ) -> @Sendable (Request, ControlContext) async throws -> Response {
        { request, context in
            do {
                let (call, writer) = try await admitted(request, context: context, right: right)
                if isWrite { try writes.check(writer, call.hub, from: context.channel, at: hubs.now) }
                return try await answer(call)
            } catch {
                writes.rates.countRefusal(error)
                guard let problem = HubProblem(error) else { throw error }
                if case HubAccess.Refusal.unauthorized(let why) = error {
                    CredentialRefusals.log("hub, \(why)", to: context.logger)
                }
                return problem.response
            }
        }
    }

    private func admitted(
        _ request: Request, context: ControlContext, right: HubRights
    ) async throws -> (Call, HubWriter) {
        let name = Request.plain(try context.parameters.require("hub"))
        let authorization = request.headers[.authorization]
        let hub = try await hubs.store.hub(named: name)
        if let authorization, authorization.lowercased().hasPrefix("sharedaccesssignature") {
            guard let hub else { throw HubAccess.Refusal.unauthorized("the signature is of no key of this hub") }
            // The signed path is that of the hub under Azure's addresses, or this one.
            let path = request.uri.path
            let short = "/" + path.split(separator: "/").dropFirst(2).joined(separator: "/")
            let writer: HubWriter
            do {
                writer = try await access.check(authorization, for: right, of: hub, path: path, now: hubs.now)
            } catch HubAccess.Refusal.unauthorized {
                writer = try await access.check(authorization, for: right, of: hub, path: short, now: hubs.now)
            }
            return (try call(request, context, hub), writer)
        }
        if let authorization, let key = Self.apiKey(authorization) {
            let writer = try await access.check(apiKey: key, for: right, of: hub, now: hubs.now)
            guard let hub else { throw HubError.missing("the hub \(name)") }
            return (try call(request, context, hub), writer)
        }
        let team = try await providers.team(authorization)
        // A hub of another team is treated as missing.
        guard let hub, team == nil || team == hub.team else { throw HubError.missing("the hub \(name)") }
        return (try call(request, context, hub), HubWriter(key: nil, isPublished: team == nil))
    }

    /// The key of `Authorization: Bearer aldaba_hub_…`; `nil` for a value that is no such key.
    private static func apiKey(_ authorization: String) -> String? {
        guard authorization.lowercased().hasPrefix("bearer \(HubAPIKey.mark)") else { return nil }
        return String(authorization.dropFirst("bearer ".count))
    }

    private func call(_ request: Request, _ context: ControlContext, _ hub: HubRecord) throws -> Call {
        Call(
            request: request, hub: hub, query: try FormFields(request.uri.query ?? ""),
            name: Request.plain(context.parameters.get("id") ?? ""))
    }
}

/// A refusal of our own API (RFC 9457).
struct HubProblem {
    var status: HTTPResponse.Status
    var code: String
    var detail: String
    /// A JSON pointer to the fault in the request's document.
    var pointer: String?
    /// Seconds after which the request may be made again.
    var retryAfter: Int?

    /// The members of a campaign's document that correspond to header fields of other sends.
    private static let pointers = [
        "servicebusnotification-timetolive": "/ttl", "apns-priority": "/priority", "apns-collapse-id": "/collapseId",
    ]

    /// Maps an error to a problem; `nil` for an unexpected one.
    init?(_ error: any Error) {
        func fault(_ fault: InstallationError) -> (HTTPResponse.Status, String, String, String?) {
            (.badRequest, "invalid", fault.message, Self.pointers[fault.path] ?? fault.path)
        }
        let parts: (HTTPResponse.Status, String, String, String?)
        switch error {
        case let found as InstallationError: parts = fault(found)
        case HubError.document(let found): parts = fault(found)
        case HubError.expression(let found): parts = (.badRequest, "invalidExpression", found.description, nil)
        case HubError.missing(let what): parts = (.notFound, "notFound", "\(what) does not exist", nil)
        case let found as HubError where found == .conditionFailed:
            parts = (.preconditionFailed, "conditionFailed", found.description, nil)
        case HubError.quota(let quota):
            parts = (quota.refusal.status, quota.refusal.code, quota.description, nil)
            retryAfter = quota.refusal.retryAfter
        case let found as HubError: parts = (.conflict, "conflict", found.description, nil)
        case let found as UnreadableSend: parts = (.conflict, "unreadable", found.description, nil)
        case HubAccess.Refusal.unauthorized(let why): parts = (.unauthorized, "notAuthorized", why, nil)
        case HubAccess.Refusal.forbidden: parts = (.forbidden, "forbidden", "the key lacks a right", nil)
        case let found as ControlError: parts = (found.status, found.code, found.message, nil)
        default:
            guard let found = HubOutage.refusal(error) else { return nil }
            parts = (found.status, found.code, found.message, nil)
        }
        (status, code, detail, pointer) = parts
    }

    /// The response.
    var response: Response {
        var members: [JSONValue.Member] = [
            .init("type", .string("about:blank")), .init("title", .string(status.reasonPhrase)),
            .init("status", .number(String(status.code))), .init("code", .string(code)),
            .init("detail", .string(detail)),
        ]
        if let pointer, !pointer.isEmpty { members.append(.init("pointer", .string(pointer))) }
        var response = Response.json(tree: .object(members), status: status)
        response.headers[.contentType] = "application/problem+json"
        if let retryAfter { response.headers[.retryAfter] = String(retryAfter) }
        return response
    }
}
