import HubProtocol
import PushCore

/// A slice of a send: submits its next notifications.
struct SendSlice: Sendable {
    let hubs: NotificationHubs
    let hub: HubRecord
    var record: SendRecord
    /// The parts that were handed over as broadcasts. Their members are only checked, not handed over again.
    var parts: [(number: Int64, audience: Bitmap)] = []

    /// Installations or channels in one slice, at most.
    static let largest = 512
    /// Bytes of payloads after which a slice takes no further installation: as many as the largest that any push service takes
    /// have for all of a slice. A template may make many payloads for one installation.
    static let mostBytes = largest * 5120
    /// How many installations are read at once.
    static let page = 64

    /// The number of installations or channels in one slice of this send.
    var size: Int { min(Self.largest, max(1, record.request.rate ?? Self.largest)) }

    /// The time at which the next slice may begin, so that the rate per second is not exceeded.
    private func nextAt(_ count: Int) -> Timestamp? {
        record.request.rate.map { hubs.now.adding(milliseconds: Int64(count) * 1000 / Int64(max(1, $0))) }
    }

    /// An error: the verdicts of some notifications are unknown.
    struct Interrupted: Error, CustomStringConvertible {
        var description: String { "it is not known what became of a slice; it is handed over again" }
    }

    /// Hands over one slice.
    ///
    /// - Returns: The progress to be recorded, and, if `collects` is set, the result of each notification.
    /// - Throws: ``Interrupted`` where some verdicts are unknown: nothing is recorded, and all are submitted again.
    func run(_ audience: Bitmap, collects: Bool = false) async throws -> (SendProgress, [TestResult]) {
        var items: [Item] = []
        var cursor = record.cursor
        var isEnd: Bool
        var isSkipped: [Bool] = []
        var absent: [SendRecipient] = []
        switch record.request.target {
        case .channels(let channels):
            let next = channels.dropFirst(Int(cursor)).prefix(size)
            items = try await self.items(Array(next), from: Int(cursor))
            cursor += UInt32(next.count)
            isEnd = Int(cursor) >= channels.count
            isSkipped = items.map { _ in false }
        case .audience(let text):
            let next = audience.numbers(from: cursor, limit: size)
            let made = try await make(for: next, try content(text))
            let numbers = next.prefix(made.count)
            items = made.items
            for index in items.indices { items[index].list = list(of: items[index].owner) }
            absent = self.absent(numbers, installations: made.owners, items: items)
            isEnd = next.count < size && numbers.count == next.count
            if let last = numbers.last { cursor = last &+ 1 }
            let repeated = try await repeated(items, audience)
            isSkipped = items.map { $0.owner.map { repeated.contains($0.number) } ?? false }
        }
        guard let verdicts = await deliver(items, isSkipped) else { throw Interrupted() }
        var progress = try await progress(
            items, verdicts: verdicts, cursor: cursor, isEnd: isEnd, triesAgain: !collects)
        progress.recipients += absent
        progress.separateListed()
        progress.nextAt = nextAt(items.count)
        return (progress, collects ? Self.results(items, verdicts) : [])
    }

    /// The items whose channel belongs to another member that comes first, whenever that one is processed. Templates
    /// are always sent.
    private func repeated(_ items: [Item], _ audience: Bitmap) async throws -> Set<UInt32> {
        guard record.request.format != .template else { return [] }
        let owners = items.compactMap(\.owner).filter(\.installation.isRegistration)
        let earlier = try await hubs.store.earlierOwners(of: owners, hub: hub.number, at: hubs.now)
        guard !earlier.isEmpty else { return [] }
        var everybody = audience
        if record.request.campaign != nil {
            // A wave contains only some of the send's members.
            everybody = try await hubs.store.audience(ofSend: record.number)
            // A member of the hold-out group takes precedence over no other.
            if let out = try await hubs.store.audiencesLeftOut(ofSend: record.number)[.heldOut] {
                everybody = everybody.subtracting(out)
            }
        }
        return Set(earlier.filter { $0.value.contains { everybody.contains($0) } }.keys)
    }

