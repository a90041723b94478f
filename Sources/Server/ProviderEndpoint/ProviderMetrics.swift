import APNsWire
import Metrics

/// What the provider endpoint counts. One counter a reason, made once: the label's values are Apple's table.
final class ProviderMetrics: Sendable {
    let accepted = Counter(label: "aldaba_provider_requests_total", dimensions: [("outcome", "accepted")])
    private let reasons: [APNsReason: Counter]

    init() {
        reasons = Dictionary(
            uniqueKeysWithValues: APNsReason.allCases.map {
                ($0, Counter(label: "aldaba_provider_requests_total", dimensions: [("outcome", $0.rawValue)]))
            })
    }

    func refused(_ reason: APNsReason) { reasons[reason]?.increment() }
}
