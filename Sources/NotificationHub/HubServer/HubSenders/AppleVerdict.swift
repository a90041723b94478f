import APNsProtocol
import HubProtocol
import Networking
import PushCore

/// The conversion of Apple's responses to verdicts.
enum AppleVerdict {
    /// Reads the verdict from a response.
    ///
    /// - Parameters:
    ///   - askedAt: The time of the request: a token that Apple reports dead without a time was dead by then.
    ///   - environment: The credential's environment, and whether a token was valid for it before.
    static func read(
        _ answer: HTTP2Response, askedAt: Timestamp, environment: (PushEnvironment, isProven: Bool)? = nil
    ) -> PushVerdict {
        var verdict = plain(answer, askedAt: askedAt)
        guard let environment else { return verdict }
        switch verdict.outcome {
        case .success, .expiredChannel, .wrongChannel: verdict.environment = .right
        case .badChannel: verdict.environment = .doubtful(environment.0, isProven: environment.isProven)
        default: break
        }
        return verdict
    }

    private static func plain(_ answer: HTTP2Response, askedAt: Timestamp) -> PushVerdict {
        guard answer.status != 200 else { return PushVerdict(.success) }
        let tree = try? JSONValue(answer.body)
        let word = tree?["reason"]?.text ?? "HTTP \(answer.status)"
        guard let reason = APNsReason(rawValue: word) else {
            let isLater = answer.status == 429 || answer.status >= 500
            return PushVerdict(
                isLater ? .unavailable : .unknownError, reason: word,
                retryAfter: isLater ? retryAfter(answer) : nil)
        }
        switch reason {
        case .unregistered, .expiredToken:
            let died = tree?["timestamp"]?.integer.map { Timestamp(rawValue: $0) } ?? askedAt
            return PushVerdict(.expiredChannel, diedAt: died, reason: word)
        case .badDeviceToken, .missingDeviceToken: return PushVerdict(.badChannel, diedAt: askedAt, reason: word)
        case .deviceTokenNotForTopic: return PushVerdict(.wrongChannel, reason: word)
        case .payloadTooLarge: return PushVerdict(.invalidNotificationSize, reason: word)
        default: break
        }
        if reason.retry == .later { return PushVerdict(.unavailable, reason: word, retryAfter: retryAfter(answer)) }
        let isCredential = answer.status == 403 || reason == .topicDisallowed || reason == .badTopic
        return PushVerdict(isCredential ? .invalidCredentials : .invalidNotificationFormat, reason: word)
    }

    /// The value of `retry-after` in milliseconds, at most a day; 0 where there is none.
    private static func retryAfter(_ answer: HTTP2Response) -> Int64 {
        answer.header("retry-after").flatMap { Int64($0) }.map { min(max(0, $0), 86_400) * 1000 } ?? 0
    }

    /// The verdict for a push service that could not be reached.
    static func failed(_ error: any Error) -> PushVerdict {
        failed(isForbidden: (error as? OutboundError)?.isForbidden ?? false)
    }

    /// The verdict for a push service that could not be reached.
    ///
    /// - Parameter isForbidden: Whether its address is refused for good.
    static func failed(isForbidden: Bool) -> PushVerdict {
        isForbidden
            ? PushVerdict(.invalidCredentials, reason: "AddressRefused")
            : PushVerdict(.unavailable, reason: "Unreachable", retryAfter: 0)
    }
}
