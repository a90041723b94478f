import AgentProtocol
import Metrics

/// The outcome of a request for a file; the label's values.
package enum MediaAnswer: String, Sendable, CaseIterable {
    /// The whole file was sent.
    case whole
    /// A part of the file was sent.
    case part
    /// The client has the file already.
    case notModified
    /// The file has no such part.
    case unsatisfiable
    /// There is no file with that name.
    case notFound
}

/// The store's metrics. Every label's values are a closed list.
final class MediaMetrics: Sendable {
    private let kept = Gauge(label: "aldaba_media_bytes")
    private let files = Gauge(label: "aldaba_media_files")
    private let quota = Gauge(label: "aldaba_media_quota_bytes")
    private let served: [MediaKind: Counter]
    private let answers: [MediaAnswer: Counter]
    private let uploads: [String: Counter]

    init() {
        func counters<Label: Hashable>(
            _ name: String, label: String, values: [Label], text: (Label) -> String
        ) -> [Label: Counter] {
            Dictionary(
                uniqueKeysWithValues: values.map { ($0, Counter(label: name, dimensions: [(label, text($0))])) })
        }
        served = counters(
            "aldaba_media_served_bytes_total", label: "kind", values: MediaKind.allCases, text: \.rawValue)
        answers = counters(
            "aldaba_media_requests_total", label: "outcome", values: MediaAnswer.allCases, text: \.rawValue)
        uploads = counters(
            "aldaba_media_uploads_total", label: "outcome",
            values: ["taken", "known", "broken"] + MediaRejection.codes,
            text: { $0 })
    }

    func holds(_ index: MediaIndex) {
        kept.record(index.kept)
        files.record(index.count)
        quota.record(index.quota)
    }

    func served(_ bytes: Int64, of kind: MediaKind) { served[kind]?.increment(by: bytes) }
    func answered(_ answer: MediaAnswer) { answers[answer]?.increment() }
    func uploaded(_ outcome: String) { uploads[outcome]?.increment() }
}
