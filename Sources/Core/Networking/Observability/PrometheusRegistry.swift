import CoreMetrics
import Synchronization

/// The metrics of a process, kept for Prometheus to fetch: a factory for swift-metrics with a text form.
///
/// Guarantees: at most `limit` series ever exist. A measurement beyond it, or one whose name already belongs to another
/// kind, is discarded and adds one to `aldaba_metrics_refused_series_total`. Counters are named `…_total`, timers are
/// histograms in seconds named `…_seconds`. ``MetricsFormat`` has the sources of the two formats.
package final class PrometheusRegistry: MetricsFactory, Sendable {
    private let limit: Int
    private let families: [String: MetricFamily]
    private let registered = Mutex(Registered())

    /// Creates an empty registry.
    ///
    /// - Parameters:
    ///   - limit: The maximum number of series, all names and labels together.
    ///   - families: The descriptions by name, as they are written in the text.
    package init(limit: Int = 2000, families: [String: MetricFamily] = [:]) {
        self.limit = max(1, limit)
        self.families = families
    }

    /// Adds a closure that reads samples at every scrape: values that are not measured when they change.
    package func collect(_ read: @escaping @Sendable () async -> [MetricSample]) {
        registered.withLock { $0.collectors.append(read) }
    }

    /// The text of all measurements so far, and of the collectors' present samples: families in the order of their
    /// names.
    package func scrape(_ format: MetricsFormat) async -> String {
        var samples: [MetricSample] = []
        for read in registered.withLock({ $0.collectors }) { samples += await read() }
        return text(format, samples: samples)
    }

    /// The counters and gauges so far, without histograms and the collectors' samples.
    package func samples() -> [MetricSample] {
        registered.withLock(\.families).flatMap { name, family in
            family.series.compactMap { labels, series -> MetricSample? in
                let pairs = labels.pairs.map { ($0.name, $0.value) }
                return switch series {
                case .counter(let counter): MetricSample(.counter, name, pairs, value: Double(counter.current))
                case .gauge(let gauge): MetricSample(.gauge, name, pairs, value: gauge.current)
                case .histogram: nil
                }
            }
        }
    }

    /// The text of all measurements so far, without the collectors' samples.
    package func text(_ format: MetricsFormat = .prometheus) -> String { text(format, samples: []) }

    private func text(_ format: MetricsFormat, samples: [MetricSample]) -> String {
        let (measured, refused) = registered.withLock { ($0.families, $0.refused) }
        var readings = measured.mapValues(\.reading)
        let refusals = MetricSample(.counter, "aldaba_metrics_refused_series_total", value: Double(refused))
        for sample in samples + [refusals] {
            let kind: FamilyReading.Kind = sample.kind == .counter ? .counter : .gauge
            readings[sample.name, default: FamilyReading(kind: kind, series: [])].series
                .append((sample.labels, .number(sample.value)))
        }
        var text = MetricsText(format)
        for (name, reading) in readings.sorted(by: { $0.key < $1.key }) {
            text.add(name, reading, help: families[name]?.help)
        }
        return text.finished()
    }

    package func makeCounter(label: String, dimensions: [(String, String)]) -> any CounterHandler {
        let name = PrometheusText.metricName(label)
        let full = name.hasSuffix("_total") ? name : name + "_total"
        guard
            case .counter(let series)? = series(
                .counter, name: full, dimensions: dimensions, make: { .counter(CounterSeries()) })
        else {
            return NoSeries()
        }
        return series
    }

    package func makeRecorder(
        label: String, dimensions: [(String, String)], aggregate: Bool
    ) -> any RecorderHandler {
        let name = PrometheusText.metricName(label)
        guard aggregate else { return gauge(name, dimensions).map { $0 as any RecorderHandler } ?? NoSeries() }
        return histogram(name, dimensions: dimensions, bounds: HistogramSeries.recorderBounds).map {
            $0 as any RecorderHandler
        }
            ?? NoSeries()
    }

    package func makeMeter(label: String, dimensions: [(String, String)]) -> any MeterHandler {
        gauge(PrometheusText.metricName(label), dimensions).map { $0 as any MeterHandler } ?? NoSeries()
    }

    package func makeTimer(label: String, dimensions: [(String, String)]) -> any TimerHandler {
        let name = PrometheusText.metricName(label)
        let full = name.hasSuffix("_seconds") ? name : name + "_seconds"
        return histogram(full, dimensions: dimensions, bounds: HistogramSeries.timerBounds).map {
            $0 as any TimerHandler
        } ?? NoSeries()
    }

    package func destroyCounter(_ handler: any CounterHandler) { remove(handler) }

    package func destroyRecorder(_ handler: any RecorderHandler) { remove(handler) }

    package func destroyMeter(_ handler: any MeterHandler) { remove(handler) }

    package func destroyTimer(_ handler: any TimerHandler) { remove(handler) }
}

