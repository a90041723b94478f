import FCMProtocol
import Metrics

/// The metrics of FCM's endpoint: one counter for each outcome of FCM's table, all made at the start.
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

    func refused(_ refusal: FCMRejection) { outcomes[refusal.timelineCode]?.increment() }
}
