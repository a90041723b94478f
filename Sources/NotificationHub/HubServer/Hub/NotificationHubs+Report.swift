import HubProtocol
import PushCore
import PushServer

extension NotificationHubs {
    /// The maximum number of recipients that a report looks up, the least recently looked up first.
    private static let mostLookedUp = 2000

    /// Makes the report of a send.
    ///
    /// - Parameter timelines: The source of the timelines of notifications on this server's own devices.
    /// - Throws: ``HubFault`` where there is no such send.
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
        let unreachedParts = try await self.unreached(record, rows: byPart)
        let leftOut = try await store.leftOut(of: record.number)
        if case .channels = record.request.target { installations = counts.reduce(0) { $0 + $1.count } }
        let isWhole = record.targeted <= installations && unreachedParts.isEmpty
        let (unreached, others) = isWhole ? ([], [:]) : try await withoutRow(record, hub, unreachedParts)
        return SendReport(
            record.state, targeted: record.targeted, counts, seen: installations, leftOut: leftOut,
            unreached: unreached, others: others)
    }

    /// The counts of a send's members that have no row: the members of each part, and all others.
    private func withoutRow(
        _ record: SendRecord, _ hub: HubRecord, _ parts: [UnreachedMembers]
    ) async throws -> ([SendReport.Unreached], others: SendReport.Traits) {
        guard case .audience = record.request.target else { return ([], [:]) }
        let known = try await store.installationsWithRow(ofSend: record.number)
        let index = try await traits(of: hub)
        var inParts = Bitmap()
        var unreached: [SendReport.Unreached] = []
        for of in parts {
            let (part, end, count) = (of.part, of.end, of.count)
            let members = try await readableAudience(of: part)?.subtracting(known) ?? Bitmap()
            inParts = inParts.union(members)
            let (traits, gone) = try await traits(of: members, index, hub)
            // A deleted installation gets nothing any more.
            let lost = end == .waiting ? max(0, min(gone - of.ownerless, count)) : 0
            let named: SendReport.Traits = part.variant.map { [.variant: [$0: count - lost]] } ?? [:]
            unreached.append(.init(end: end, count: count - lost, traits: traits.merging(named) { $1 }))
            if lost > 0 { unreached.append(.init(end: .ineligible, count: lost)) }
        }
        let others: Bitmap
        do {
            others = try await store.audience(ofSend: record.number).subtracting(known).subtracting(inParts)
        } catch is UnreadableSend { others = Bitmap() }
        return (unreached, try await traits(of: others, index, hub).0)
    }

    /// The traits of some installations, counted. Those that cannot be reached now are looked up in the store.
    ///
    /// - Returns: The counts, and how many of the installations that were looked up no longer exist.
    private func traits(
        of audience: Bitmap, _ index: AudienceIndex, _ hub: HubRecord
    ) async throws -> (SendReport.Traits, gone: Int) {
        var (counts, absent) = index.traits(of: audience)
        let numbers = absent.numbers(limit: Self.mostLookedUp)
        let installations = try await store.installations(numbers, hub: hub.number).map(\.installation)
        for found in installations {
            counts[.platform, default: [:]][found.platform.text, default: 0] += 1
            if let locale = found.locale { counts[.locale, default: [:]][locale.lowercased(), default: 0] += 1 }
            if let version = found.appVersion { counts[.version, default: [:]][version, default: 0] += 1 }
        }
        return (counts, numbers.count - installations.count)
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
    /// Updates the row from the timeline of its notification.
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
