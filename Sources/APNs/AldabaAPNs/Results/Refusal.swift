import APNsProtocol
import Foundation
import Networking
import PushCore

/// A response other than a success.
struct Refusal: Sendable {
    let status: Int
    let reason: APNsRefusalReason
    /// The time since which the device token is dead.
    let since: Date?
    /// The value of `retry-after`, in seconds.
    let retryAfter: Duration?

    /// Reads a refusal; `nil` for a success.
    init?(_ response: HTTP2Response) {
        guard !(200..<300).contains(response.status) else { return nil }
        // A body that is no JSON object has no reason.
        let tree = try? JSONValue(object: response.body)
        status = response.status
        reason = APNsRefusalReason(rawValue: tree?["reason"]?.text ?? "HTTP \(response.status)")
        since = tree?["timestamp"]?.integer.map { Date(timeIntervalSince1970: Double($0) / 1000) }
        let seconds = response.header("retry-after").flatMap { Int64($0) }
        retryAfter = seconds.map { .seconds(min(max(0, $0), 86_400)) }
    }

    /// The result of a refusal without a request.
    static func result(of reason: APNsReason) -> APNsResult {
        reason.retry == .afterFix
            ? .fixConfiguration(APNsRefusalReason(reason)) : .dropped(APNsRefusalReason(reason))
    }

    /// The meaning of a response for its connection.
    static func answer(in response: HTTP2Response) -> ConnectionPool.Answer {
        guard let refusal = Refusal(response) else { return .proven }
        switch APNsReason(rawValue: refusal.reason.rawValue) {
        case .expiredProviderToken: return .tokenExpired
        case .tooManyProviderTokenUpdates: return .tokenRenewedEarly
        case .shutdown, .idleTimeout: return .leaving
        // That a device token is dead is told only to those who may send to it.
        case .unregistered, .expiredToken: return .proven
        default: return .plain
        }
    }

    /// The result for the sender. Known reasons follow the table of ``APNsReason``, others their status.
    var result: APNsResult {
        let known = APNsReason(rawValue: reason.rawValue)
        if (known?.status ?? status) == 410 { return .tokenDead(since: since) }
        let retry: APNsReason.Retry =
            known?.retry ?? (status == 429 || status >= 500 ? .later : status == 403 ? .afterFix : .never)
        switch retry {
        case .later: return .retryAfter(retryAfter ?? Self.delay(known, status: status), reason)
        case .afterFix: return .fixConfiguration(reason)
        case .never: return .dropped(reason)
        }
    }

    /// The delay where the server tells none. Apple asks for 15 minutes after errors of its own.
    private static func delay(_ reason: APNsReason?, status: Int) -> Duration {
        switch reason {
        case .shutdown, .idleTimeout: .seconds(1)
        case _ where status >= 500: .seconds(900)
        default: .seconds(60)
        }
    }
}
