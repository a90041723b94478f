import HTTPTypes
import Hummingbird
import PushServer

/// A quota as our own API and the tutorial's backend refuse it.
struct QuotaRejection: Sendable {
    var status: HTTPResponse.Status
    var code: String
    var message: String
    /// Seconds after which the request may be made again.
    var retryAfter: Int?

    /// The answer of the tutorial's backend.
    var response: Response {
        var response = ControlError(status: status, code: code, message: message).response
        if let retryAfter { response.headers[.retryAfter] = String(retryAfter) }
        return response
    }
}

extension HubQuota {
    /// 429 for a rate; 403 for a quota that no waiting ends.
    var refusal: QuotaRejection {
        if case .writes(_, let seconds) = self {
            return QuotaRejection(
                status: .tooManyRequests, code: "tooManyWrites", message: description, retryAfter: seconds)
        }
        return QuotaRejection(status: .forbidden, code: "quotaExceeded", message: description)
    }
}
