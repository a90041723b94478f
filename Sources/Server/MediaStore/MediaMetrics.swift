import MediaFormat
import Metrics

/// How a request for a file was answered; the label's values.
public enum MediaAnswer: String, Sendable, CaseIterable {
    /// With the whole file.
    case whole
    /// With a part of it.
    case part
    /// That the client has it already.
    case notModified
    /// That it has no such part.
    case unsatisfiable
    /// That there is no file of that name.
    case notFound
}

/// What the store counts. Every label's values are a closed list.
final class MediaMetrics: Sendable {
    private let kept = Gauge(label: "aldaba_media_bytes")
    private let files = Gauge(label: "aldaba_media_files")
    private let quota = Gauge(label: "aldaba_media_quota_bytes")
    private let served: [MediaKind: Counter]
    private let answers: [MediaAnswer: Counter]
    private let uploads: [String: Counter]

    init() {
        func counters<Label: Hashable>(
            _ name: String, _ label: String, _ values: [Label], _ text: (Label) -> String
        ) -> [Label: Counter] {
            Dictionary(
                uniqueKeysWithValues: values.map { ($0, Counter(label: name, dimensions: [(label, text($0))])) })
        }
        served = counters("aldaba_media_served_bytes_total", "kind", MediaKind.allCases, \.rawValue)
        answers = counters("aldaba_media_requests_total", "outcome", MediaAnswer.allCases, \.rawValue)
        uploads = counters(
            "aldaba_media_uploads_total", "outcome", ["taken", "known", "broken"] + MediaRefusal.codes, { $0 })
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
