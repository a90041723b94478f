import APNsProtocol
import Metrics

/// The endpoint's metrics: one counter for each status of Apple's table, all made at the start.
final class LegacyMetrics: Sendable {
    private static let label = "aldaba_legacy_pushes_total"

    /// The number of accepted pushes.
    let taken = Counter(label: label, dimensions: [("outcome", "taken")])
    /// The number of tuples that the feedback service has sent.
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
