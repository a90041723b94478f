import FCMProtocol
import Hummingbird
import Logging
import PushCore
import PushServer

/// The routes of a Mattermost push proxy below `/gateway/{key}`: `POST api/v1/send_push`, `POST api/v1/ack`, `GET version`.
///
/// Answers have the member `status`: `OK`, `REMOVE` for a device that the server must forget, or `FAIL` with `error`. Source:
/// Mattermost's push proxy.
struct MattermostRoute: Sendable {
    let gateways: ChatGateways
    let version: String

    func send(_ request: Request, key: String, logger: Logger) async -> Response {
        await gateways.answer(request, logger: logger, refusal: Self.refusal) { body in
            let sender = try await gateways.sender(ofKey: key)
            let push = try MattermostPush(body: body)
            switch await gateways.send(push.fcm, by: sender, to: push.isOfAndroid ? .android : .apple, logger: logger) {
            case .accepted: return Self.status("OK")
            case .tokenEnded: return Self.status("REMOVE")
            case .refused(let refusal): throw refusal
            case .later(var refusal, let seconds):
                refusal.retryAfter = seconds
                throw refusal
            }
        }
    }

    /// Answers an app's receipt; this server knows from its own devices when a push was handed over.
    func acknowledge(_ request: Request, key: String, logger: Logger) async -> Response {
        await gateways.answer(request, logger: logger, refusal: Self.refusal) { _ in
            _ = try await gateways.sender(ofKey: key)
            return Self.status("OK")
        }
    }

    /// Answers with the version of this server.
    func version(_ request: Request, key: String, logger: Logger) async -> Response {
        await gateways.answer(request, logger: logger, refusal: Self.refusal) { _ in
            _ = try await gateways.sender(ofKey: key)
            return .fcm(JSONValue.object([.init("version", .string(version))]).bytes)
        }
    }

    private static func status(_ status: String) -> Response {
        .fcm(JSONValue.object([.init("status", .string(status))]).bytes)
    }

    private static func refusal(_ refusal: FCMRejection) -> Response {
        .fcm(
            JSONValue.object([.init("status", .string("FAIL")), .init("error", .string(refusal.note))]).bytes,
            status: refusal.status.http, retryAfter: refusal.retryAfter)
    }
}