extension PrometheusRegistry {
    private func gauge(_ name: String, _ dimensions: [(String, String)]) -> GaugeSeries? {
        guard
            case .gauge(let series)? = series(
                .gauge, name: name, dimensions: dimensions, make: { .gauge(GaugeSeries()) })
        else { return nil }
        return series
    }

    private func histogram(
        _ name: String, dimensions: [(String, String)], bounds: [Double]
    ) -> HistogramSeries? {
        let bounds = families[name]?.bounds ?? bounds
        let made = series(.histogram, name: name, dimensions: dimensions) {
            .histogram(HistogramSeries(bounds: bounds))
        }
        guard case .histogram(let series)? = made else { return nil }
        return series
    }

    /// The series of a name and its labels, created if the limit allows it; `nil` when it was refused.
    private func series(
        _ kind: FamilyReading.Kind, name: String, dimensions: [(String, String)], make: @Sendable () -> Series
    ) -> Series? {
        let labels = SeriesLabels(dimensions)
        return registered.withLock { registered -> Series? in
            if let family = registered.families[name] {
                if family.kind == kind, let series = family.series[labels] { return series }
                guard family.kind == kind, registered.count < limit else {
                    registered.refused &+= 1
                    return nil
                }
            } else if registered.count >= limit {
                registered.refused &+= 1
                return nil
            }
            let series = make()
            registered.families[name, default: Family(kind: kind)].series[labels] = series
            registered.count += 1
            return series
        }
    }

    private func remove(_ handler: AnyObject) {
        registered.withLock { registered in
            for (name, family) in registered.families {
                guard let labels = family.series.first(where: { $0.value.handler === handler })?.key else { continue }
                registered.families[name]?.series[labels] = nil
                if registered.families[name]?.series.isEmpty == true { registered.families[name] = nil }
                registered.count -= 1
                return
            }
        }
    }
}

/// The state that a registry's lock protects.
private struct Registered {
    var families: [String: Family] = [:]
    var collectors: [@Sendable () async -> [MetricSample]] = []
    /// The number of series in all families.
    var count = 0
    var refused: UInt64 = 0
}

/// All series of one name.
private struct Family {
    var kind: FamilyReading.Kind
    var series: [SeriesLabels: Series] = [:]

    /// The present values, in the order of the labels.
    var reading: FamilyReading {
        FamilyReading(kind: kind, series: series.sorted { $0.key < $1.key }.map { ($0.key.pairs, $0.value.value) })
    }
}

/// The labels of one series in the order of their names.
private struct SeriesLabels: Hashable, Comparable {
    private var names: [String]
    private var values: [String]

    init(_ dimensions: [(String, String)]) {
        let sorted = dimensions.sorted { $0.0 < $1.0 }
        names = sorted.map(\.0)
        values = sorted.map(\.1)
    }

    var pairs: [(name: String, value: String)] { zip(names, values).map { (name: $0, value: $1) } }

    static func < (left: SeriesLabels, right: SeriesLabels) -> Bool {
        left.values.lexicographicallyPrecedes(right.values)
    }
}

/// A series of any kind.
private enum Series {
    case counter(CounterSeries)
    case gauge(GaugeSeries)
    case histogram(HistogramSeries)

    var handler: AnyObject {
        switch self {
        case .counter(let series): series
        case .gauge(let series): series
        case .histogram(let series): series
        }
    }

    /// The present value.
    var value: FamilyReading.Value {
        switch self {
        case .counter(let series): .whole(series.current)
        case .gauge(let series): .number(series.current)
        case .histogram(let series): .histogram(bounds: series.bounds, series.current)
        }
    }
}
