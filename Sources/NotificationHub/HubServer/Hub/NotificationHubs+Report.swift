import HubProtocol
import PushCore
import PushServer

extension NotificationHubs {
    /// The maximum number of recipients that a report looks up, the least recently looked up first.
    private static let mostLookedUp = 2000

    /// Makes the report of a send.
    ///
    /// - Parameter timelines: The source of the timelines of notifications on this server's own devices.
    /// - Throws: ``HubError`` where there is no such send.
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
        let (unreached, others) = isWhole ? ([], [:]) : try await withoutRow(record, hub: hub, parts: unreachedParts)
        return SendReport(
            record.state, targeted: record.targeted, counts, seen: installations, leftOut: leftOut,
            unreached: unreached, others: others)
    }

    /// The counts of a send's members that have no row: the members of each part, and all others.
    private func withoutRow(
        _ record: SendRecord, hub: HubRecord, parts: [UnreachedMembers]
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
        if !changed.isEmpty { try await store.updateRecipients(changed, of: record.number, lookedUpAt: begin) }
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

/// A list of all recipients of a send.
extension NotificationHubs {
    /// A page of a send's recipients, brought up to date. A recipient that was not yet processed is pending; a member
    /// of a part without a copy has the part's end.
    ///
    /// - Parameter place: The last recipient of the previous page.
    package func recipients(
        of record: SendRecord, hub: HubRecord, after place: (installation: UInt32, part: String)?, limit: Int,
        by timelines: any TimelineService
    ) async throws -> [SendRecipient] {
        if place == nil { try await follow(record, of: hub) }
        var page = try await store.recipients(of: record.number, after: place, limit: limit)
        for index in page.indices where !page[index].end.isFinal && page[index].end != .pending {
            if let id = notificationID(of: page[index], in: record, hub: hub),
                let found = try await timelines.timelines(of: id, team: hub.team).first
            {
                page[index].follow(found)
            }
        }
        page += try await membersWithoutRow(
            beside: page, of: record, hub, after: place?.installation ?? 0, limit: limit)
        // The parts are compared by bytes, as in the store.
        page.sort { first, second in
            first.installation == second.installation
                ? first.part.utf8.lexicographicallyPrecedes(second.part.utf8)
                : first.installation < second.installation
        }
        return Array(page.prefix(limit))
    }

    /// The id of a recipient's notification: its `apns-id` on this server's own devices and at Apple. `nil` where
    /// nothing was submitted: the recipient was not yet processed, gets nothing, or a part makes a copy for it later.
    package func notificationID(of recipient: SendRecipient, in record: SendRecord, hub: HubRecord) -> String? {
        guard recipient.notification != nil || recipient.list == nil && recipient.attempts > 0,
            recipient.end != .ineligible
        else { return nil }
        return SendSlice.id(hub, record, recipient).rawValue
    }

    /// The members of a send without a row that belong on a page of rows.
    private func membersWithoutRow(
        beside rows: [SendRecipient], of record: SendRecord, _ hub: HubRecord, after number: UInt32, limit: Int
    ) async throws -> [SendRecipient] {
        guard case .audience = record.request.target, number < .max else { return [] }
        let members = try await members(of: record, from: number + 1, limit: limit)
        // After a full page there are more rows.
        let end: UInt32 = rows.count == limit ? rows.last?.installation ?? .max : .max
        let known = Set(rows.map(\.installation))
        let numbers = members.keys.filter { !known.contains($0) && $0 < end }.sorted().prefix(limit)
        let found = Dictionary(
            try await store.installations(Array(numbers), hub: hub.number).map { ($0.number, $0) },
            uniquingKeysWith: { $1 })
        return numbers.compactMap { number in
            guard let member = members[number] else { return nil }
            let isGone = member.end == .waiting && found[number] == nil
            var row = SendRecipient.ineligible(
                number, found[number], why: isGone ? "Gone" : member.why ?? "ExclusionReason",
                at: record.startedAt ?? record.enqueuedAt)
            row.variant = member.part?.variant
            row.list = member.part?.number
            guard !isGone else { return row }
            row.end = member.end
            if member.end != .ineligible { row.reason = nil }
            guard member.part != nil else { return row }
            row.attempts = 1
            row.outcome = .success
            row.reason = SendOutcome.success.rawValue
            if member.end == .expired { row.reached = .expired }
            return row
        }
    }

    /// A member of a send that has no row.
    private struct Member {
        var end: SendReport.End
        /// The part that contains the member.
        var part: SendPart?
        /// The reason why the member is left out.
        var why: String?
    }

    /// The next members of a send, by number, with the end that they have without a row.
    private func members(
        of record: SendRecord, from start: UInt32, limit: Int
    ) async throws -> [UInt32: Member] {
        var members: [UInt32: Member] = [:]
        for part in try await store.parts(ofSend: record.number) {
            guard let end = part.end(of: record, at: now) else { continue }
            for number in try await store.audience(of: part).numbers(from: start, limit: limit) {
                members[number] = Member(end: end, part: part)
            }
        }
        let leavesOut = try await store.leftOut(of: record.number).contains { $0.value > 0 }
        guard leavesOut || record.state != .completed else { return members }
        let leftOut = leavesOut ? try await store.audiencesLeftOut(ofSend: record.number) : [:]
        let inWaves = leavesOut ? try await store.audienceOfWaves(ofSend: record.number) : nil
        let rest: SendReport.End = record.state.isFinal ? .ended : .pending
        for number in try await store.audience(ofSend: record.number).numbers(from: start, limit: limit)
        where members[number] == nil {
            if let why = ExclusionReason.allCases.first(where: { leftOut[$0]?.contains(number) ?? false }) {
                members[number] = Member(end: .ineligible, why: why.rawValue)
            } else {
                members[number] = Member(end: inWaves.map { $0.contains(number) } ?? true ? rest : .ineligible)
            }
        }
        return members
    }
}
