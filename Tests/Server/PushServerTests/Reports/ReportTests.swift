import Foundation
import PushCore
import Testing

@testable import PushServer

private let now = Timestamp(seconds: 1_780_272_000)

private func outcome(_ states: (NotificationState, TimelineSource, Int64)...) -> DeliveryOutcome {
    DeliveryOutcome(
        acceptedAt: now,
        lines: states.map { TimelineEntry(at: now + .seconds($0.2), state: $0.0, source: $0.1) })
}

struct DeliveryOutcomeTests {
    @Test func `without a line it is pending`() { #expect(outcome().end == .pending) }

    @Test func `what its device has is delivered, whatever the server ended`() {
        #expect(outcome((.sent, .server, 0), (.acked, .server, 1)).end == .delivered)
        #expect(outcome((.withdrawn, .server, 2), (.acked, .server, 1)).end == .delivered)
        #expect(outcome((.opened, .app, 2)).end == .delivered)
    }

    @Test func `what the device gave up before its app took it is not`() {
        #expect(outcome((.acked, .server, 1), (.expired, .agent, 5)).end == .expired)
        #expect(outcome((.acked, .server, 1), (.dropped(.unregistered), .agent, 5)).end == .droppedUnregistered)
        #expect(outcome((.acked, .server, 1), (.presented, .desktop, 2), (.withdrawn, .agent, 5)).end == .delivered)
    }

    @Test func `what was soon there was prompt`() {
        #expect(outcome((.acked, .server, 10)).has(.prompt))
        #expect(!outcome((.acked, .server, 11)).has(.prompt))
    }

    @Test func `an outcome is read as it was written`() {
        for end in DeliveryOutcome.End.allCases {
            for stages in 0...127 as ClosedRange<Int64> {
                let encoded = stages | Int64(end.rawValue) << 8
                #expect(DeliveryOutcome(encoded: encoded)?.encoded == encoded)
            }
        }
        #expect(DeliveryOutcome(encoded: -1) == nil)
        #expect(DeliveryOutcome(encoded: 0xFF00) == nil)
        #expect(DeliveryOutcome(encoded: 1 << 16) == nil)
    }

    @Test func `what nobody will hear of any more has ended`() {
        #expect(outcome((.sent, .server, 0)).closed(isAttempt: true).end == .droppedOffline)
        #expect(outcome().closed(isAttempt: false).end == .expired)
        #expect(outcome((.acked, .server, 1)).closed(isAttempt: false).end == .delivered)
    }
}

struct ReportCountsTests {
    @Test func `counts are read as they were written, and names are different`() {
        var counts = ReportCounts()
        counts.accept(hasAlert: true)
        counts.count(outcome((.sent, .server, 0), (.acked, .server, 1)))
        #expect(ReportCounts(values: counts.values) == counts)
        #expect(counts.values.count == ReportCounts.names.count)
        #expect(Set(ReportCounts.names).count == ReportCounts.names.count)
        counts.count(outcome((.sent, .server, 0), (.acked, .server, 1)), by: -1)
        #expect(counts.ended == 0)
    }
}

struct DeliveryDataTests {
    private func row(_ outcomes: [DeliveryOutcome]) -> DeliveryDataAnswer.Row {
        var counts = ReportCounts()
        for outcome in outcomes {
            counts.accept(hasAlert: true)
            counts.count(outcome)
        }
        return DeliveryDataAnswer.Row(
            ReportRow(
                app: AppID(rawValue: 1), topic: Topic(rawValue: "com.example.todo"), day: ReportDay(now), lane: .fcm,
                label: "spring", counts: counts))
    }

    @Test func `shares are those of what was accepted, and of what was delivered`() {
        let row = row([
            outcome((.acked, .server, 1)), outcome((.acked, .server, 60)), outcome(),
            outcome((.dropped(.overflow), .server, 1)), outcome((.dropped(.inactive), .server, 1)),
            outcome((.replaced, .server, 1)), outcome((.expired, .server, 1)),
            outcome((.dropped(.offline), .server, 1)),
        ])
        let outcomes = row.data.messageOutcomePercents
        #expect(row.data.countMessagesAccepted == "8")
        #expect(outcomes.delivered == 25)
        #expect(outcomes.pending == 12.5)
        #expect(outcomes.collapsed == 12.5)
        #expect(outcomes.droppedTooManyPendingMessages == 12.5)
        #expect(outcomes.droppedDeviceInactive == 12.5)
        #expect(outcomes.droppedTtlExpired == 25)
        #expect(row.data.deliveryPerformancePercents.deliveredNoDelay == 50)
        #expect(row.data.deliveryPerformancePercents.delayedDeviceOffline == 50)
        #expect(row.date.year == 2026 && row.analyticsLabel == "spring")
    }

