/// A family's series with their values at one moment, to be written.
struct FamilyReading {
    /// The kinds of metric, by their names in the text.
    enum Kind: String {
        case counter
        case gauge
        case histogram
    }

    enum Value {
        case whole(Int64)
        case number(Double)
        case histogram(bounds: [Double], HistogramSeries.Reading)
    }

    var kind: Kind
    var series: [(labels: [(name: String, value: String)], value: Value)]
}

/// Writes families in either format, in the order of their names.
struct MetricsText {
    let format: MetricsFormat
    private(set) var text = ""

    init(_ format: MetricsFormat) { self.format = format }

    mutating func add(_ name: String, _ family: FamilyReading, help: String?) {
        // OpenMetrics names a family of counters without the suffix of its samples.
        let isNamedShort = format == .openMetrics && family.kind == .counter && name.hasSuffix("_total")
        let title = isNamedShort ? String(name.dropLast("_total".count)) : name
        if let help { text += "# HELP \(title) \(PrometheusText.help(help))\n" }
        text += "# TYPE \(title) \(family.kind.rawValue)\n"
        for (labels, value) in family.series {
            switch value {
            case .whole(let whole): line(name, labels: labels, value: String(whole))
            case .number(let number): line(name, labels: labels, value: PrometheusText.number(number))
            case .histogram(let bounds, let reading): add(name, labels: labels, bounds: bounds, reading: reading)
            }
        }
    }

    private mutating func add(
        _ name: String, labels: [(name: String, value: String)], bounds: [Double],
        reading: HistogramSeries.Reading
    ) {
        var total: UInt64 = 0
        for (index, count) in reading.buckets.enumerated() {
            total &+= count
            line("\(name)_bucket", labels: labels + [(name: "le", value: bound(index, bounds))], value: String(total))
        }
        line("\(name)_sum", labels: labels, value: PrometheusText.number(reading.sum))
        line("\(name)_count", labels: labels, value: String(total))
    }

    /// The text of a bound. OpenMetrics writes bounds as floating-point numbers, whole ones too.
    private func bound(_ index: Int, _ bounds: [Double]) -> String {
        guard index < bounds.count else { return "+Inf" }
        return format == .openMetrics ? String(bounds[index]) : PrometheusText.number(bounds[index])
    }

    private mutating func line(_ name: String, labels: [(name: String, value: String)], value: String) {
        text += "\(name)\(PrometheusText.labels(labels)) \(value)\n"
    }

    /// The whole text.
    func finished() -> String { format == .openMetrics ? text + "# EOF\n" : text }
}
