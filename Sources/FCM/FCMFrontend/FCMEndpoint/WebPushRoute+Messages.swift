import Foundation
import HTTPTypes
import Hummingbird
import Logging
import PushCore
import PushServer
import WebPushProtocol

/// The requests about a message that was sent: its receipt, and its withdrawal.
extension WebPushRoute {
    /// Whether the sender asks for a receipt: `Prefer: respond-async` (RFC 8030, section 5.1).
    static func wantsReceipt(_ request: Request) -> Bool {
        let values = prefer.map { request.headers[values: $0] } ?? []
        return values.contains { value in
            value.split(separator: ",").contains {
                $0.trimmingCharacters(in: .whitespaces).lowercased() == "respond-async"
            }
        }
    }

    /// The route `GET /wp/{token}/messages/{id}`: the receipt of a message. The answer has the status that RFC 8030, section 6.3,
    /// has for a pushed receipt: 204 when the client has acknowledged the message and could read it, 410 when it has not and will
    /// not; 202 until then.
    func receipt(_ request: Request, token: String, id: String, logger: Logger) async -> Response {
        await answer(logger) {
            let message = try await message(id, token: token, of: request)
            guard let outcome = message.outcome else { throw ControlError.notFound }
            switch outcome.end {
            case .delivered where message.isUnreadable:
                throw Self.refusal(.gone, "the client could not decrypt the message")
            case .delivered: return Response(status: .noContent)
            case .pending: return Response(status: .accepted, headers: [.retryAfter: "1"])
            default: throw Self.refusal(.gone, "the message was not delivered: \(outcome.end)")
            }
        }
    }

    /// The route `DELETE /wp/{token}/messages/{id}`: withdraws a message that was not delivered yet (RFC 8030, section
    /// 6.4).
    func withdraw(_ request: Request, token: String, id: String, logger: Logger) async -> Response {
        await answer(logger) {
            let message = try await message(id, token: token, of: request)
            guard message.outcome?.end != .delivered else { throw ControlError.notFound }
            let outcome = await withCheckedContinuation { continuation in
                services.withdrawal.withdraw(message.id, of: message.device) { continuation.resume(returning: $0) }
            }
            switch outcome {
            case .withdrawn, .mayHaveArrived: return Response(status: .noContent)
            case .ended, .unknown: throw ControlError.notFound
            case .failed: throw ControlError.unavailable
            }
        }
    }

    private struct SentMessage {
        var id: NotificationID
        var device: DeviceID
        /// The outcome; `nil` for a message that is not known, or not of the subscription's app on the device.
        var outcome: DeliveryOutcome?
        /// Whether the client has it and could not decrypt it.
        var isUnreadable: Bool
    }

    /// The message that a request names, whose sender the request must prove.
    private func message(_ text: String, token: String, of request: Request) async throws -> SentMessage {
        guard let id = NotificationID(text: text) else { throw ControlError.notFound }
        let subscription = try await subscription(of: token, message: id)
        try await prove(request, for: subscription)
        let device = subscription.subject.device
        let found = try await services.timelines.timelines(of: text, team: subscription.app.team).first
        guard let found, found.device == device, found.topic == subscription.app.topic,
            let accepted = found.entries.first
        else { return SentMessage(id: id, device: device, outcome: nil, isUnreadable: false) }
        let isUnreadable = found.entries.contains { if case .undecryptable = $0.state { true } else { false } }
        return SentMessage(
            id: id, device: device, outcome: DeliveryOutcome(acceptedAt: accepted.at, lines: found.entries),
            isUnreadable: isUnreadable)
    }

    /// The subscription of a message's address. Subscriptions that were made over a WebSocket share their app: the address of a
    /// message of theirs opens for this message alone, so that a sender cannot ask for another's.
    private func subscription(of token: String, message: NotificationID) async throws -> Subscription {
        if let subject = services.sealer.open(token, message: message) { return try await subscription(of: subject) }
        guard services.sealer.open(token) == nil else { throw ControlError.notFound }
        return try await subscription(of: token)
    }
}
