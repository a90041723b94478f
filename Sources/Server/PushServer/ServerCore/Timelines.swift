import APNsProtocol
import PushCore

/// Finds notifications with their timelines, as the timeline API shows them.
package struct Timelines: TimelineService {
    private let store: any NotificationStore
    private let mailboxes: MailboxService
    /// The time at which this run of the server began. Attempts of earlier runs have no session that could still
    /// acknowledge them.
    private let startedAt: Timestamp

    /// Creates the timelines of a store whose writer is a service.
    package init(store: any NotificationStore, mailboxes: MailboxService) {
        self.store = store
        self.mailboxes = mailboxes
        startedAt = mailboxes.now
    }

    /// Waits until timelines written behind are durable, then reads. Lines are ordered by time, and within two seconds
    /// by cause.
    ///
    /// - Throws: ``TimelinesNotWritten``, or the store's error when it cannot be read.
    package func timelines(of reference: String, team: TeamID?) async throws -> [NotificationTimeline] {
        let id = NotificationID(text: reference) ?? ServerAPNsID.id(of: reference)
        // A notification that was accepted before this call is in the store when it is read.
        try await mailboxes.flushNotes()
        let found = try await store.timelines(id: id, apnsID: APNsID(rawValue: reference), team: team).map(completed)
        if found.isEmpty, let id, let owner = try await store.isUnrecorded(id, team: team) {
            return [
                NotificationTimeline(
                    id: id, apnsID: ServerAPNsID.apnsID(of: id), team: owner, topic: Topic(rawValue: ""), device: nil,
                    environment: nil, recorded: false, entries: [])
            ]
        }
        return found
    }

    private func completed(_ timeline: NotificationTimeline) -> NotificationTimeline {
        var timeline = timeline
        if timeline.apnsID.rawValue.isEmpty { timeline.apnsID = ServerAPNsID.apnsID(of: timeline.id) }
        if let end = unknownEnd(of: timeline) { timeline.entries.append(end) }
        timeline.entries = TimelineEntry.ordered(timeline.entries)
        return timeline
    }

    /// The end of an attempt that an earlier run of the server left open. It is returned, not stored: if the device
    /// sends the notification's id at a later login, its acknowledgement replaces this line.
    private func unknownEnd(of timeline: NotificationTimeline) -> TimelineEntry? {
        guard timeline.isAttempt, let accepted = timeline.entries.first, accepted.at < startedAt,
            timeline.entries.allSatisfy({ $0.state == .accepted || $0.state == .sent })
        else { return nil }
        return TimelineEntry(
            at: startedAt, state: .dropped(.offline), source: .server,
            note: "the server ended before the device acknowledged it; whether it arrived is unknown")
    }
}