    @Test func `shares of nothing are 0`() {
        #expect(row([]).data.messageOutcomePercents.delivered == 0)
        #expect(row([]).data.deliveryPerformancePercents.deliveredNoDelay == 0)
    }
}

struct ReportDayTests {
    @Test(
        arguments: [
            ("1970-01-01", 0), ("1970-01-02", 1), ("2000-02-29", 11_016), ("2026-11-22", 20_779),
            ("9999-12-31", 2_932_896),
        ] as [(String, Int64)])
    func `a day has a number`(text: String, number: Int64) {
        #expect(ReportDay(text: text)?.number == number)
        #expect(ReportDay(number: number).description == text)
    }

    @Test(arguments: [
        "", "2026-02-29", "2026-13-01", "2026-00-01", "2026-1-1", "1969-12-31", "2026-11-31", "+026-01-01",
        "2026-01-01-",
    ])
    func `what is no day is none`(text: String) { #expect(ReportDay(text: text) == nil) }

    @Test func `a day begins at midnight`() {
        let day = ReportDay(now)
        #expect(ReportDay(day.beginning) == day)
        #expect(ReportDay(day.beginning.adding(milliseconds: -1)) == day + -1)
        #expect(ReportDay(Timestamp(rawValue: -1)).number == -1)
    }
}

struct PayloadMarksTests {
    private func marks(_ text: String) -> PayloadMarks { PayloadMarks(Array(text.utf8)) }

    @Test func `label and group are read where they stand`() {
        let marks = marks(
            #"{"google.c.a.m_l":"spring_1","aldaba":{"sync-group":"order 7","fetch-spread":1},"aps":{"alert":"x"}}"#)
        #expect(marks.label == "spring_1")
        #expect(marks.syncGroup == "order 7")
        #expect(marks.hasAlert)
    }

    @Test(arguments: [
        "", "{}", "[]", "nothing", #"{"google.c.a.m_l":7}"#, #"{"google.c.a.m_l":"two words"}"#,
        #"{"google.c.a.m_l":""}"#,
        #"{"a":{"google.c.a.m_l":"deep"}}"#, #"{"sync-group":"top"}"#, #"{"aldaba":"sync-group"}"#,
        #"{"aldaba":{"sync-group":""}}"#, #"{"aldaba":{"sync-group":7}}"#, #"{"google.c.a.m_l":"cut"#,
    ])
    func `what is none is none`(payload: String) {
        #expect(marks(payload).label.isEmpty)
        #expect(marks(payload).syncGroup == nil)
    }

    @Test func `what is too long is none`() {
        let long = String(repeating: "x", count: 65)
        #expect(marks(#"{"google.c.a.m_l":"\#(long)","aldaba":{"sync-group":"\#(long)"}}"#) == PayloadMarks([]))
    }
}

struct EventExportTests {
    private func event(label: String, audience: String?) throws -> ReportedNotification {
        ReportedNotification(
            id: NotificationID(rawValue: 7), apnsID: APNsID(rawValue: "a"), topic: Topic(rawValue: "com.example.todo"),
            device: try #require(DeviceID(5)), environment: .sandbox, lane: .fcm, label: label, audience: audience,
            entries: [TimelineEntry(at: Timestamp(seconds: 0), state: .acked, source: .server)])
    }

    @Test func `an event says its label and its topic, where it has them`() throws {
        let full = try event(label: "spring", audience: "'a' in topics")
        let bare = try event(label: "", audience: nil)
        #expect(ExportFormat.csv.heading(Event.columns).hasSuffix(",note,label,topic\r\n"))
        #expect(try ExportFormat.csv.lines(full).hasSuffix(",server,,spring,'a' in topics\r\n"))
        #expect(try ExportFormat.csv.lines(bare).hasSuffix(",server,,,\r\n"))
        #expect(try ExportFormat.jsonl.lines(full).contains(#""label":"spring""#))
        #expect(try ExportFormat.jsonl.lines(full).contains(#""topic":"'a' in topics""#))
        #expect(try !ExportFormat.jsonl.lines(bare).contains("label"))
    }

    @Test(arguments: [
        ("plain", "plain"), ("a,b", "\"a,b\""), ("say \"x\"", "\"say \"\"x\"\"\""), ("two\nlines", "\"two\nlines\""),
        ("=1+1", "'=1+1"), ("-1", "'-1"), ("", ""), ("a\r\nb", "\"a\r\nb\""),
    ])
    func `a field of a table is quoted where it must be`(field: String, quoted: String) {
        #expect(CSVField.quoted(field) == quoted)
    }
}
