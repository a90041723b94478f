import Audience
import HubWire
import PushModel
import ServerCore

/// How many recipients of a send have something in common.
package struct RecipientCount: Hashable, Sendable {
    /// The platform of their installations.
    package var platform: HubPlatform
    /// Their locale.
    package var locale: String?
    /// The version of their app.
    package var appVersion: String?
    /// What the push service said; `nil` where it was not asked, or is asked again.
    package var outcome: SendOutcome?
    /// The push service's own word, or why it was not asked.
    package var reason: String?
    /// How it ended, or how far it is.
    package var end: SendReport.End
    /// What is known to have happened.
    package var reached: SendRecipient.Reached
    /// Whether it was handed over at least once.
    package var isTried: Bool
    /// How many they are.
    package var count: Int

    /// Brings the parts together.
    package init(
        platform: HubPlatform, locale: String?, appVersion: String?, outcome: SendOutcome?, reason: String?,
        end: SendReport.End, reached: SendRecipient.Reached, isTried: Bool, count: Int
    ) {
        self.platform = platform
        self.locale = locale
        self.appVersion = appVersion
        self.outcome = outcome
        self.reason = reason
        self.end = end
        self.reached = reached
        self.isTried = isTried
        self.count = count
    }
}

/// How many came how far; each step is of those before it, but for what people did.
package struct SendFunnel: Hashable, Sendable {
    /// A step of the funnel.
    package enum Step: String, Sendable, CaseIterable {
        /// They were meant.
        case targeted
        /// They were there when their turn came.
        case eligible
        /// They were handed to the push service.
        case attempted
        /// The push service took them.
        case accepted
        /// The device has them.
        case delivered
        /// They were shown.
        case presented
        /// A person opened them.
        case opened
        /// A person chose an action.
        case action
        /// A person dismissed them.
        case dismissed
        /// Their time was over before they arrived.
        case expired

        /// Who says so.
        package var source: String {
            switch self {
            case .targeted, .eligible, .attempted: "hub"
            case .accepted: "push service"
            case .delivered, .presented: "device"
            case .opened, .action, .dismissed: "person"
            case .expired: "server"
            }
        }

        /// Whether it is about what a person did, not about the way to the screen.
        package var isEngagement: Bool { source == "person" }
    }

    /// The counts by step; a step that is missing has none.
    package private(set) var counts: [Step: Int] = [:]

    /// A funnel of nobody.
    package init() {}

    /// How many came to a step.
    package subscript(step: Step) -> Int { counts[step, default: 0] }

    /// Adds some recipients.
    mutating func add(_ recipients: RecipientCount) {
        let steps: [(Step, Bool)] = [
            (.targeted, true), (.eligible, recipients.end != .ineligible), (.attempted, recipients.isTried),
            (.accepted, recipients.outcome == .success), (.delivered, recipients.reached.contains(.delivered)),
            (.presented, recipients.reached.contains(.presented)), (.opened, recipients.reached.contains(.opened)),
            (.action, recipients.reached.contains(.action)),
            (.dismissed, recipients.reached.contains(.dismissed)), (.expired, recipients.reached.contains(.expired)),
        ]
        for (step, holds) in steps where holds { counts[step, default: 0] += recipients.count }
    }

    /// Adds some whose turn has not come.
    mutating func add(waiting count: Int) { counts[.targeted, default: 0] += count }
}

