import HTTPTypes
import HubProtocol
import Hummingbird
import PushCore
import PushServer

/// The backend of the tutorial for push notifications over a hub: `PUT` and `DELETE /api/notifications/installations`,
/// `POST /api/notifications/requests`, with the key in a header or in the query.
///
/// Each response has the tutorial's status and, where that has none, no body; a refusal contains the reason.
struct BackendRoutes: Sendable {
    let hubs: NotificationHubs
    let access: HubAccess
    let writes: HubWriteGate

    private struct Refusal: Error {
        var status: HTTPResponse.Status
        var code: String
        var message: String

        static func malformed(_ message: String) -> Refusal {
            Refusal(status: .badRequest, code: "invalid", message: message)
        }
    }

    func add(to router: Router<ControlContext>) {
        router.put("api/notifications/installations", use: handler(isWrite: true, put))
        router.delete(
            "api/notifications/installations/:id",
            use: handler(isWrite: true) { request, hub, id in
                try await hubs.delete(Request.plain(id ?? ""), of: hub)
            })
        router.post("api/notifications/requests", use: handler(send))
    }

    private func handler(
        isWrite: Bool = false, _ body: @escaping @Sendable (Request, HubRecord, String?) async throws -> Void
    ) -> @Sendable (Request, ControlContext) async throws -> Response {
        { request, context in
            do {
                let key = try request.field("apikey") ?? Self.key(inQuery: request.uri.query ?? "")
                guard !key.isEmpty, let (hub, writer) = try await access.hub(backendKey: key) else {
                    throw ControlError.notAuthorized("the key of a backend is missing or wrong: apikey: KEY")
                }
                if isWrite { try writes.check(writer, hub, from: context.channel, at: hubs.now) }
                try await body(request, hub, context.parameters.get("id"))
                return Response(status: .ok)
            } catch let refusal as Refusal {
                throw ControlError(status: refusal.status, code: refusal.code, message: refusal.message)
            } catch let fault as InstallationError {
                throw ControlError(status: .unprocessableContent, code: "unprocessable", message: fault.description)
            } catch HubError.quota(let quota) {
                writes.rates.countRefusal(HubError.quota(quota))
                return quota.refusal.response
            } catch let fault as HubError {
                throw ControlError(status: .unprocessableContent, code: "unprocessable", message: fault.description)
            } catch {
                throw HubOutage.refusal(error) ?? error
            }
        }
    }

    /// The key of the query; empty where there is none. Keys are Base64: a plus that was not escaped is a plus.
    private static func key(inQuery query: String) throws -> String {
        try FormFields(query).first("apikey")?.replacing(" ", with: "+") ?? ""
    }

    /// Stores an installation. A document that lacks a member is malformed; one that the hub refuses is not.
    private func put(_ request: Request, hub: HubRecord, _: String?) async throws {
        let tree = try await document(request)
        for name in ["installationId", "platform", "pushChannel"] where (tree[name]?.text ?? "").isEmpty {
            throw Refusal.malformed("\(name) is missing")
        }
        let platform = tree["platform"]?.text ?? ""
        guard ["apns", "fcm", "aldaba"].contains(platform) else {
            throw InstallationError("/platform", "there is no platform \"\(platform)\"; there are apns, fcm and aldaba")
        }
        let installation = try InstallationJSON.read(tree, id: nil)
        try hubs.validate(installation)
        _ = try await hubs.put(installation, of: hub)
    }

    private func document(_ request: Request) async throws -> JSONValue {
        let tree: JSONValue
        do { tree = try await request.tree() } catch let fault as InstallationError {
            throw Refusal.malformed(fault.message)
        }
        guard tree.members != nil else { throw Refusal.malformed("the body is to be a JSON object") }
        return tree
    }

    /// Accepts one send for all tags, so that no device is notified twice.
    private func send(_ request: Request, _ hub: HubRecord, _: String?) async throws {
        let tree = try await document(request)
        let text = try Self.text(tree, "text")
        let action = try Self.text(tree, "action")
        let isSilent = try Self.isSilent(tree)
        guard !Self.isBlank(isSilent ? action : text) else {
            throw Refusal.malformed(isSilent ? "a silent request needs an action" : "a request needs a text")
        }
        let tags = try Self.tags(tree)
        let expression = tags.isEmpty ? nil : tags.map(\.text).joined(separator: " || ")
        let sends = Self.sends(text: text, action: action, isSilent: isSilent, expression: expression)
        try Self.check(sends)
        for send in sends { _ = try await hubs.accept(send, for: hub) }
    }

    /// The tags that select the audience: without a list everyone, and so any value other than a list is refused.
    private static func tags(_ tree: JSONValue) throws(InstallationError) -> [TagName] {
        guard let value = tree["tags"], value != .null else { return [] }
        guard let items = value.items else {
            throw InstallationError("/tags", "this is to be a list of tags; without it everyone is meant")
        }
        var tags: [TagName] = []
        for (index, item) in items.enumerated() {
            guard let name = item.text, let tag = TagName(name) else {
                throw InstallationError("/tags/\(index)", item.text.flatMap(TagName.fault) ?? "a tag is a string")
            }
            tags.append(tag)
        }
        return tags
    }

    private static func text(_ tree: JSONValue, _ name: String) throws(InstallationError) -> String {
        guard let value = tree[name], value != .null else { return "" }
        guard let text = value.text else { throw InstallationError("/\(name)", "this is to be a string") }
        return text
    }

    private static func isSilent(_ tree: JSONValue) throws(InstallationError) -> Bool {
        guard let value = tree["silent"], value != .null else { return false }
        guard let isSilent = value.isTrue else { throw InstallationError("/silent", "this is to be true or false") }
        return isSilent
    }

    /// Refuses payloads that no push service would accept, before anything is sent.
    private static func check(_ sends: [SendRequest]) throws(InstallationError) {
        for send in sends {
            guard case .native(let platform) = send.format,
                let excess = PayloadLimit.excess(of: send.body, for: platform, nil)
            else { continue }
            throw InstallationError("/text", "the payload \(excess)")
        }
    }

    /// The sends with the same text for Apple's and FCM's devices, as in the tutorial; values are inserted into JSON
    /// trees.
    static func sends(text: String, action: String, isSilent: Bool, expression: String?) -> [SendRequest] {
        let actionMember = isBlank(action) ? [] : [JSONValue.Member("action", .string(action))]
        let apple: JSONValue
        let google: JSONValue
        var headers: [String: String] = ["apns-push-type": "alert", "apns-priority": "10"]
        if isSilent {
            apple = .object(
                [.init("aps", .object([.init("content-available", .number("1"))])), .init("message", .string(text))]
                    + actionMember)
            google = .object([.init("data", .object([.init("message", .string(text))] + actionMember))])
            headers = ["apns-push-type": "background", "apns-priority": "5"]
        } else {
            apple = .object([.init("aps", .object([.init("alert", .string(text))]))] + actionMember)
            google = .object([
                .init(
                    "notification",
                    .object([.init("title", .string("PushDemo")), .init("body", .string(text))])),
                .init("data", .object(actionMember)),
            ])
        }
        let target = SendTarget.audience(expression)
        return [
            SendRequest(format: .native(.apns), body: apple.bytes, headers: headers, target: target),
            SendRequest(format: .native(.gcm), body: google.bytes, target: target),
        ]
    }

    private static func isBlank(_ text: String) -> Bool { text.allSatisfy(\.isWhitespace) }
}
