import Metrics
import NIOCore
import Networking
import PushCore

/// The service's metrics; labels from bounded sets only. Thread-safe.
struct MailboxMetrics: Sendable {
    private let acceptance = Timer(label: "aldaba_acceptance_seconds")
    private let commit = Timer(label: "aldaba_commit_seconds")
    private let delivery = Timer(label: "aldaba_delivery_seconds")
    private let waiting = Gauge(label: "aldaba_notifications_waiting")
    private let oldest = Gauge(label: "aldaba_oldest_waiting_seconds")

    /// Records the acceptance time of commands that are durable and whose callers were notified.
    func accepted(_ commands: [MailboxCommand]) {
        let now = NIODeadline.now()
        for case .accept(let queued) in commands { acceptance.record(nanoseconds: now - queued.queuedAt) }
    }

    /// Measures a transaction including its sync.
    func committing(_ transaction: () throws -> Void) rethrows {
        let began = NIODeadline.now()
        try transaction()
        commit.record(nanoseconds: NIODeadline.now() - began)
    }

    /// Records the delivery time of notifications that a device has stored.
    func acknowledged(_ ids: [NotificationID], at now: Timestamp) {
        for id in ids {
            let elapsed = max(0, now.milliseconds(since: NotificationIDGenerator.instant(of: id)))
            delivery.recordMilliseconds(elapsed)
        }
    }

    /// Records the result of a sweep over all queued notifications.
    func swept(_ count: WaitingCount, at now: Timestamp) {
        waiting.record(count.count)
        let age = count.oldest.map { now.milliseconds(since: NotificationIDGenerator.instant(of: $0)) } ?? 0
        oldest.record(Double(max(0, age)) / 1000)
    }
}

extension Timer {
    fileprivate func record(nanoseconds time: TimeAmount) { recordNanoseconds(time.nanoseconds) }
}

/// The number of queued notifications that a sweep has passed so far, and the oldest of them.
struct WaitingCount: Sendable {
    private(set) var count = 0
    private(set) var oldest: NotificationID?

    mutating func add(_ slice: ExpiredSlice) {
        count += slice.count
        if let first = slice.oldest { oldest = min(oldest ?? first, first) }
    }
}

/// Counts the outcomes of notifications that waited for service extensions, by app and version. Devices report the
/// version.
struct ExtensionCounts {
    private var pairs = BoundedPairs(perFirst: 8, limit: 64)

    /// Counts a line with the state `extended`; `app` is `nil` where it is no longer registered.
    mutating func count(_ line: TimelineEntry, of app: RegisteredApp?) {
        guard case .extended(let text) = line.state, let outcome = ExtensionOutcome(text: text) else { return }
        let (topic, version) = pairs.labels(app?.topic.rawValue, ExtensionOutcome.version(note: line.note) ?? "none")
        Counter(
            label: "aldaba_app_extensions_total",
            dimensions: [("app", topic), ("version", version), ("outcome", outcome.rawValue)]
        ).increment()
    }
}
