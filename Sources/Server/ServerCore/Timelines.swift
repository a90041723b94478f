import APNsWire
import PushModel

/// Answers for where a notification is, and why.
public struct Timelines: TimelineService {
    private let store: any NotificationStore

    public init(store: any NotificationStore) { self.store = store }

    public func timelines(of reference: String, team: TeamID?) async throws -> [NotificationTimeline] {
        let id = NotificationID(text: reference) ?? ServerAPNsID.id(of: reference)
        let found = try await store.timelines(id: id, apnsID: reference.lowercased())
            .filter { team == nil || $0.team == team }
            .map(Self.completed)
        if found.isEmpty, let id, let owner = try await store.isUnrecorded(id, team: team) {
            return [
                NotificationTimeline(
                    id: id, apnsID: ServerAPNsID.text(of: id), team: owner, topic: Topic(rawValue: ""), device: nil,
                    environment: nil, recorded: false, entries: [])
            ]
        }
        return found
    }

    /// Orders the lines by time; at one instant in the order of a notification's life.
    private static func completed(_ timeline: NotificationTimeline) -> NotificationTimeline {
        var timeline = timeline
        if timeline.apnsID.isEmpty { timeline.apnsID = ServerAPNsID.text(of: timeline.id) }
        timeline.entries = timeline.entries.enumerated().sorted { left, right in
            (left.element.at, left.element.state.order, left.offset)
                < (right.element.at, right.element.state.order, right.offset)
        }.map(\.element)
        return timeline
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
