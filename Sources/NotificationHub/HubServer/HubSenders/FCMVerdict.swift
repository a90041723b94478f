import Networking
import PushCore

/// The conversion of FCM's responses to verdicts.
enum FCMVerdict {
    /// Reads the verdict from a response: from FCM's own code if there is one, otherwise from the status.
    ///
    /// - Parameter askedAt: The time of the request: FCM does not report since when a token is dead.
    static func read(_ answer: OutboundResponse, askedAt: Timestamp) -> PushVerdict {
        guard answer.status != 200 else { return PushVerdict(.success) }
        let error = (try? JSONValue(answer.body))?["error"]
        let details = error?["details"]?.items ?? []
        let code = details.compactMap { $0["errorCode"]?.text }.first
        let word = code ?? error?["status"]?.text ?? "HTTP \(answer.status)"
        let fields = details.flatMap { $0["fieldViolations"]?.items ?? [] }.compactMap { $0["field"]?.text }
        switch code {
        case "UNREGISTERED"?: return PushVerdict(.expiredChannel, diedAt: askedAt, reason: word)
        case "SENDER_ID_MISMATCH"?: return PushVerdict(.wrongChannel, reason: word)
        case "INVALID_ARGUMENT"? where fields.contains("message.token"):
            return PushVerdict(.badChannel, diedAt: askedAt, reason: word)
        case "THIRD_PARTY_AUTH_ERROR"?: return PushVerdict(.invalidCredentials, reason: word)
        default: break
        }
        switch answer.status {
        case 400: return PushVerdict(.invalidNotificationFormat, reason: word)
        case 401, 403, 404: return PushVerdict(.invalidCredentials, reason: word)
        case 413: return PushVerdict(.invalidNotificationSize, reason: word)
        // If FCM specifies no delay, its documentation recommends a minute.
        case 429: return PushVerdict(.unavailable, reason: word, retryAfter: answer.retryAfter ?? 60_000)
        case 500...: return PushVerdict(.unavailable, reason: word, retryAfter: answer.retryAfter ?? 0)
        default: return PushVerdict(.unknownError, reason: word)
        }
    }
}
