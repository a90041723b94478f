import Networking
import PushCore
import Testing

@testable import ControlAPI

@Suite struct MetricsHistoryTests {
    private static let start = Timestamp(seconds: 1_780_272_000)

    private func totals(accepted: Int, refused: [String: Int] = [:], waiting: Int = 0) -> MetricsTotals {
        var totals = MetricsTotals()
        (totals.accepted, totals.refused, totals.waiting) = (accepted, refused, waiting)
        return totals
    }

    @Test func `what was added since the last record belongs to the minute of the record`() {
        var history = MetricsHistory()
        history.record(totals(accepted: 3, waiting: 1), at: Self.start)
        history.record(totals(accepted: 5, refused: ["BadDeviceToken": 2], waiting: 4), at: Self.start + .seconds(59))
        history.record(totals(accepted: 6, refused: ["BadDeviceToken": 2]), at: Self.start + .seconds(60))
        let samples = history.samples(.hour, until: Self.start + .seconds(61))
        #expect(samples.map(\.at) == [Self.start, Self.start + .seconds(60)])
        #expect(samples.map(\.counts.accepted) == [5, 1])
        #expect(samples.map(\.counts.refused) == [["BadDeviceToken": 2], [:]])
        #expect(samples.map(\.counts.waiting) == [4, 0])
    }

    @Test func `an hour has sixty minutes, and a day has quarters of an hour with the sums of theirs`() {
        var history = MetricsHistory()
        for minute in 0..<120 {
            history.record(totals(accepted: minute + 1), at: Self.start + .seconds(60 * minute))
        }
        let end = Self.start + .seconds(60 * 119)
        #expect(history.samples(.hour, until: end).count == 60)
        #expect(history.samples(.hour, until: end).allSatisfy { $0.counts.accepted == 1 })
        let day = history.samples(.day, until: end)
        #expect(day.map(\.counts.accepted) == Array(repeating: 15, count: 8))
        #expect(day.first?.at == Self.start)
    }

    @Test func `a day is kept and no more`() {
        var history = MetricsHistory()
        for minute in 0..<(3 * MetricsHistory.limit) {
            history.record(totals(accepted: minute), at: Self.start + .seconds(60 * minute))
        }
        let end = Self.start + .seconds(60 * (3 * MetricsHistory.limit - 1))
        let day = history.samples(.day, until: end)
        #expect(day.count == 96 && day.map(\.counts.accepted).reduce(0, +) == MetricsHistory.limit)
    }

    @Test func `a clock that was set back adds to the newest minute`() {
        var history = MetricsHistory()
        history.record(totals(accepted: 1), at: Self.start)
        history.record(totals(accepted: 4), at: Self.start + .seconds(-600))
        #expect(history.samples(.hour, until: Self.start).map(\.counts.accepted) == [4])
    }

    @Test func `the counters of all interfaces are read, and what was accepted is no refusal`() {
        func sample(_ name: String, _ label: (String, String), _ value: Double) -> MetricSample {
            MetricSample(.counter, name, [label], value: value)
        }
        let totals = MetricsTotals([
            sample("aldaba_notification_states_total", ("state", "accepted"), 7),
            sample("aldaba_notification_states_total", ("state", "received"), 6),
            sample("aldaba_notification_states_total", ("state", "presented"), 5),
            sample("aldaba_notification_states_total", ("state", "opened"), 4),
            sample("aldaba_provider_requests_total", ("outcome", "accepted"), 7),
            sample("aldaba_provider_requests_total", ("outcome", "BadDeviceToken"), 2),
            sample("aldaba_provider_requests_total", ("outcome", "BadTopic"), 0),
            sample("aldaba_fcm_requests_total", ("outcome", "validated"), 1),
            sample("aldaba_fcm_requests_total", ("outcome", "UNREGISTERED"), 1),
            sample("aldaba_legacy_pushes_total", ("outcome", "taken"), 1),
            MetricSample(.gauge, "aldaba_sessions", value: 3),
            MetricSample(.gauge, "aldaba_notifications_waiting", value: 9),
            MetricSample(.counter, "aldaba_store_failures_total", value: 1),
        ])
        #expect([totals.accepted, totals.delivered, totals.shown] == [7, 6, 5])
        #expect(totals.refused == ["BadDeviceToken": 2, "UNREGISTERED": 1])
        #expect([totals.connected, totals.waiting, totals.storeFailures] == [3, 9, 1])
    }
}
