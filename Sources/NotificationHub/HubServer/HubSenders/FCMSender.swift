import Foundation
import HubProtocol
import Logging
import Networking
import PushCore

/// Sends through FCM's HTTP v1 API, with the hub's service account.
package struct FCMSender: PushSender {
    private let store: any HubStore
    private let http: GuardedHTTP
    private let tokens: GoogleTokens
    private let clock: @Sendable () -> Timestamp
    private let logger: Logger

    /// Creates a sender.
    package init(
        store: any HubStore, http: GuardedHTTP, clock: @escaping @Sendable () -> Timestamp, logger: Logger
    ) {
        self.store = store
        self.http = http
        self.clock = clock
        self.logger = logger
        tokens = GoogleTokens(http: http, clock: clock)
    }

    /// Sends each notification in a separate request.
    package func deliver(_ pushes: [HubPush], of hub: HubRecord) async -> [PushVerdict?] {
        let credential: PushCredential?
        do {
            credential = try await store.credentials(of: hub.number).first { $0.kind == .fcm }
        } catch { return pushes.map { _ in nil } }
        guard let credential else {
            return pushes.map { _ in PushVerdict(.invalidCredentials, reason: "NoCredential") }
        }
        return await concurrently(pushes) { await send($0, credential) }
    }

    private func send(_ push: HubPush, _ credential: PushCredential) async -> PushVerdict {
        guard case .handle(let handle) = push.channel else {
            return PushVerdict(.badChannel, diedAt: clock(), reason: "INVALID_ARGUMENT")
        }
        guard PayloadLimit.allows(push.body, for: push.platform) else {
            return PushVerdict(.invalidNotificationSize, reason: "PayloadTooLarge")
        }
        let body: [UInt8]
        do {
            body = try FCMBody.read(
                push.body, token: handle, options: PushOptions(push.headers, now: clock()), now: clock())
        } catch { return PushVerdict(.invalidNotificationFormat, reason: "\(error)") }
        // A refused access token is renewed, once.
        for isLast in [false, true] {
            do {
                let token = try await tokens.token(credential)
                let askedAt = clock()
                let answer = try await http.send(
                    OutboundRequest(
                        url: "\(credential.address)/v1/projects/\(credential.owner)/messages:send",
                        headers: [("authorization", "Bearer \(token)"), ("content-type", "application/json")],
                        body: body),
                    as: GuardedHTTP.Identity(id: credential.number, authority: credential.authority))
                if answer.status == 401, !isLast {
                    await tokens.forget(token, of: credential)
                    continue
                }
                return FCMVerdict.read(answer, askedAt: askedAt)
            } catch let refused as GoogleTokens.Refused {
                return refused.verdict
            } catch {
                logger.warning("FCM could not be asked: \(error)")
                return AppleVerdict.failed(error)
            }
        }
        return PushVerdict(.invalidCredentials, reason: "UNAUTHENTICATED")
    }
}

/// The body of a request to HTTP v1, made from a send's payload.
enum FCMBody {
    /// Parses `{"message":{…}}`, or a body of FCM's old interface, and adds the token.
    static func read(
        _ body: [UInt8], token: String, options: PushOptions, now: Timestamp
    ) throws(InstallationError) -> [UInt8] {
        let tree: JSONValue
        do { tree = try JSONValue(body) } catch { throw InstallationError("", "the body is no JSON: \(error)") }
        guard tree.members != nil else { throw InstallationError("", "the body is a JSON object") }
        var message = tree["message"] ?? Self.message(old: tree)
        guard message.members != nil else { throw InstallationError("/message", "this is to be an object") }
        for other in ["topic", "condition", "fid"] { message.set(other, nil) }
        message.set("token", .string(token))
        var android = message["android"] ?? .object([])
        func add(_ name: String, _ value: JSONValue?) { if android[name] == nil { android.set(name, value) } }
        add("priority", options.priority == .immediate ? nil : .string("NORMAL"))
        add("collapse_key", options.collapseID.map { .string($0) })
        switch options.expiry {
        case .policyDefault: break
        case .once: add("ttl", .string("0s"))
        case .until(let instant):
            let seconds = max(0, min(instant.milliseconds(since: now) / 1000, 2_419_200))
            add("ttl", .string("\(seconds)s"))
        }
        if android.members?.isEmpty == false { message.set("android", android) }
        return JSONValue.object([.init("message", message)]).bytes
    }

    /// Converts the old interface's members to their present names; its data may contain values other than strings.
    private static func message(old tree: JSONValue) -> JSONValue {
        var message = JSONValue.object([])
        if let notification = tree["notification"] {
            let names = ["title", "body", "image"]
            message.set("notification", .object((notification.members ?? []).filter { names.contains($0.name) }))
        }
        if let data = tree["data"]?.members {
            message.set("data", .object(data.map { .init($0.name, .string($0.value.text ?? $0.value.json)) }))
        }
        var android = JSONValue.object([])
        if let priority = tree["priority"]?.text { android.set("priority", .string(priority.uppercased())) }
        if let seconds = tree["time_to_live"]?.integer { android.set("ttl", .string("\(max(0, seconds))s")) }
        if let key = tree["collapse_key"]?.text { android.set("collapse_key", .string(key)) }
        if android.members?.isEmpty == false { message.set("android", android) }
        return message
    }
}
