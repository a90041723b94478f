import FCMProtocol
import Hummingbird
import Logging
import PushCore
import PushServer

/// The routes of a Rocket.Chat push gateway below `/gateway/{key}`: `POST push/apn/send` and `POST push/gcm/send`.
///
/// A workspace forgets a token after 406, gives a message up after 401 and 422, and sends it again after other errors. Source:
/// Rocket.Chat's server, `app/push`.
struct RocketChatRoute: Sendable {
    let gateways: ChatGateways

    func send(
        _ request: Request, key: String, to platform: ChatPush.Platform, logger: Logger
    ) async -> Response {
        await gateways.answer(request, logger: logger, refusal: Self.refusal) { body in
            let sender = try await gateways.sender(ofKey: key)
            let push = try RocketChatPush(body: body)
            switch await gateways.send(push.fcm, by: sender, to: platform, logger: logger) {
            case .accepted: return .fcm(Array(#"{"success":true}"#.utf8))
            case .tokenEnded(let refusal): return Self.failure(refusal, status: 406)
            case .refused(let refusal): return Self.failure(refusal, status: 422)
            case .later(let refusal, let seconds):
                return Self.failure(refusal, status: refusal.status.http, retryAfter: seconds)
            }
        }
    }

    private static func refusal(_ refusal: FCMRejection) -> Response {
        let status = refusal.status == .invalidArgument ? 422 : refusal.status.http
        return failure(refusal, status: status, retryAfter: refusal.retryAfter)
    }

    private static func failure(_ refusal: FCMRejection, status: Int, retryAfter: Int? = nil) -> Response {
        .fcm(
            JSONValue.object([.init("success", .boolean(false)), .init("error", .string(refusal.note))]).bytes,
            status: status, retryAfter: retryAfter)
    }
}
