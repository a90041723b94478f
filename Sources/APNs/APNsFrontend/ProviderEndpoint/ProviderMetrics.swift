import APNsProtocol
import Metrics

/// The provider endpoint's metrics: one counter for each reason of Apple's table, all made at the start.
final class ProviderMetrics: Sendable {
    let accepted = Counter(label: "aldaba_provider_requests_total", dimensions: [("outcome", "accepted")])
    /// Connections that were slowed to one stream, and those that were ended, by Apple's limits.
    let slowed = Counter(label: "aldaba_apns_limits_total", dimensions: [("limit", "one-stream")])
    let ended = Counter(label: "aldaba_apns_limits_total", dimensions: [("limit", "error-budget")])
    private let reasons: [APNsReason: Counter]

    init() {
        reasons = Dictionary(
            uniqueKeysWithValues: APNsReason.allCases.map {
                ($0, Counter(label: "aldaba_provider_requests_total", dimensions: [("outcome", $0.rawValue)]))
            })
    }

    func refused(_ reason: APNsReason) { reasons[reason]?.increment() }
}
