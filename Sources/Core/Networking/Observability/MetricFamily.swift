/// The description of all series with one name.
package struct MetricFamily: Sendable, Hashable {
    /// The measured quantity, in one sentence; every scrape contains it.
    package var help: String
    /// The upper bounds of a histogram's buckets, ascending; `nil` for the usual ones.
    package var bounds: [Double]?

    /// Creates a description.
    package init(_ help: String, bounds: [Double]? = nil) {
        self.help = help
        self.bounds = bounds
    }
}

/// A sample of a value that is not measured when it changes, but read at each scrape.
package struct MetricSample: Sendable, Hashable {
    /// The direction in which the value may change.
    package enum Kind: Sendable, Hashable {
        /// A value that only rises, from the start of the process; the name ends in `_total`.
        case counter
        /// A value that rises and falls.
        case gauge
    }

    /// The name of the sample's family.
    package var name: String
    /// The direction in which the value may change.
    package var kind: Kind
    /// The labels of the series.
    package var labels: [(name: String, value: String)] { names.indices.map { (names[$0], values[$0]) } }
    /// The value.
    package var value: Double
    private var names: [String]
    private var values: [String]

    /// Creates a sample; its labels come from a bounded set.
    package init(_ kind: Kind, _ name: String, _ labels: [(String, String)] = [], value: Double) {
        self.name = name
        self.kind = kind
        self.value = value
        names = labels.map(\.0)
        values = labels.map(\.1)
    }
}

/// The two output formats of metrics.
package enum MetricsFormat: Sendable, Hashable, CaseIterable {
    /// Prometheus, "Exposition formats", text-based format 0.0.4.
    case prometheus
    /// OpenMetrics 1.0.0.
    case openMetrics

    /// The media type of the text.
    package var contentType: String {
        switch self {
        case .prometheus: "text/plain; version=0.0.4; charset=utf-8"
        case .openMetrics: "application/openmetrics-text; version=1.0.0; charset=utf-8"
        }
    }

    /// Chooses the format by a field `Accept` (RFC 9110, section 12.5.1): OpenMetrics if it is listed with at least the
    /// weight of plain text.
    package init(accept: String?) {
        var weights: [MetricsFormat: Double] = [:]
        for part in (accept ?? "").prefix(4096).split(separator: ",") {
            let pieces = part.split(separator: ";").map { $0.trimmingBlanks.lowercased() }
            guard let type = pieces.first else { continue }
            let weight = pieces.dropFirst().first { $0.hasPrefix("q=") }.map { Double($0.dropFirst(2)) ?? 0 } ?? 1
            let version = pieces.dropFirst().first { $0.hasPrefix("version=") }?.dropFirst("version=".count)
            switch type {
            case "application/openmetrics-text" where version == nil || version == "1.0.0":
                weights[.openMetrics] = max(weights[.openMetrics] ?? 0, weight)
            case "text/plain", "text/*", "*/*":
                weights[.prometheus] = max(weights[.prometheus] ?? 0, weight)
            default: break
            }
        }
        let weight = weights[.openMetrics] ?? 0
        self = weight > 0 && weight >= weights[.prometheus] ?? 0 ? .openMetrics : .prometheus
    }
}

extension Substring {
    fileprivate var trimmingBlanks: Substring {
        var text = drop { $0 == " " || $0 == "\t" }
        while let last = text.last, last == " " || last == "\t" { text.removeLast() }
        return text
    }
}
