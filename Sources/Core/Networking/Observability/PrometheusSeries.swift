import CoreMetrics
import Synchronization

/// A counter: whole numbers, which fall only by a reset.
final class CounterSeries: CounterHandler {
    private let value = Atomic<Int64>(0)

    var current: Int64 { value.load(ordering: .relaxed) }

    func increment(by amount: Int64) { value.wrappingAdd(max(0, amount), ordering: .relaxed) }

    func reset() { value.store(0, ordering: .relaxed) }
}

/// A gauge: the last number that was recorded, or a sum of steps.
final class GaugeSeries: RecorderHandler, MeterHandler {
    private let bits = Atomic<UInt64>(0)

    var current: Double { Double(bitPattern: bits.load(ordering: .relaxed)) }

    func record(_ value: Int64) { record(Double(value)) }

    func record(_ value: Double) { bits.store(value.bitPattern, ordering: .relaxed) }

    func set(_ value: Int64) { record(Double(value)) }

    func set(_ value: Double) { record(value) }

    func increment(by amount: Double) { step(by: amount) }

    func decrement(by amount: Double) { step(by: -amount) }

    private func step(by amount: Double) {
        var seen = bits.load(ordering: .relaxed)
        while true {
            let next = (Double(bitPattern: seen) + amount).bitPattern
            let (exchanged, original) = bits.compareExchange(
                expected: seen, desired: next, ordering: .relaxed)
            if exchanged { return }
            seen = original
        }
    }
}

/// A histogram: the number of values up to each bound, their total number and their sum.
final class HistogramSeries: RecorderHandler, TimerHandler {
    struct Reading: Sendable {
        /// The number of values in each bound's own bucket, then the number above the last.
        var buckets: [UInt64]
        var sum: Double
    }

    /// The bounds of timers in seconds, from a tenth of a millisecond to ten seconds.
    static let timerBounds: [Double] = [
        0.000_1, 0.000_25, 0.000_5, 0.001, 0.002_5, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10,
    ]
    /// The bounds of recorders for counts and sizes, by powers of four.
    static let recorderBounds: [Double] = [1, 4, 16, 64, 256, 1024, 4096, 16_384, 65_536, 262_144]

    let bounds: [Double]
    private let reading: Mutex<Reading>

    init(bounds: [Double]) {
        self.bounds = bounds
        reading = Mutex(Reading(buckets: Array(repeating: 0, count: bounds.count + 1), sum: 0))
    }

    var current: Reading { reading.withLock { $0 } }

    func record(_ value: Int64) { record(Double(value)) }

    func record(_ value: Double) {
        guard value.isFinite else { return }
        let bucket = bounds.firstIndex { value <= $0 } ?? bounds.count
        reading.withLock {
            $0.buckets[bucket] &+= 1
            $0.sum += value
        }
    }

    func recordNanoseconds(_ duration: Int64) { record(Double(duration) / 1_000_000_000) }
}

/// A handler that discards measurements without a series.
final class NoSeries: CounterHandler, RecorderHandler, MeterHandler, TimerHandler {
    func increment(by amount: Int64) {}
    func reset() {}
    func record(_ value: Int64) {}
    func record(_ value: Double) {}
    func set(_ value: Int64) {}
    func set(_ value: Double) {}
    func increment(by amount: Double) {}
    func decrement(by amount: Double) {}
    func recordNanoseconds(_ duration: Int64) {}
}
