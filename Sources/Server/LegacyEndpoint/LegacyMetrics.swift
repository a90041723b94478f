import LegacyAPNsWire
import Metrics

/// What the endpoint counts. One counter a status, made once: the label's values are Apple's table.
final class LegacyMetrics: Sendable {
    private static let label = "aldaba_legacy_pushes_total"

    /// Pushes that were taken.
    let taken = Counter(label: label, dimensions: [("outcome", "taken")])
    /// Tuples that the feedback service has told.
    let feedback = Counter(label: "aldaba_legacy_feedback_total")
    private let statuses: [LegacyStatus: Counter]

    init() {
        statuses = Dictionary(
            uniqueKeysWithValues: LegacyStatus.allCases.map {
                ($0, Counter(label: Self.label, dimensions: [("outcome", "\($0)")]))
            })
    }

    func refused(_ status: LegacyStatus) { statuses[status]?.increment() }
}