/// What became of a send or campaign on the way to people.
///
/// Of templates each notification counts; of everything else each installation. The ends add up to those who were targeted.
package struct SendReport: Hashable, Sendable {
    /// How it ended for one, or how far it is.
    package enum End: String, Sendable, CaseIterable {
        /// Its turn has not come, or it is tried again.
        case pending
        /// It was gone, dead or over before its turn, or nothing was to be sent to it.
        case ineligible
        /// The push service did not take it.
        case refused
        /// Another push service took it, which tells no more.
        case accepted
        /// It waits for the device.
        case waiting
        /// The device has it.
        case delivered
        /// It was shown.
        case presented
        /// A person opened it.
        case opened
        /// A person chose an action.
        case action
        /// A person dismissed it.
        case dismissed
        /// Its time was over before it arrived.
        case expired
        /// It was given up, replaced, taken back or not shown.
        case ended

        /// Whether no more can become known.
        package var isFinal: Bool {
            switch self {
            case .pending, .waiting, .delivered, .presented: false
            case .ineligible, .refused, .accepted, .opened, .action, .dismissed, .expired, .ended: true
            }
        }
    }

    /// By what a report is broken down.
    package enum Dimension: String, Sendable, CaseIterable {
        /// The push service.
        case platform
        /// The installation's language and region.
        case locale
        /// The version of the app.
        case version
        /// The push service's own word, or why nothing was sent.
        case reason
    }

    /// Where the send is on its way.
    package var state: SendState
    /// All together.
    package var funnel = SendFunnel()
    /// How each ended; the counts add up to those who were targeted.
    package var ends: [End: Int] = [:]
    /// The funnel of each value of a dimension; unknown values have an empty name.
    /// Those whose turn has not come are not in it.
    package var parts: [Dimension: [String: SendFunnel]] = [:]

    /// - Parameter unreached: Counts of members of broadcast parts that have no row, by their end.
    init(
        _ record: SendRecord, _ counts: [RecipientCount], installations: Int, leftOut: Int,
        unreached: [(end: End, count: Int)] = []
    ) {
        state = record.state
        for count in counts {
            funnel.add(count)
            ends[count.end, default: 0] += count.count
            for dimension in Dimension.allCases {
                let value =
                    switch dimension {
                    case .platform: count.platform.text
                    case .locale: count.locale
                    case .version: count.appVersion
                    case .reason: count.outcome == .success ? nil : count.reason
                    }
                guard dimension != .reason || value != nil else { continue }
                parts[dimension, default: [:]][value ?? "", default: SendFunnel()].add(count)
            }
        }
        let seen =
            switch record.request.target {
            case .channels: counts.reduce(0) { $0 + $1.count }
            case .audience: installations
            }
        if leftOut > 0 {
            funnel.add(waiting: leftOut)
            ends[.ineligible, default: 0] += leftOut
        }
        for (end, count) in unreached {
            let some = RecipientCount(
                platform: .aldaba, locale: nil, appVersion: nil, outcome: .success, reason: nil, end: end,
                reached: end == .expired ? .expired : [], isTried: true, count: count)
            funnel.add(some)
            ends[end, default: 0] += count
            parts[.platform, default: [:]][HubPlatform.aldaba.text, default: SendFunnel()].add(some)
        }
        let left = max(0, record.targeted - seen - leftOut - unreached.reduce(0) { $0 + $1.count })
        guard left > 0 else { return }
        funnel.add(waiting: left)
        ends[record.state.isFinal ? .ended : .pending, default: 0] += left
    }
}

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
        let (counts, installations, byPart) = try await store.recipientCounts(of: record.number)
        let unreached = try await self.unreached(record, rows: byPart)
        // Those whom an experiment gives nothing are not meant.
        let leftOut = try await store.leftOut(of: record.number).filter { $0.key != .heldOut }.values.reduce(0, +)
        return SendReport(record, counts, installations: installations, leftOut: leftOut, unreached: unreached)
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

    private func reportable(_ id: String, of hub: HubRecord) async throws -> (SendRecord, Bitmap) {
        let record = try await send(id, of: hub)
        guard record.request.format != .template, case .audience = record.request.target else {
            throw HubFault.conflict("native sends and campaigns to an audience alone can be withdrawn")
        }
        return (record, try await store.audience(ofSend: record.number))
    }

    /// Takes back what was sent: what waits does not arrive, and devices that may have it take it off their screens.
    ///
    /// What was handed over as one is taken back at once, everybody else's one by one.
    ///
    /// - Returns: How many notifications were taken back.
    package func withdraw(
        _ id: String, of hub: HubRecord, timelines: any TimelineService, by withdrawal: any NotificationWithdrawal
    ) async throws -> Int {
        var (record, audience) = try await reportable(id, of: hub)
        if !record.state.isFinal { record = try await cancel(id, of: hub) }
        var count = 0
        for part in try await store.parts(ofSend: record.number) {
            guard let broadcast = part.broadcast, part.withdrawnAt == nil else { continue }
            try await gateway?.withdraw(broadcast)
            try await store.noteWithdrawn(part, at: now)
            audience = audience.subtracting(try await store.audience(of: part))
            count += part.count
        }
        var next: UInt32? = 0
        while let start = next {
            let numbers = audience.numbers(from: start, limit: SendSlice.largest)
            next = numbers.count < SendSlice.largest ? nil : numbers.last.flatMap { $0 < .max ? $0 + 1 : nil }
            for number in numbers where record.request.plan.isSpread || number < record.cursor {
                let id = SendSlice.id(hub, record, "\(number)").rawValue
                let outcome = try await takeBack(id, hub, timelines, withdrawal)
                if outcome == .withdrawn || outcome == .mayHaveArrived { count += 1 }
            }
        }
        return count
    }

    /// Takes back the notification of an id; `nil` where there is none.
    func takeBack(
        _ id: String, _ hub: HubRecord, _ timelines: any TimelineService, _ withdrawal: any NotificationWithdrawal
    ) async throws -> WithdrawalOutcome? {
        guard let found = try await timelines.timelines(of: id, team: hub.team).first, let device = found.device else {
            return nil
        }
        return await withCheckedContinuation { continuation in
            withdrawal.withdraw(found.id, of: device) { continuation.resume(returning: $0) }
        }
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
