import APNsProtocol
import Crypto
import HubProtocol
import PushCore

/// The results of a slice: ids, verdicts, and the rows of the report.
extension SendSlice {
    /// The id of one part's notification, the same at every attempt (a UUID of version 8, RFC 9562).
    func id(_ part: String) -> APNsID { Self.id(hub, record, part) }

    /// The id of a recipient's notification.
    static func id(_ hub: HubRecord, _ record: SendRecord, _ recipient: SendRecipient) -> APNsID {
        if let copy = recipient.notification { return ServerAPNsID.apnsID(of: copy) }
        let isPlace = recipient.part.first == "#"
        return id(
            hub, record,
            isPlace ? String(recipient.part.dropFirst()) : "\(recipient.installation)\(recipient.part)")
    }

    /// The id of one part; without a template, the part is the installation's number, or the channel's index.
    static func id(_ hub: HubRecord, _ record: SendRecord, _ part: String) -> APNsID {
        var bytes = Array(SHA256.hash(data: Array("\(hub.number)/\(record.id)/\(part)".utf8)).prefix(16))
        bytes[6] = bytes[6] & 0x0F | 0x80
        bytes[8] = bytes[8] & 0x3F | 0x80
        let digits = bytes.map { ($0 < 16 ? "0" : "") + String($0, radix: 16) }
        let groups = [digits[0..<4], digits[4..<6], digits[6..<8], digits[8..<10], digits[10..<16]]
        return APNsID(rawValue: groups.map { $0.joined() }.joined(separator: "-"))
    }

    /// Submits items to their senders, to different senders concurrently.
    ///
    /// - Returns: A verdict for each; `nil` where one is unknown.
    func deliver(_ items: [Item], _ isSkipped: [Bool]) async -> [PushVerdict]? {
        var verdicts = items.indices.map { index in
            isSkipped[index]
                ? PushVerdict(.skipped)
                : items[index].refusal ?? PushVerdict(.invalidCredentials, reason: "NoSender")
        }
        return await withTaskGroup(of: ([Int], [PushVerdict?]).self) { group in
            for platform in HubPlatform.allCases {
                let places = items.indices.filter {
                    items[$0].push.platform == platform && !isSkipped[$0] && items[$0].list == nil
                        && items[$0].refusal == nil
                }
                guard let sender = hubs.senders[platform], !places.isEmpty else { continue }
                let pushes = places.map { items[$0].push }
                group.addTask { [hub] in (places, await sender.deliver(pushes, of: hub)) }
            }
            let listed = items.indices.filter { items[$0].list != nil && !isSkipped[$0] }
            if let gateway = hubs.gateway, !listed.isEmpty {
                let pushes = listed.map { items[$0].push }
                group.addTask { [hub] in (listed, await gateway.examine(pushes, of: hub)) }
            }
            var isKnown = true
            for await (places, told) in group {
                for (place, verdict) in zip(places, told) {
                    if let verdict { verdicts[place] = verdict } else { isKnown = false }
                }
            }
            return isKnown ? verdicts : nil
        }
    }

    /// The progress of a slice, to be recorded.
    ///
    /// - Parameter triesAgain: Whether notifications that could not be accepted are retried.
    func progress(
        _ items: [Item], verdicts: [PushVerdict], cursor: UInt32, isEnd: Bool, triesAgain: Bool
    ) async throws -> SendProgress {
        let now = hubs.now
        var progress = SendProgress(
            cursor: cursor, step: record.step, isEnd: isEnd, counts: [], faults: [], deadChannels: [], at: now)
        for verdict in verdicts { progress.evidence.add(verdict.environment) }
        var known = progress.evidence
        if known.bad > 0 {
            known = try await hubs.store.environmentEvidence(of: record.number)
            for verdict in verdicts { known.add(verdict.environment) }
        }
        progress.fault = known.words
        var counts = OutcomeCounts()
        for (item, verdict) in zip(items, verdicts) {
            var verdict = verdict
            if known.isFault, case .doubtful? = verdict.environment { verdict.outcome = .wrongToken }
            let recipient = recipient(item, verdict: verdict, at: now, triesAgain: triesAgain)
            progress.recipients.append(recipient)
            guard let outcome = recipient.outcome else { continue }
            counts.add(item.push.platform, outcome)
            guard outcome != .success else {
                if let variant = item.variant { progress.variants[variant, default: 0] += 1 }
                continue
            }
            progress.faults.append(
                SendFault(installation: recipient.installation, name: item.name, outcome: outcome, at: now))
            guard let owner = item.owner, outcome == .badChannel || outcome == .expiredChannel else {
                continue
            }
            progress.deadChannels.append(
                DeadChannel(
                    installation: owner.number, channel: owner.installation.channelKey ?? item.push.channel.key,
                    fault: ChannelFault(
                        word: verdict.reason ?? outcome.rawValue,
                        at: verdict.diedAt.flatMap { $0.rawValue > 0 ? $0 : nil } ?? now),
                    diedAt: verdict.diedAt))
        }
        progress.counts = counts.list
        return progress
    }

    /// The most characters of a reason that is noted; a push service of an installation's own may say anything.
    private static let longestReason = 200

    private func recipient(
        _ item: Item, verdict: PushVerdict, at now: Timestamp, triesAgain: Bool
    ) -> SendRecipient {
        let isHandedOver = verdict.outcome != .skipped && item.refusal == nil
        let attempts = (item.before?.attempts ?? 0) + (isHandedOver ? 1 : 0)
        let firstAt = item.before?.firstAt ?? now
        let retryAt = verdict.retryAfter.flatMap { wish in
            triesAgain ? RetryRule.next(retryAfter: wish, attempts: attempts, firstAt: firstAt, now: now) : nil
        }
        let end: SendReport.End =
            switch verdict.outcome {
            case .success: verdict.isTraced ? .waiting : .accepted
            case .skipped: .ineligible
            default: retryAt == nil ? .refused : .pending
            }
        var recipient = SendRecipient(
            installation: item.owner?.number ?? 0, part: item.part, name: item.name, platform: item.push.platform,
            locale: item.owner?.installation.locale?.lowercased(), appVersion: item.owner?.installation.appVersion,
            outcome: retryAt == nil ? verdict.outcome : nil,
            reason: String((verdict.reason ?? verdict.outcome.rawValue).prefix(Self.longestReason)), end: end, at: now,
            attempts: attempts, firstAt: firstAt, retryAt: retryAt)
        recipient.isTraced = verdict.isTraced
        recipient.list = item.list
        recipient.variant = item.variant
        return recipient
    }

    static func results(_ items: [Item], _ verdicts: [PushVerdict]) -> [TestResult] {
        zip(items, verdicts).map { item, verdict in
            TestResult(
                platform: item.push.platform, channel: item.push.channel.key, installation: item.name,
                outcome: verdict.outcome)
        }
    }
}

/// Counts outcomes by platform.
private struct OutcomeCounts {
    private struct Key: Hashable {
        var platform: HubPlatform
        var outcome: SendOutcome
    }
    private var counts: [Key: Int] = [:]

    mutating func add(_ platform: HubPlatform, _ outcome: SendOutcome) {
        counts[Key(platform: platform, outcome: outcome), default: 0] += 1
    }

    var list: [OutcomeCount] {
        counts.map { OutcomeCount(platform: $0.platform, outcome: $0.outcome, count: $1) }
    }
}
