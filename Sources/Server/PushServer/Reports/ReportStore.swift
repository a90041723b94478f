import PushCore

/// Durable storage of reports; the port that a store implements.
///
/// A store records which notifications its changes concern. ``countChanges(limit:)`` counts those again and keeps the
/// counts up to date, slice by slice, so that accepting costs no more than that record.
package protocol ReportStore: Sendable {
    /// Counts the notifications that have changed, at most about `limit`, in one transaction.
    func countChanges(limit: Int) async throws -> CountedChanges

    /// The counts of a selection, ordered by day, app, lane and label; at most `limit` rows.
    func reports(_ choice: ReportChoice, limit: Int) async throws -> [ReportRow]

    /// The counts of a broadcast's copies, as far as they were counted; `nil` where there is no such broadcast, or it
    /// is another team's. Takes time proportional to the number of copies.
    func broadcastCounts(_ id: NotificationID, team: TeamID?) async throws -> ReportCounts?

    /// Deletes the counts of the days before a day.
    func forgetReports(before day: ReportDay) async throws

    /// The notifications after an id, in the order of their ids, accepted within a range of time, each with its
    /// timeline. Reads no more than `limit`, of whichever team.
    func events(_ choice: EventChoice, after: NotificationID, limit: Int) async throws -> EventPage

    /// The notifications to be cleared from other devices: members of sync groups of which one was opened or dismissed.
    func clearings(limit: Int) async throws -> [Clearing]

    /// Deletes some clearings: the notifications were withdrawn, or had ended.
    func forgetClearings(_ ids: [NotificationID]) async throws
}

/// The result of one slice of counting.
package struct CountedChanges: Hashable, Sendable {
    /// The sum that was added to all counts.
    package var added = ReportCounts()
    /// Whether more notifications are left to count.
    package var isMore = false
    /// Whether notifications are to be cleared from other devices.
    package var hasClearings = false

    /// Creates the result of an empty slice.
    package init() {}
}

/// A row of a report.
package struct ReportRow: Hashable, Sendable {
    /// The app.
    package var app: AppID
    /// The app's topic.
    package var topic: Topic
    /// The day on which the notifications were accepted.
    package var day: ReportDay
    /// The lane through which they were sent.
    package var lane: Lane
    /// The notifications' label; empty for those without one.
    package var label: String
    /// The counts of the notifications.
    package var counts: ReportCounts

    /// Creates a row.
    package init(app: AppID, topic: Topic, day: ReportDay, lane: Lane, label: String, counts: ReportCounts) {
        self.app = app
        self.topic = topic
        self.day = day
        self.lane = lane
        self.label = label
        self.counts = counts
    }
}

/// A selection of counts.
package struct ReportChoice: Hashable, Sendable {
    /// The team whose apps are counted; `nil` for every team's.
    package var team: TeamID?
    /// The topic of the app that is counted; `nil` for all of the team's.
    package var topic: Topic?
    /// The label of the notifications that are counted; `nil` for all.
    package var label: String?
    /// The lane of the notifications that are counted; `nil` for both.
    package var lane: Lane?
    /// The first and the last day.
    package var days: ClosedRange<ReportDay>

    /// Creates a selection.
    package init(
        team: TeamID? = nil, topic: Topic? = nil, label: String? = nil, lane: Lane? = nil,
        days: ClosedRange<ReportDay>
    ) {
        self.team = team
        self.topic = topic
        self.label = label
        self.lane = lane
        self.days = days
    }

    /// The maximum number of labels of an app that are counted separately on one day; others are counted without a
    /// label.
    package static let labelLimit = 100
}

/// A selection of events.
package struct EventChoice: Hashable, Sendable {
    /// The team whose notifications are selected; `nil` for every team's.
    package var team: TeamID?
    /// The topic of the app whose notifications are selected; `nil` for all.
    package var topic: Topic?
    /// The range of time in which the notifications were accepted.
    package var accepted: Range<Timestamp>

    /// Creates a selection.
    package init(team: TeamID? = nil, topic: Topic? = nil, accepted: Range<Timestamp>) {
        self.team = team
        self.topic = topic
        self.accepted = accepted
    }
}

/// A page of notifications with their events.
package struct EventPage: Hashable, Sendable {
    /// The notifications of the selection, in the order of their ids.
    package var notifications: [ReportedNotification] = []
    /// The position at which the next page continues; `nil` when this was the last.
    package var next: NotificationID?

    /// Creates an empty page, which is the last one.
    package init() {}
}

/// A notification with its events.
package struct ReportedNotification: Hashable, Sendable {
    /// The notification's id.
    package var id: NotificationID
    /// The `apns-id` of the provider, or the one that the server made.
    package var apnsID: APNsID
    /// The topic of its app.
    package var topic: Topic
    /// The device's id.
    package var device: DeviceID
    /// The registration's environment.
    package var environment: PushEnvironment
    /// The lane through which it was sent.
    package var lane: Lane
    /// The label under which it was counted; empty where it has none, or was not counted yet.
    package var label: String
    /// The topic or condition that it was sent to, in readable form; `nil` where it was sent to its device.
    package var audience: String?
    /// The events, `accepted` first.
    package var entries: [TimelineEntry]

    /// Creates a notification with its events.
    package init(
        id: NotificationID, apnsID: APNsID, topic: Topic, device: DeviceID, environment: PushEnvironment, lane: Lane,
        label: String = "", audience: String? = nil, entries: [TimelineEntry]
    ) {
        self.id = id
        self.apnsID = apnsID
        self.label = label
        self.audience = audience
        self.topic = topic
        self.device = device
        self.environment = environment
        self.lane = lane
        self.entries = entries
    }
}

/// A notification that is to be cleared from its device.
package struct Clearing: Hashable, Sendable {
    /// The notification.
    package var id: NotificationID
    /// The device's id.
    package var device: DeviceID

    /// Creates a clearing of a notification on its device.
    package init(id: NotificationID, device: DeviceID) {
        self.id = id
        self.device = device
    }
}
