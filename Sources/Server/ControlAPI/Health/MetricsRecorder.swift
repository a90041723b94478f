import Networking
import PushCore
import Synchronization

/// Keeps the history of a server's metrics. Thread-safe.
package final class MetricsRecorder: Sendable {
    private let read: @Sendable () -> [MetricSample]
    private let clock: @Sendable () -> Timestamp
    private let history = Mutex(MetricsHistory())

    /// Creates a recorder without a history.
    ///
    /// - Parameter read: Reads the measurements so far.
    package init(read: @escaping @Sendable () -> [MetricSample], clock: @escaping @Sendable () -> Timestamp) {
        self.read = read
        self.clock = clock
    }

    /// The present counts.
    package var totals: MetricsTotals { MetricsTotals(read()) }

    /// Records the present counts; to be called once a minute.
    package func record() {
        history.withLock { $0.record(totals, at: clock()) }
    }

    /// The samples of a span up to now.
    package func samples(_ span: MetricsHistory.Span) -> [MetricsHistory.Sample] {
        history.withLock { history in
            let now = clock()
            history.record(totals, at: now)
            return history.samples(span, until: now)
        }
    }
}
