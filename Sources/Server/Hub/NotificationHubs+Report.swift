import Audience
import HubWire
import PushModel
import ServerCore

extension NotificationHubs {
    /// How many recipients a report looks up, at most; those that were looked up longest ago come first.
    private static let mostLookedUp = 2000

    /// What became of a send.
    ///
    /// - Parameter timelines: Knows what became of each notification on this server's own devices.
    /// - Throws: ``HubFault`` where there is none.
    package func report(
        _ id: String, of hub: HubRecord, by timelines: any TimelineService
    ) async throws -> SendReport {
        let record = try await send(id, of: hub)
        try await follow(record, of: hub)
        try await lookUp(record, of: hub, by: timelines)
        var (counts, installations, byPart) = try await store.recipientCounts(of: record.number)
        if try await joinRepeated(record, rows: byPart) {
            (counts, installations, byPart) = try await store.recipientCounts(of: record.number)
        }
        let unreached = try await self.unreached(record, rows: byPart)
        // Those whom an experiment gives nothing are not meant.
        let leftOut = try await store.leftOut(of: record.number).filter { $0.key != .heldOut }
        if case .channels = record.request.target { installations = counts.reduce(0) { $0 + $1.count } }
        return SendReport(
            record.state, targeted: record.targeted, counts, seen: installations, leftOut: leftOut, unreached: unreached
        )
    }

    /// Updates the rows of recipients whose end is not final, from their timelines.
    private func lookUp(_ record: SendRecord, of hub: HubRecord, by timelines: any TimelineService) async throws {
        let begin = clock()
        let open = try await store.openRecipients(
            of: record.number, lookedUpBefore: begin, limit: Self.mostLookedUp)
        var changed: [SendRecipient] = []
        for recipient in open {
            var recipient = recipient
            if let found = try await timelines.timelines(
                of: SendSlice.id(hub, record, recipient).rawValue, team: hub.team
            ).first {
                recipient.follow(found)
            }
            changed.append(recipient)
        }
        if !changed.isEmpty { try await store.note(changed, of: record.number, lookedUpAt: begin) }
    }
}

extension SendRecipient {
    /// Takes in what this server knows of the notification by now.
    mutating func follow(_ timeline: NotificationTimeline) {
        var last = end
        for state in timeline.entries.map(\.state) {
            switch state {
            case .acked, .handed:
                reached.insert(.delivered)
                if last == .waiting { last = .delivered }
            case .presented:
                reached.formUnion([.delivered, .presented])
                if last == .waiting || last == .delivered { last = .presented }
            case .opened:
                reached.formUnion([.delivered, .opened])
                last = .opened
            case .action:
                reached.formUnion([.delivered, .action])
                last = .action
            case .dismissed:
                reached.formUnion([.delivered, .dismissed])
                if last != .opened, last != .action { last = .dismissed }
            case .expired where !last.isFinal:
                reached.insert(.expired)
                last = .expired
            case .replaced, .withdrawn, .dropped, .suppressed, .failed, .undecryptable:
                if !last.isFinal { last = .ended }
            default: break
            }
        }
        end = last
    }
}
