import PushCore

/// Counts in the form of the API.
struct CountsAnswer: Encodable {
    var accepted: Int
    /// The number with an alert; `nil` where that is not known, and the response has no such member.
    var notifications: Int?
    var sent: Int
    var received: Int
    var presented: Int
    var opened: Int
    var dismissed: Int
    var suppressed: Int
    /// The counts of the ends; their sum is ``accepted``.
    var ends: [String: Int]

    init(_ counts: ReportCounts, knowsAlerts: Bool = true) {
        accepted = counts.accepted
        notifications = knowsAlerts ? counts.notifications : nil
        sent = counts[.sent]
        received = counts[.received]
        presented = counts[.presented]
        opened = counts[.opened]
        dismissed = counts[.dismissed]
        suppressed = counts[.suppressed]
        ends = Dictionary(
            DeliveryOutcome.End.allCases.map { ($0.name, counts[$0]) }, uniquingKeysWith: { first, _ in first })
    }
}

/// A report in the form of the API.
struct ReportAnswer: Encodable {
    struct Row: Encodable {
        var app: String
        var day: String
        var lane: String
        var label: String?
        var counts: CountsAnswer

        init(_ row: ReportRow) {
            app = row.topic.rawValue
            day = row.day.description
            lane = row.lane == .fcm ? "fcm" : "apns"
            label = row.label.isEmpty ? nil : row.label
            counts = CountsAnswer(row.counts)
        }
    }

    var from: String
    var to: String
    var rows: [Row]
    var total: CountsAnswer

    init(_ rows: [ReportRow], _ choice: ReportChoice) {
        from = choice.days.lowerBound.description
        to = choice.days.upperBound.description
        self.rows = rows.map(Row.init)
        var sum = ReportCounts()
        for row in rows { sum += row.counts }
        total = CountsAnswer(sum)
    }
}

/// The report of one send, in the form of the API.
struct MessageReportAnswer: Encodable {
    var id: String
    var counts: CountsAnswer

    init(_ id: String, _ counts: ReportCounts) {
        self.id = id
        self.counts = CountsAnswer(counts)
    }

    /// Adds up timelines. They do not contain whether a notification had an alert, and a payload that a device has is
    /// not kept.
    init(_ id: String, _ timelines: [(acceptedAt: Timestamp, lines: [TimelineEntry])]) {
        self.id = id
        var sum = ReportCounts()
        for timeline in timelines {
            sum.accept(hasAlert: false)
            sum.count(DeliveryOutcome(acceptedAt: timeline.acceptedAt, lines: timeline.lines))
        }
        counts = CountsAnswer(sum, knowsAlerts: false)
    }
}

/// FCM's delivery data (`fcmdata` v1beta1).
struct DeliveryDataAnswer: Encodable {
    struct Day: Encodable {
        var year: Int64
        var month: Int64
        var day: Int64
    }

    struct Outcomes: Encodable {
        var delivered: Double
        var pending: Double
        var collapsed: Double
        var droppedTooManyPendingMessages: Double
        var droppedAppForceStopped: Double
        var droppedDeviceInactive: Double
        var droppedTtlExpired: Double
    }

    struct Performance: Encodable {
        var deliveredNoDelay: Double
        var delayedDeviceOffline: Double
        var delayedDeviceDoze: Double
        var delayedMessageThrottled: Double
        var delayedUserStopped: Double
    }

    struct Insights: Encodable {
        var priorityLowered: Double
    }

    struct Values: Encodable {
        var countMessagesAccepted: String
        var countNotificationsAccepted: String
        var messageOutcomePercents: Outcomes
        var deliveryPerformancePercents: Performance
        var messageInsightPercents: Insights
    }

    struct Row: Encodable {
        var appId: String
        var date: Day
        var analyticsLabel: String?
        var data: Values

        init(_ row: ReportRow) {
            let (counts, date) = (row.counts, row.day.date)
            func percent(_ part: Int, of whole: Int) -> Double {
                whole > 0 ? Double(part * 10_000 / whole) / 100 : 0
            }
            func share(_ ends: DeliveryOutcome.End...) -> Double {
                percent(ends.reduce(0) { $0 + counts[$1] }, of: counts.accepted)
            }
            let delivered = counts[.delivered]
            let prompt = min(counts[.prompt], delivered)
            appId = row.topic.rawValue
            self.date = Day(year: date.year, month: date.month, day: date.day)
            analyticsLabel = row.label.isEmpty ? nil : row.label
            data = Values(
                countMessagesAccepted: String(counts.accepted),
                countNotificationsAccepted: String(counts.notifications),
                messageOutcomePercents: Outcomes(
                    delivered: share(.delivered), pending: share(.pending), collapsed: share(.replaced),
                    droppedTooManyPendingMessages: share(.droppedOverflow), droppedAppForceStopped: 0,
                    droppedDeviceInactive: share(.droppedInactive, .droppedUnregistered),
                    droppedTtlExpired: share(.expired, .droppedOffline)),
                deliveryPerformancePercents: Performance(
                    deliveredNoDelay: percent(prompt, of: delivered),
                    delayedDeviceOffline: percent(delivered - prompt, of: delivered), delayedDeviceDoze: 0,
                    delayedMessageThrottled: 0, delayedUserStopped: 0),
                messageInsightPercents: Insights(priorityLowered: 0))
        }
    }

    var androidDeliveryData: [Row]
    var nextPageToken: String?
}
