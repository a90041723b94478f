import FCMProtocol
import Logging
import PushCore
import PushServer
import WebPushProtocol

extension WebPushRoute {
    /// Sends a message that is not encrypted to a subscription of UnifiedPush, whose address is the credential.
    ///
    /// - Parameter component: The last component of the subscription's address.
    func forward(_ body: [UInt8], to component: String, isUrgent: Bool, logger: Logger) async -> ChatGateways.Outcome {
        func refusal(_ code: FCMErrorCode, _ message: String, retryAfter: Int? = nil) -> FCMRejection {
            FCMRejection(code, message, retryAfter: retryAfter)
        }
        do {
            let subscription = try await subscription(of: component)
            guard subscription.channel != nil, subscription.sender.isEmpty else {
                return .tokenEnded(
                    refusal(.senderIDMismatch, "the subscription is a browser's, or names its own application server"))
            }
            if let seconds = quotas.take(subscription.app.team, at: acceptor.now) {
                return .later(
                    refusal(.quotaExceeded, "the project has sent its messages of this minute"), seconds: seconds)
            }
            guard body.count <= WebPushRequest.largestBody else {
                return .refused(
                    refusal(.invalidArgument, "the message has \(body.count) bytes, at most 4096 are allowed"))
            }
            _ = try await accept(
                WebPushRequest(plain: body, urgency: isUrgent ? .high : .normal), for: subscription,
                note: "by the gateway for Matrix")
            return .accepted
        } catch let error as ControlError where error.status == .notFound || error.status == .gone {
            return .tokenEnded(refusal(.unregistered, error.message))
        } catch let error as Later {
            return .later(refusal(.unavailable, "the server cannot take the message now"), seconds: error.seconds)
        } catch {
            Self.failure.log(error, to: logger)
            return .later(.notNow, seconds: 5)
        }
    }
}
