import APNsWire
import PushModel

/// Finds notifications with their timelines, as the timeline API shows them.
public struct Timelines: TimelineService {
    private let store: any NotificationStore
    private let mailboxes: MailboxService
    /// When this run of the server began. Attempts of earlier runs have no session that could still acknowledge them.
    private let startedAt: Timestamp

    /// The timelines of a store whose writer is this service.
    public init(store: any NotificationStore, mailboxes: MailboxService) {
        self.store = store
        self.mailboxes = mailboxes
        startedAt = mailboxes.now
    }

    /// Waits until what was written behind is durable, then reads; lines are ordered by time, and within two seconds by
    /// cause.
    ///
    /// - Throws: ``TimelinesNotWritten``, or what the store says when it cannot be read.
    public func timelines(of reference: String, team: TeamID?) async throws -> [NotificationTimeline] {
        let id = NotificationID(text: reference) ?? ServerAPNsID.id(of: reference)
        // What was accepted before this question is in the store when it is read.
        try await mailboxes.flushNotes()
        let found = try await store.timelines(id: id, apnsID: reference.lowercased(), team: team).map(completed)
        if found.isEmpty, let id, let owner = try await store.isUnrecorded(id, team: team) {
            return [
                NotificationTimeline(
                    id: id, apnsID: ServerAPNsID.text(of: id), team: owner, topic: Topic(rawValue: ""), device: nil,
                    environment: nil, recorded: false, entries: [])
            ]
        }
        return found
    }

    private func completed(_ timeline: NotificationTimeline) -> NotificationTimeline {
        var timeline = timeline
        if timeline.apnsID.isEmpty { timeline.apnsID = ServerAPNsID.text(of: timeline.id) }
        if let end = unknownEnd(of: timeline) { timeline.entries.append(end) }
        timeline.entries = Self.ordered(timeline.entries)
        return timeline
    }

    /// The end of an attempt that an earlier run of the server left open. It is told, not stored: should the device
    /// name the notification at a later login, its acknowledgement takes this line's place.
    private func unknownEnd(of timeline: NotificationTimeline) -> TimelineEntry? {
        guard timeline.isAttempt, let accepted = timeline.entries.first, accepted.at < startedAt,
            timeline.entries.allSatisfy({ $0.state == .accepted || $0.state == .sent })
        else { return nil }
        return TimelineEntry(
            at: startedAt, state: .dropped(.offline), source: .server,
            note: "the server ended before the device acknowledged it; whether it arrived is unknown")
    }

    /// How far apart two clocks, or a state and its record, may be before time decides over cause.
    static let toleranceMilliseconds: Int64 = 2000

    /// Orders lines by time; where two lie close together, by the order of a notification's life.
    ///
    /// Lines come from two machines, and an acknowledgement is noted when the server has heard of it: the app's
    /// answer may bear an earlier time by then. A line whose effect is recorded up to two seconds before it is
    /// put before that effect; the times themselves stay as they were seen.
    static func ordered(_ entries: [TimelineEntry]) -> [TimelineEntry] {
        let keyed = entries.enumerated().map { offset, entry in
            let effects = entries.lazy
                .filter { $0.state.order > entry.state.order && $0.at < entry.at }
                .map(\.at)
                .filter { entry.at.milliseconds(since: $0) <= toleranceMilliseconds }
            return (at: effects.min() ?? entry.at, order: entry.state.order, offset: offset, entry: entry)
        }
        return keyed.sorted { ($0.at, $0.order, $0.offset) < ($1.at, $1.order, $1.offset) }.map(\.entry)
    }
}

extension NotificationState {
    /// The state's place in a notification's life, for lines of the same millisecond.
    fileprivate var order: Int {
        switch self {
        case .accepted: 0
        case .stored: 1
        case .sent: 2
        case .acked: 3
        case .extended: 4
        case .presented: 5
        case .opened, .action, .dismissed: 6
        case .handed: 7
        case .expired, .replaced, .withdrawn, .suppressed, .dropped, .failed: 8
        }
    }
}
