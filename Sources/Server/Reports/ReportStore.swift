import PushModel

/// Where reports are durable, and read from; the port that a store implements.
///
/// A store notes which notifications its changes concern. ``countChanges(limit:)`` looks at those again and keeps the counts
/// in step, slice by slice, so that accepting costs no more than that note.
package protocol ReportStore: Sendable {
    /// Counts what has changed since, at most about `limit` notifications, in one transaction.
    func countChanges(limit: Int) async throws -> CountedChanges

    /// The counts of a choice, ordered by day, app, lane and label; at most `limit` rows.
    func reports(_ choice: ReportChoice, limit: Int) async throws -> [ReportRow]

    /// The counts of a broadcast's copies, as far as they were counted; `nil` where there is no such broadcast, or it is another
    /// team's. Takes as long as there are copies.
    func broadcastCounts(_ id: NotificationID, team: TeamID?) async throws -> ReportCounts?

    /// Deletes the counts of days before one.
    func forgetReports(before day: ReportDay) async throws

    /// The notifications after one, in the order of their ids, accepted within some time, each with its timeline. Looks
    /// at no more than `limit`, whosever they are.
    func events(_ choice: EventChoice, after: NotificationID, limit: Int) async throws -> EventPage

    /// What is to be taken off other devices: members of sync groups of which one was opened or dismissed.
    func clearings(limit: Int) async throws -> [Clearing]

    /// Forgets some of them: they were taken off, or had ended.
    func forgetClearings(_ ids: [NotificationID]) async throws
}

/// What one slice of counting did.
package struct CountedChanges: Hashable, Sendable {
    /// What was added to all counts together.
    package var added = ReportCounts()
    /// Whether more is left to count.
    package var isMore = false
    /// Whether something is to be taken off other devices.
    package var hasClearings = false

    /// A slice in which there was nothing.
    package init() {}
}

/// One row of a report.
package struct ReportRow: Hashable, Sendable {
    /// The app.
    package var app: AppID
    /// Its topic.
    package var topic: Topic
    /// The day on which the notifications were accepted.
    package var day: ReportDay
    /// The lane by which they came.
    package var lane: Lane
    /// Their label; empty for those without one.
    package var label: String
    /// How far they came.
    package var counts: ReportCounts

    /// Makes a row.
    package init(app: AppID, topic: Topic, day: ReportDay, lane: Lane, label: String, counts: ReportCounts) {
        self.app = app
        self.topic = topic
        self.day = day
        self.lane = lane
        self.label = label
        self.counts = counts
    }
}

/// Which counts are asked for.
package struct ReportChoice: Hashable, Sendable {
    /// Those of this team's apps; `nil` for every team's.
    package var team: TeamID?
    /// Those of this app; `nil` for all of the team's.
    package var topic: Topic?
    /// Those with this label; `nil` for all.
    package var label: String?
    /// Those of this lane; `nil` for both.
    package var lane: Lane?
    /// The first and the last day.
    package var days: ClosedRange<ReportDay>

    /// Makes a choice.
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

    /// How many labels of an app are counted by themselves on one day; those beyond are counted without a label.
    package static let labelLimit = 100
}

/// Which events are asked for.
package struct EventChoice: Hashable, Sendable {
    /// Those of this team's notifications; `nil` for every team's.
    package var team: TeamID?
    /// Those of this app's; `nil` for all.
    package var topic: Topic?
    /// Those of notifications that were accepted within this time.
    package var accepted: Range<Timestamp>

    /// Makes a choice.
    package init(team: TeamID? = nil, topic: Topic? = nil, accepted: Range<Timestamp>) {
        self.team = team
        self.topic = topic
        self.accepted = accepted
    }
}

/// Some notifications with what became of them.
package struct EventPage: Hashable, Sendable {
    /// Those of the choice, in the order of their ids.
    package var notifications: [ReportedNotification] = []
    /// Where the next page goes on; `nil` when this was the last.
    package var next: NotificationID?

    /// A page with nothing on it, the last one.
    package init() {}
}

/// A notification with its events.
package struct ReportedNotification: Hashable, Sendable {
    /// Its id.
    package var id: NotificationID
    /// The name that its provider gave it, or the one that the server made.
    package var apnsID: APNsID
    /// The topic of its app.
    package var topic: Topic
    /// Its device.
    package var device: DeviceID
    /// Its environment.
    package var environment: PushEnvironment
    /// The lane by which it came.
    package var lane: Lane
    /// The label under which it was counted; empty where it has none, or was not counted yet.
    package var label: String
    /// The topic or the condition that it was sent to, as people read it; `nil` where it was sent to its device.
    package var audience: String?
    /// Its events, `accepted` first.
    package var entries: [TimelineEntry]

    /// Makes a notification with its events.
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

/// A notification that is to be taken off its device.
package struct Clearing: Hashable, Sendable {
    /// The notification.
    package var id: NotificationID
    /// Its device.
    package var device: DeviceID

    /// Names a notification on its device.
    package init(id: NotificationID, device: DeviceID) {
        self.id = id
        self.device = device
    }
}
