import HubProtocol
import PushCore
import PushServer

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
        var part: SendSegment?
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
