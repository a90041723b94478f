import Networking
import PushCore

/// The conversion of a Web Push service's responses to verdicts.
enum WebPushVerdict {
    /// Reads the verdict from a response's status.
    static func read(_ answer: OutboundResponse, askedAt: Timestamp) -> PushVerdict {
        let word = "HTTP \(answer.status)"
        switch answer.status {
        case 200..<300: return PushVerdict(.success)
        case 404, 410: return PushVerdict(.expiredChannel, diedAt: askedAt, reason: word)
        case 400: return PushVerdict(.invalidNotificationFormat, reason: word)
        case 401, 403: return PushVerdict(.invalidCredentials, reason: word)
        case 413: return PushVerdict(.invalidNotificationSize, reason: word)
        case 408, 425, 429: return PushVerdict(.unavailable, reason: word, retryAfter: answer.retryAfter ?? 0)
        case 500...: return PushVerdict(.unavailable, reason: word, retryAfter: answer.retryAfter ?? 0)
        default: return PushVerdict(.unknownError, reason: word)
        }
    }
}