    private func list(of owner: StoredInstallation?) -> Int64? {
        guard let owner else { return nil }
        return parts.first { $0.audience.contains(owner.number) }?.number
    }

    /// Retries notifications that a push service could not accept. A recipient in quiet hours waits for their end, or
    /// is left out.
    ///
    /// - Throws: ``Interrupted``, as ``run(_:collects:)``.
    func run(again due: [SendRecipient]) async throws -> SendProgress {
        var items: [Item] = []
        var due = due
        switch record.request.target {
        case .channels(let channels):
            for recipient in due {
                guard let place = Int(recipient.part.dropFirst()), channels.indices.contains(place) else { continue }
                items += try await self.items([channels[place]], from: place)
            }
        case .audience(let text):
            let numbers = Array(Set(due.map(\.installation)))
            let made = try await make(for: numbers, try content(text))
            items = made.items
            // Those behind the last that was made stay due.
            let seen = Set(numbers.prefix(made.count))
            due.removeAll { !seen.contains($0.installation) }
        }
        struct Key: Hashable {
            var installation: UInt32
            var part: String
        }
        var waiting = Dictionary(
            due.map { (Key(installation: $0.installation, part: $0.part), $0) }, uniquingKeysWith: { $1 })
        items = items.compactMap { item in
            guard let before = waiting.removeValue(forKey: Key(installation: item.owner?.number ?? 0, part: item.part))
            else { return nil }
            var item = item
            item.before = before
            return item
        }
        let held = takeQuiet(from: &items)
        guard let verdicts = await deliver(items, items.map { _ in false }) else { throw Interrupted() }
        var progress = try await progress(
            items, verdicts: verdicts, cursor: record.cursor, isEnd: false, triesAgain: true)
        progress.recipients += held
        progress.nextAt = nextAt(items.count)
        progress.recipients += waiting.values.map { gone in
            var gone = gone
            (gone.end, gone.reason, gone.retryAt) = (.ineligible, "Gone", nil)
            return gone
        }
        return progress
    }

    /// Removes recipients from a retry that are in quiet hours now.
    ///
    /// - Returns: Their rows. For a recipient that waits, the half hour continues after the quiet hours.
    private func takeQuiet(from items: inout [Item]) -> [SendRecipient] {
        guard let quiet = record.request.plan.quiet else { return [] }
        let now = hubs.now
        var held: [SendRecipient] = []
        items.removeAll { item in
            guard var row = item.before else { return false }
            if let rules = hubs.rules(item.owner?.installation.timeZone, quiet.unknownZone) {
                guard let end = quiet.end(in: rules, now: now) else { return false }
                if quiet.then == .wait {
                    row.firstAt = row.firstAt.adding(milliseconds: end.milliseconds(since: now))
                    row.retryAt = end
                } else {
                    (row.end, row.reason, row.retryAt) = (.ineligible, ExclusionReason.quiet.rawValue, nil)
                }
            } else {
                (row.end, row.reason, row.retryAt) = (.ineligible, ExclusionReason.unknownZone.rawValue, nil)
            }
            held.append(row)
            return true
        }
        return held
    }

    /// Rows for targeted installations that get no notification, each with the reason.
    private func absent(
        _ numbers: ArraySlice<UInt32>, installations: [StoredInstallation], items: [Item]
    ) -> [SendRecipient] {
        let found = Dictionary(installations.map { ($0.number, $0) }, uniquingKeysWith: { $1 })
        let present = Set(items.compactMap(\.owner?.number))
        let now = hubs.now
        return numbers.filter { !present.contains($0) }.map { number in
            let owner = found[number]
            let why =
                switch owner {
                case nil: "Gone"
                case let owner? where owner.fault != nil || owner.installation.channel == nil: "DeadChannel"
                case let owner? where owner.installation.expiresAt.map { $0 <= now } ?? false: "Expired"
                default: "NoTemplate"
                }
            var row = SendRecipient.ineligible(number, owner, why: why, at: now)
            row.list = parts.first { $0.audience.contains(number) }?.number
            return row
        }
    }
}
