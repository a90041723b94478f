/// What is said of all series of one name, beside their values.
public struct MetricFamily: Sendable, Hashable {
    /// What is measured, in one sentence; it stands in every scrape.
    public var help: String
    /// The upper bounds of a histogram's buckets, ascending; `nil` for the usual ones.
    public var bounds: [Double]?

    /// Describes a family.
    public init(_ help: String, bounds: [Double]? = nil) {
        self.help = help
        self.bounds = bounds
    }
}

/// One value that is not measured when it changes, but read when somebody asks for it.
public struct MetricSample: Sendable, Hashable {
    /// How the value may move.
    public enum Kind: Sendable, Hashable {
        /// Only up, from the start of the process; the name ends in `_total`.
        case counter
        /// Up and down.
        case gauge
    }

    /// The name of the sample's family.
    public var name: String
    /// How the value may move.
    public var kind: Kind
    /// The labels of the series.
    public var labels: [(name: String, value: String)] { names.indices.map { (names[$0], values[$0]) } }
    /// The value.
    public var value: Double
    private var names: [String]
    private var values: [String]

    /// One sample; its labels come from a bounded set.
    public init(_ kind: Kind, _ name: String, _ labels: [(String, String)] = [], value: Double) {
        self.name = name
        self.kind = kind
        self.value = value
        names = labels.map(\.0)
        values = labels.map(\.1)
    }
}

/// The two forms in which metrics are written.
public enum MetricsFormat: Sendable, Hashable, CaseIterable {
    /// Prometheus, "Exposition formats", text-based format 0.0.4.
    case prometheus
    /// OpenMetrics 1.0.0.
    case openMetrics

    /// The media type of the text.
    public var contentType: String {
        switch self {
        case .prometheus: "text/plain; version=0.0.4; charset=utf-8"
        case .openMetrics: "application/openmetrics-text; version=1.0.0; charset=utf-8"
        }
    }

    /// The format that a field `Accept` asks for (RFC 9110, section 12.5.1): OpenMetrics where it is named and weighs
    /// as much as plain text.
    public init(accept: String?) {
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
