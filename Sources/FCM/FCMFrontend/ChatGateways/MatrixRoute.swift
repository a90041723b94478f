import FCMProtocol
import HTTPTypes
import Hummingbird
import Logging
import PushCore
import PushServer
import WebPushProtocol

/// The route `POST /_matrix/push/v1/notify`, which Matrix homeservers call.
///
/// A device's key is its device token, and the address has a gateway's key; or it is an address of UnifiedPush that this server
/// made, which is a credential of its own. Source: Matrix specification, "Push Gateway API"; UnifiedPush, "Gateways".
struct MatrixRoute: Sendable {
    let gateways: ChatGateways

    /// The answer to apps that look for a gateway at their server of UnifiedPush.
    func discover() -> Response { .fcm(Array(#"{"unifiedpush":{"gateway":"matrix"}}"#.utf8)) }

    func notify(_ request: Request, logger: Logger) async -> Response {
        await gateways.answer(request, logger: logger, refusal: Self.refusal) { body in
            let key = request.uri.queryParameters["key"].map(String.init)
            let sender = key == nil ? nil : try await gateways.sender(ofKey: key)
            let notification = try MatrixNotification(body: body)
            var rejected: [JSONValue] = []
            var later: ChatGateways.Outcome?
            for device in notification.devices {
                switch try await send(notification, to: device, by: sender, logger: logger) {
                case .accepted: break
                case .tokenEnded: rejected.append(.string(device.pushkey))
                case .refused(let refusal): throw refusal
                case .later(let refusal, let seconds): later = .later(refusal, seconds: seconds)
                }
            }
            // The homeserver sends the whole request again: devices that have the notification replace it.
            if case .later(let refusal, let seconds) = later {
                return Self.refusal(refusal, after: seconds)
            }
            return .fcm(JSONValue.object([.init("rejected", .array(rejected))]).bytes)
        }
    }

    private func send(
        _ notification: MatrixNotification, to device: MatrixNotification.Device, by sender: ChatGateways.Sender?,
        logger: Logger
    ) async throws -> ChatGateways.Outcome {
        if let component = Self.endpoint(device.pushkey), let webPush = gateways.webPush {
            return await webPush.forward(
                notification.body(for: device, limit: WebPushRequest.largestBody), to: component,
                isUrgent: notification.isUrgent, logger: logger)
        }
        let sender = if let sender { sender } else { try await gateways.sender(ofKey: nil) }
        return await gateways.send(
            notification.message(for: device), by: sender, to: device.isOfApple ? .apple : .android, logger: logger)
    }

    /// The last component of an address of a subscription, `https://HOST/wpush/v2/COMPONENT` or `https://HOST/wp/COMPONENT`;
    /// `nil` for anything else.
    private static func endpoint(_ pushkey: String) -> String? {
        guard pushkey.hasPrefix("https://") || pushkey.hasPrefix("http://") else { return nil }
        let parts = pushkey.split(separator: "/", omittingEmptySubsequences: false)
        guard parts.count >= 5, parts.dropLast().suffix(2) == ["wpush", "v2"] || parts[parts.count - 2] == "wp" else {
            return nil
        }
        return parts.last.map(String.init)
    }

    private static func refusal(_ refusal: FCMRejection) -> Response {
        Self.refusal(refusal, after: refusal.retryAfter)
    }

    /// The standard error of Matrix.
    private static func refusal(_ refusal: FCMRejection, after seconds: Int?) -> Response {
        let code =
            switch refusal.status {
            case .unauthenticated: "M_UNKNOWN_TOKEN"
            case .permissionDenied: "M_FORBIDDEN"
            case .notFound: "M_NOT_FOUND"
            case .resourceExhausted: "M_LIMIT_EXCEEDED"
            case .invalidArgument: refusal.field == nil ? "M_NOT_JSON" : "M_BAD_JSON"
            case .internal, .unavailable: "M_UNKNOWN"
            }
        var members: [JSONValue.Member] = [
            .init("errcode", .string(code)), .init("error", .string(refusal.note)),
        ]
        if let seconds { members.append(.init("retry_after_ms", .number(String(seconds * 1000)))) }
        return .fcm(JSONValue.object(members).bytes, status: refusal.status.http, retryAfter: seconds)
    }
}
