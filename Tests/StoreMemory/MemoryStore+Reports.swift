import PushCore
import PushServer

/// The counted outcomes of notifications, and the members of sync groups: a value.
struct CountedNotifications: Sendable {
    struct Counted: Sendable {
        var place: ReportRow
        var outcome: DeliveryOutcome
        var hasAlert: Bool
    }

    var counted: [NotificationID: Counted] = [:]
    var groups: [NotificationID: (app: AppID, device: DeviceID, name: String)] = [:]
    var clearings: [NotificationID: Clearing] = [:]

    /// Counts a notification again.
    ///
    /// - Returns: The difference to the earlier count.
    mutating func count(_ record: NotificationRecord, content: [UInt8], lines: [TimelineEntry], topic: Topic)
        -> ReportCounts
    {
        let outcome = DeliveryOutcome(acceptedAt: record.acceptedAt, lines: lines)
        var added = ReportCounts()
        if let before = counted[record.id] {
            added.count(before.outcome, by: -1)
            added.count(outcome)
            counted[record.id]?.outcome = outcome
            if Self.isAnswered(outcome), !Self.isAnswered(before.outcome) { clear(groupOf: record.id) }
            return added
        }
        let marks = PayloadMarks(content)
        let place = ReportRow(
            app: record.subject.app, topic: topic, day: ReportDay(record.acceptedAt), lane: record.lane,
            label: marks.label, counts: ReportCounts())
        counted[record.id] = Counted(place: limited(place), outcome: outcome, hasAlert: marks.hasAlert)
        if let group = marks.syncGroup { groups[record.id] = (record.subject.app, record.subject.device, group) }
        added.accept(hasAlert: marks.hasAlert)
        added.count(outcome)
        if Self.isAnswered(outcome) { clear(groupOf: record.id) }
        return added
    }

    private static func isAnswered(_ outcome: DeliveryOutcome) -> Bool {
        outcome.has(.opened) || outcome.has(.dismissed)
    }

    /// The row's key, without its label where the limit of labels is exceeded.
    private func limited(_ place: ReportRow) -> ReportRow {
        let labels = Set(
            counted.values.map(\.place)
                .filter { $0.app == place.app && $0.day == place.day && $0.lane == place.lane && !$0.label.isEmpty }
                .map(\.label))
        guard labels.count >= ReportChoice.labelLimit, !labels.contains(place.label) else { return place }
        var unlabelled = place
        unlabelled.label = ""
        return unlabelled
    }

    private mutating func clear(groupOf id: NotificationID) {
        guard let group = groups[id] else { return }
        for (other, member) in groups where member.app == group.app && member.name == group.name {
            groups[other] = nil
            if other != id { clearings[other] = Clearing(id: other, device: member.device) }
        }
    }
}

extension MemoryStore: ReportStore {
    /// Counts everything again, whatever the limit.
    package func countChanges(limit: Int) async throws -> CountedChanges {
        state.withLock { state in
            var result = CountedChanges()
            // Members first: a group must be complete before it is cleared.
            for record in state.rows.all {
                result.added += state.counted.count(
                    record, content: state.rows.content(of: record), lines: [],
                    topic: state.register.app(record.subject.app)?.topic ?? Topic(rawValue: ""))
            }
            for record in state.rows.all {
                result.added += state.counted.count(
                    record, content: [], lines: state.rows.lines(of: record.id), topic: Topic(rawValue: ""))
            }
            result.hasClearings = !state.counted.clearings.isEmpty
            return result
        }
    }

    /// Adds up the counts.
    package func reports(_ choice: ReportChoice, limit: Int) async throws -> [ReportRow] {
        state.withLock { state in
            var rows: [ReportRow: ReportCounts] = [:]
            for counted in state.counted.counted.values {
                let place = counted.place
                guard choice.days.contains(place.day), choice.topic == nil || choice.topic == place.topic,
                    choice.label == nil || choice.label == place.label, choice.lane == nil || choice.lane == place.lane,
                    choice.team == nil || choice.team == state.register.app(place.app)?.team
                else { continue }
                rows[place, default: ReportCounts()].accept(hasAlert: counted.hasAlert)
                rows[place, default: ReportCounts()].count(counted.outcome)
            }
            let summed = rows.map { place, counts in
                var row = place
                row.counts = counts
                return row
            }
            return Array(
                summed.sorted {
                    ($0.day.number, $0.app.rawValue, $0.lane.rawValue, $0.label)
                        < ($1.day.number, $1.app.rawValue, $1.lane.rawValue, $1.label)
                }.prefix(limit))
        }
    }

    /// Adds up the counts of the copies.
    package func broadcastCounts(_ id: NotificationID, team: TeamID?) async throws -> ReportCounts? {
        state.withLock { state in
            guard let stored = state.topics.broadcasts[id], team == nil || team == stored.broadcast.team else {
                return nil
            }
            var sum = ReportCounts()
            for record in state.rows.copies(of: PayloadID(rawValue: id.rawValue)) {
                guard let counted = state.counted.counted[record.id] else { continue }
                sum.accept(hasAlert: counted.hasAlert)
                sum.count(counted.outcome)
            }
            return sum
        }
    }

    /// Deletes the counts of those days.
    package func forgetReports(before day: ReportDay) async throws {
        state.withLock { state in
            state.counted.counted = state.counted.counted.filter { $0.value.place.day >= day }
        }
    }

    /// Reads the next notifications.
    package func events(_ choice: EventChoice, after: NotificationID, limit: Int) async throws -> EventPage {
        state.withLock { state in
            let slice = state.rows.all.filter { $0.id > after && choice.accepted.contains($0.acceptedAt) }.prefix(limit)
            var page = EventPage()
            for record in slice {
                guard let app = state.register.app(record.subject.app), choice.team == nil || choice.team == app.team,
                    choice.topic == nil || choice.topic == app.topic, let found = state.timeline(record.id)
                else { continue }
                var draft: BroadcastDraft?
                if case .shared(let id) = record.payload {
                    draft = state.topics.broadcasts[NotificationID(rawValue: id.rawValue)]?.draft
                }
                let isOfTopics = draft.map { !$0.target.topics.isEmpty } ?? false
                page.notifications.append(
                    ReportedNotification(
                        id: record.id, apnsID: found.apnsID, topic: app.topic, device: record.subject.device,
                        environment: record.subject.environment, lane: record.lane,
                        label: state.counted.counted[record.id]?.place.label ?? "",
                        audience: isOfTopics ? draft?.written : nil,
                        entries: TimelineEntry.ordered(found.entries)))
            }
            if slice.count == limit { page.next = slice.last?.id }
            return page
        }
    }

    /// The oldest clearings.
    package func clearings(limit: Int) async throws -> [Clearing] {
        state.withLock { state in
            Array(state.counted.clearings.values.sorted { $0.id < $1.id }.prefix(limit))
        }
    }

    /// Deletes the clearings.
    package func forgetClearings(_ ids: [NotificationID]) async throws {
        state.withLock { state in for id in ids { state.counted.clearings[id] = nil } }
    }
}
