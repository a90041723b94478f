import APNsProtocol
import PushCore
import PushServer

/// Reads that join notifications with the register.
extension MemoryStore.State {
    func page(device: DeviceID, after: NotificationID?, limit: Int, now: Timestamp) -> [OutgoingNotification] {
        let page = rows.waiting(for: device).lazy.filter { record in
            after.map { record.id > $0 } ?? true && record.expiresAt.map { $0 > now } ?? true
        }
        let notices = rows.tombstones(of: device).filter { tombstone in after.map { tombstone.id > $0 } ?? true }
        let recalls = rows.recalls(of: device).filter { recall in after.map { recall.id > $0 } ?? true }
        let all = page.compactMap(outgoing) + notices.compactMap(outgoing) + recalls.compactMap(outgoing)
        return Array(all.sorted { $0.id < $1.id }.prefix(limit))
    }

    /// A recall as a device gets it; `nil` when its notification no longer exists, or its app was removed.
    private func outgoing(_ recall: Mailbox.Recall) -> OutgoingNotification? {
        guard let record = rows.record(recall.notification), let app = register.app(record.subject.app),
            !register.isRemoved(app.id)
        else { return nil }
        return OutgoingNotification(
            .withdrawn(recall.notification), id: recall.id, team: app.team, topic: app.topic,
            environment: record.subject.environment, lane: record.lane, at: recall.at)
    }

    /// A tombstone as a device gets it; `nil` when its app was removed.
    private func outgoing(_ tombstone: Mailbox.Tombstone) -> OutgoingNotification? {
        guard let app = register.app(tombstone.app), !register.isRemoved(app.id) else { return nil }
        return OutgoingNotification(
            .deleted(count: tombstone.count, since: tombstone.since), id: tombstone.id, team: app.team,
            topic: app.topic, environment: tombstone.environment, lane: tombstone.lane, at: tombstone.since)
    }

    /// A notification as a device gets it; `nil` when its app was removed.
    private func outgoing(_ record: NotificationRecord) -> OutgoingNotification? {
        guard let app = register.app(record.subject.app), !register.isRemoved(app.id) else { return nil }
        return OutgoingNotification(
            id: record.id, apnsID: record.apnsID ?? ServerAPNsID.apnsID(of: record.id), team: app.team,
            topic: app.topic, environment: record.subject.environment, lane: record.lane, pushType: record.pushType,
            priority: record.priority, collapseID: record.collapseID, acceptedAt: record.acceptedAt,
            expiresAt: record.expiresAt, payload: rows.content(of: record))
    }

    /// The notifications with an `apns-id`, of one team or of all; of refused ones each team's newest 50.
    func ids(forAPNsID apnsID: APNsID, team: TeamID?) -> [NotificationID] {
        let accepted = rows.records(forAPNsID: apnsID.lookUpKey).filter {
            team == nil || register.app($0.subject.app)?.team == team
        }
        let refused = rows.refusals.values.filter {
            $0.apnsID?.lookUpKey == apnsID.lookUpKey && (team == nil || $0.team == team)
        }
        let newest = Dictionary(grouping: refused, by: \.team).values.flatMap { $0.map(\.id).sorted().suffix(50) }
        return accepted.map(\.id) + newest
    }

    func timeline(_ id: NotificationID) -> NotificationTimeline? {
        if let record = rows.record(id) { return timeline(record) }
        guard let refusal = rows.refusals[id] else { return broadcastTimeline(id) }
        let refused = TimelineEntry(
            at: refusal.at, state: .failed(refusal.code), source: .server, note: refusal.note)
        return NotificationTimeline(
            id: id, apnsID: refusal.apnsID ?? ServerAPNsID.apnsID(of: id), team: refusal.team,
            topic: Topic(rawValue: refusal.topic), device: nil, environment: nil, isAttempt: false,
            entries: [refused] + rows.lines(of: id))
    }

    private func timeline(_ record: NotificationRecord) -> NotificationTimeline {
        let app = register.app(record.subject.app)
        let states: [NotificationState] = record.waits ? [.accepted, .stored] : [.accepted]
        let entries = states.map { state in
            TimelineEntry(
                at: record.acceptedAt, state: state, source: .server, note: state == .accepted ? record.note : nil)
        }
        return NotificationTimeline(
            id: record.id, apnsID: record.apnsID ?? ServerAPNsID.apnsID(of: record.id),
            team: app?.team ?? TeamID(rawValue: ""), topic: app?.topic ?? Topic(rawValue: ""),
            device: record.subject.device, environment: record.subject.environment,
            isAttempt: record.expiresAt == nil, entries: entries + rows.lines(of: record.id))
    }
}
