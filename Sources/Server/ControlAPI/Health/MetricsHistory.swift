import Networking
import PushCore

/// The counts of a server's metrics at one instant, since the server began.
package struct MetricsTotals: Sendable, Hashable {
    /// Notifications that were accepted.
    package var accepted = 0
    /// Notifications that their devices have stored.
    package var delivered = 0
    /// Notifications that were shown.
    package var shown = 0
    /// Requests that were refused, by reason; the reasons are those of APNs and of FCM.
    package var refused: [String: Int] = [:]
    /// Batches that the store did not commit.
    package var storeFailures = 0
    /// Notifications that wait for their devices at the instant.
    package var waiting = 0
    /// The seconds that the oldest waiting notification has waited.
    package var oldestWaiting = 0
    /// Devices that are connected at the instant.
    package var connected = 0

    /// No counts.
    package init() {}

    /// Reads the samples of a registry.
    package init(_ samples: [MetricSample]) {
        for sample in samples {
            let label = sample.labels.first?.value ?? ""
            let value = Int(exactly: sample.value.rounded()) ?? 0
            switch sample.name {
            case "aldaba_notification_states_total": add(value, inState: label)
            case "aldaba_provider_requests_total", "aldaba_fcm_requests_total", "aldaba_legacy_pushes_total":
                if value > 0, !["accepted", "validated", "taken"].contains(label) {
                    refused[label, default: 0] += value
                }
            case "aldaba_store_failures_total": storeFailures += value
            case "aldaba_notifications_waiting": waiting = value
            case "aldaba_oldest_waiting_seconds": oldestWaiting = value
            case "aldaba_sessions": connected = value
            default: break
            }
        }
    }

    private mutating func add(_ value: Int, inState state: String) {
        switch state {
        case "accepted": accepted += value
        case "received": delivered += value
        case "presented": shown += value
        default: break
        }
    }

    /// The differences from earlier counts; the numbers of waiting and connected stay as they are.
    func since(_ earlier: MetricsTotals) -> MetricsTotals {
        var added = self
        added.accepted -= earlier.accepted
        added.delivered -= earlier.delivered
        added.shown -= earlier.shown
        added.storeFailures -= earlier.storeFailures
        added.refused = refused.merging(earlier.refused) { $0 - $1 }.filter { $0.value > 0 }
        return added
    }

    /// Adds what a later part of the same span added.
    mutating func add(_ later: MetricsTotals) {
        accepted += later.accepted
        delivered += later.delivered
        shown += later.shown
        storeFailures += later.storeFailures
        refused.merge(later.refused) { $0 + $1 }
        (waiting, oldestWaiting, connected) = (later.waiting, later.oldestWaiting, later.connected)
    }
}

/// The counts of each minute of the last day; a value.
package struct MetricsHistory: Sendable {
    /// The time for which a history is shown.
    package enum Span: String, Sendable, CaseIterable {
        /// The last hour, by minutes.
        case hour
        /// The last day, by quarters of an hour.
        case day

        /// The length of each sample, in minutes.
        var step: Int64 { self == .hour ? 1 : 15 }
        /// The number of samples at most.
        var limit: Int64 { self == .hour ? 60 : 96 }
    }

    /// The counts of some minutes.
    package struct Sample: Sendable, Hashable {
        /// The time at which they begin.
        package var at: Timestamp
        /// The counts that were added, and the numbers of waiting and connected at the end.
        package var counts: MetricsTotals
    }

    /// The number of minutes that are kept: a day.
    package static let limit = 1440
    private static let minute: Int64 = 60_000

    /// The kept minutes, the oldest first.
    private var minutes: [Sample] = []
    private var last = MetricsTotals()

    /// No minutes.
    package init() {}

    /// Records the counts of an instant. What was added since the last ones belongs to the instant's minute.
    package mutating func record(_ totals: MetricsTotals, at now: Timestamp) {
        let start = Self.start(of: now, step: 1)
        let added = totals.since(last)
        last = totals
        if let index = minutes.indices.last, minutes[index].at >= start {
            minutes[index].counts.add(added)
        } else {
            minutes.append(Sample(at: start, counts: added))
            if minutes.count > Self.limit { minutes.removeFirst(minutes.count - Self.limit) }
        }
    }

    /// The samples of a span that ends at an instant, the oldest first. Before the server began there are none.
    package func samples(_ span: Span, until now: Timestamp) -> [Sample] {
        let first = Self.start(of: now, step: span.step)
            .adding(milliseconds: -(span.limit - 1) * span.step * Self.minute)
        var samples: [Sample] = []
        for minute in minutes where minute.at >= first {
            let start = Self.start(of: minute.at, step: span.step)
            if let index = samples.indices.last, samples[index].at == start {
                samples[index].counts.add(minute.counts)
            } else {
                samples.append(Sample(at: start, counts: minute.counts))
            }
        }
        return samples
    }

    private static func start(of instant: Timestamp, step: Int64) -> Timestamp {
        let length = step * minute
        return Timestamp(rawValue: instant.rawValue - instant.rawValue % length)
    }
}
