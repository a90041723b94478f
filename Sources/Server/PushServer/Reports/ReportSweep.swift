import Logging
import Metrics
import Networking
import PushCore

/// Keeps the counts up to date, and clears notifications from other devices that were answered on one.
package struct ReportSweep: Sendable {
    private let store: any ReportStore
    private let withdrawal: any NotificationWithdrawal
    private let clock: @Sendable () -> Timestamp
    private let logger: Logger

    /// The number of notifications that one transaction counts: it delays the writer by some milliseconds.
    private static let slice = 500
    private static let clearingSlice = 100
    /// The number of days for which counts are kept.
    private static let memory: Int64 = 400

    /// Creates the sweep over a store.
    package init(
        store: any ReportStore, withdrawal: any NotificationWithdrawal, clock: @escaping @Sendable () -> Timestamp,
        logger: Logger
    ) {
        self.store = store
        self.withdrawal = withdrawal
        self.clock = clock
        self.logger = logger
        // Each end is exported from now on, as 0.
        _ = Self.ends
    }

    /// Counts changed notifications, slice by slice, and withdraws the resulting clearings. After each slice the sweep
    /// pauses for as long as the slice took.
    package func round() async {
        do {
            while try await countSlice().isMore {}
            try await clear()
            try await store.forgetReports(before: ReportDay(clock()) + -Self.memory)
        } catch is CancellationError {
        } catch {
            logger.error("reports could not be counted", metadata: [LogKey.error: "\(error)"])
        }
    }

    /// Counts all changes up to now, for five seconds at most. A request for a report waits no longer, even where more
    /// is accepted than can be counted.
    ///
    /// - Throws: The store's error.
    package func catchUp() async throws {
        let end = ContinuousClock.now + .seconds(5)
        while try await countSlice().isMore, ContinuousClock.now < end {}
    }

    private func countSlice() async throws -> CountedChanges {
        let began = ContinuousClock.now
        let changes = try await store.countChanges(limit: Self.slice)
        Self.count(changes.added)
        if changes.isMore { try await Task.sleep(for: ContinuousClock.now - began) }
        return changes
    }

    /// The counters by end. All are created at once, so that each is exported from the beginning.
    private static let ends = Dictionary(
        uniqueKeysWithValues: DeliveryOutcome.End.allCases.filter { $0 != .pending }.map {
            ($0, Counter(label: "aldaba_notification_ends_total", dimensions: [("reason", $0.name)]))
        })

    /// Counts by state, of a closed set. A notification whose end changes after it was counted is counted again.
    private static func count(_ added: ReportCounts) {
        for (name, amount) in zip(ReportCounts.names, added.values) where amount > 0 {
            Counter(label: "aldaba_notification_states_total", dimensions: [("state", name)]).increment(by: amount)
        }
        for (reason, counter) in ends where added[reason] > 0 { counter.increment(by: added[reason]) }
    }

    /// Withdraws the notifications to be cleared from other devices. Those that could not be withdrawn are retried in
    /// the next round.
    private func clear() async throws {
        while true {
            let clearings = try await store.clearings(limit: Self.clearingSlice)
            guard !clearings.isEmpty else { return }
            var done: [NotificationID] = []
            for clearing in clearings {
                let outcome = await withCheckedContinuation { continuation in
                    withdrawal.withdraw(clearing.id, of: clearing.device) { continuation.resume(returning: $0) }
                }
                if outcome != .failed { done.append(clearing.id) }
            }
            Counter(label: "aldaba_sync_group_clearings_total").increment(by: done.count)
            try await store.forgetClearings(done)
            if done.count < clearings.count { return }
        }
    }
}
