import FCMWire
import Metrics

/// What FCM's door counts. One counter an outcome, made once: the label's values are FCM's table.
final class FCMMetrics: Sendable {
    private static let label = "aldaba_fcm_requests_total"
    let accepted = Counter(label: label, dimensions: [("outcome", "accepted")])
    /// Messages that were only checked.
    let checked = Counter(label: label, dimensions: [("outcome", "validated")])
    private let outcomes: [String: Counter]

    init() {
        let codes = Set(FCMErrorCode.allCases.map(\.rawValue) + FCMStatus.allCases.map(\.rawValue))
        outcomes = Dictionary(
            uniqueKeysWithValues: codes.map { ($0, Counter(label: Self.label, dimensions: [("outcome", $0)])) })
    }

    func refused(_ refusal: FCMRefusal) { outcomes[refusal.timelineCode]?.increment() }
}
