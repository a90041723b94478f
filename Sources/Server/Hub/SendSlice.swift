import Audience
import CarriageWire
import HubWire
import PushModel

/// Hands over the next notifications of a send.
struct SendSlice: Sendable {
    let hubs: NotificationHubs
    let hub: HubRecord
    let record: SendRecord
    /// The parts that were handed over as broadcasts. Their members are only checked, not handed over again.
    var parts: [(number: Int64, audience: Bitmap)] = []

    /// Installations or channels in one slice.
    static let largest = 512

    /// Installations or channels in one slice of this send.
    var size: Int { min(Self.largest, max(1, record.request.rate ?? Self.largest)) }

    /// When the next slice may begin, so that no more than the rate are handed over in a second.
    private func nextAt(_ count: Int) -> Timestamp? {
        record.request.rate.map { hubs.now.adding(milliseconds: Int64(count) * 1000 / Int64(max(1, $0))) }
    }

    /// A push service could not be asked about all.
    struct Interrupted: Error, CustomStringConvertible {
        var description: String { "it is not known what became of a slice; it is handed over again" }
    }

    /// One notification with whose it is.
    struct Item {
        var push: HubPush
        /// `nil` for a channel that was named in the request.
        var owner: StoredInstallation?
        /// Tells it from the owner's other notifications.
        var part = ""
        /// The attempt before; `nil` where there was none.
        var before: SendRecipient?
        /// The variant of an experiment.
        var variant: String?
        /// The broadcast part that it belongs to; `nil` where it is handed over by itself.
        var list: Int64?

        var name: String { owner?.installation.id ?? push.channel.key }
    }

    /// Hands over one slice.
    ///
    /// - Returns: What is to be noted; and, where that is asked for, what became of each.
    /// - Throws: ``Interrupted`` where it is not known what became of some: nothing is noted, and all are handed over again.
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
            let numbers = audience.numbers(from: cursor, limit: size)
            let installations = try await hubs.store.installations(numbers, hub: hub.number)
            let content = try content(text)
            items = installations.flatMap { self.items($0, content) }
            for index in items.indices { items[index].list = list(of: items[index].owner) }
            absent = self.absent(numbers, installations, items)
            isEnd = numbers.count < size
            if let last = numbers.last { cursor = last &+ 1 }
            let repeated = try await repeated(items, audience)
            isSkipped = items.map { $0.owner.map { repeated.contains($0.number) } ?? false }
        }
        guard let verdicts = await deliver(items, isSkipped) else { throw Interrupted() }
        var progress = try await progress(items, verdicts, cursor, isEnd, triesAgain: !collects)
        progress.recipients += absent
        progress.separateListed()
        progress.nextAt = nextAt(items.count)
        return (progress, collects ? Self.results(items, verdicts) : [])
    }

    /// Those whose channel another one of the send has who comes first, whenever its turn is. Of templates each is sent.
    private func repeated(_ items: [Item], _ audience: Bitmap) async throws -> Set<UInt32> {
        guard record.request.format != .template else { return [] }
        let owners = items.compactMap(\.owner).filter(\.installation.isRegistration)
        let earlier = try await hubs.store.earlierOwners(of: owners, hub: hub.number, at: hubs.now)
        guard !earlier.isEmpty else { return [] }
        var everybody = audience
        if record.request.campaign != nil {
            // A wave is a part of whom the send is for.
            everybody = try await hubs.store.audience(ofSend: record.number)
            // Who is held out comes before nobody.
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

    /// Hands over once more what a push service could not take; who is in quiet hours waits for their end, or is left out.
    ///
    /// - Throws: ``Interrupted``, as ``run(_:collects:)``.
    func run(again due: [SendRecipient]) async throws -> SendProgress {
        var items: [Item] = []
        switch record.request.target {
        case .channels(let channels):
            for recipient in due {
                guard let place = Int(recipient.part.dropFirst()), channels.indices.contains(place) else { continue }
                items += try await self.items([channels[place]], from: place)
            }
        case .audience(let text):
            let content = try content(text)
            let numbers = Array(Set(due.map(\.installation)))
            items = try await hubs.store.installations(numbers, hub: hub.number).flatMap { self.items($0, content) }
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
        var progress = try await progress(items, verdicts, record.cursor, false, triesAgain: true)
        progress.recipients += held
        progress.nextAt = nextAt(items.count)
        progress.recipients += waiting.values.map { gone in
            var gone = gone
            (gone.end, gone.reason, gone.retryAt) = (.ineligible, "Gone", nil)
            return gone
        }
        return progress
    }

    /// Takes those out of another attempt who are in quiet hours now.
    ///
    /// - Returns: Their rows. For whom the end is waited for, the half hour goes on then.
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
                    (row.end, row.reason, row.retryAt) = (.ineligible, LeftOut.quiet.rawValue, nil)
                }
            } else {
                (row.end, row.reason, row.retryAt) = (.ineligible, LeftOut.unknownZone.rawValue, nil)
            }
            held.append(row)
            return true
        }
        return held
    }

    /// Rows for targeted installations that get no notification, each with the reason.
    private func absent(
        _ numbers: [UInt32], _ installations: [StoredInstallation], _ items: [Item]
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

    private func content(_ expression: String?) throws -> Content {
        try Content(
            record.request, expression: hubs.expression(expression, of: hub, readsFields: record.request.readsFields))
    }

    /// Looks at the sizes of the next renderings.
    ///
    /// - Returns: Where to go on, and whether that was all.
    /// - Throws: ``InstallationFault`` where one is too large.
    func check(_ audience: Bitmap) async throws -> (cursor: UInt32, isEnd: Bool) {
        guard case .audience(let text) = record.request.target else { return (0, true) }
        let numbers = audience.numbers(from: record.cursor, limit: Self.largest)
        let content = try content(text)
        let now = hubs.now
        for found in try await hubs.store.installations(numbers, hub: hub.number) {
            for item in items(found, content) {
                // A field that a template fills in wrongly is a fault of that notification alone.
                let pushType = (try? PushOptions(item.push.headers, now: now))?.pushType
                guard let excess = PayloadLimit.excess(of: item.push.body, for: item.push.platform, pushType) else {
                    continue
                }
                throw InstallationFault(
                    "/properties", "the payload for the installation \(item.name) \(excess); nothing was sent")
            }
        }
        return (numbers.last.map { $0 &+ 1 } ?? record.cursor, numbers.count < Self.largest)
    }

    /// The notifications for channels that were named.
    private func items(_ channels: [String], from start: Int) async throws -> [Item] {
        guard case .native(let platform) = record.request.format else { return [] }
        var items: [Item] = []
        for (index, channel) in channels.enumerated() {
            let owner = try await hubs.store.installations(hub: hub.number, channel: channel).first
            items.append(
                Item(
                    push: HubPush(
                        channel: subscription(channel) ?? owner?.installation.channel ?? .handle(channel),
                        platform: platform,
                        body: record.request.body, headers: record.request.headers, id: id("\(start + index)"),
                        environment: owner?.installation.environment),
                    owner: owner, part: "#\(start + index)"))
        }
        return items
    }

    /// The browser's channel, where its keys came with the send.
    private func subscription(_ endpoint: String) -> PushChannel? {
        let headers = record.request.headers
        guard record.request.format == .native(.browser),
            let p256dh = headers[PushOptions.subscriptionKeys.p256dh],
            let auth = headers[PushOptions.subscriptionKeys.auth]
        else { return nil }
        return .browser(endpoint: endpoint, p256dh: p256dh, auth: auth)
    }

    /// What a send says, read once for a slice.
    private enum Content {
        case native([UInt8])
        case campaign(CampaignContent)
        case properties([String: String], TagExpression?)

        init(_ request: SendRequest, expression: TagExpression?) throws {
            switch request.format {
            case .native: self = .native(request.body)
            case .content: self = .campaign(try CampaignContent.read(request.body))
            case .template: self = .properties(try PushTemplate.properties(request.body), expression)
            }
        }
    }

    /// The notifications for an installation: one, or one for each template that matches.
    private func items(_ found: StoredInstallation, _ content: Content) -> [Item] {
        let now = hubs.now
        let installation = found.installation
        guard let channel = installation.channel, found.fault == nil, installation.expiresAt.map({ $0 > now }) ?? true
        else { return [] }
        let body: [UInt8]
        var variant: String?
        switch content {
        case .native(let bytes): body = bytes
        case .campaign(var campaign):
            if let chosen = self.variant(for: installation) {
                campaign = chosen.content
                variant = chosen.name
            }
            body = campaign.payload(locale: installation.locale, for: installation.platform)
        case .properties(let properties, let expression):
            return templated(found, channel, properties, expression, now)
        }
        guard installation.takesNative else { return [] }
        return [
            Item(
                push: HubPush(
                    channel: channel, platform: installation.platform, body: body, headers: record.request.headers,
                    id: id("\(found.number)"), environment: installation.environment), owner: found, variant: variant)
        ]
    }

    /// The variant of an experiment that somebody gets. Who was put into the part that gets nothing since the send began, as a
    /// new user, gets the first.
    private func variant(for installation: Installation) -> CampaignExperiment.Variant? {
        guard let experiment = record.request.plan.experiment, let first = experiment.variants.first else { return nil }
        switch experiment.group(campaign: PersonNumber(record.id), person: installation.person) {
        case .heldOut: return first
        case .variant(let place): return experiment.variants[place]
        }
    }

    private func templated(
        _ found: StoredInstallation, _ channel: PushChannel, _ properties: [String: String],
        _ expression: TagExpression?,
        _ now: Timestamp
    ) -> [Item] {
        var properties = properties
        for (name, value) in found.installation.pushVariables { properties[name.lowercased()] = value }
        return found.installation.templates.compactMap { template in
            let read: PushTemplate
            do { read = try PushTemplate(template, locale: found.installation.locale) } catch { return nil }
            guard expression?.holds({ found.holds($0, more: read.tags, now: now) }) ?? true else { return nil }
            let rendering = read.rendered(properties)
            var headers = rendering.headers.filter { PushOptions.names.contains($0.key) }
            headers.merge(record.request.headers) { own, _ in own }
            if let expiry = rendering.expiry { headers["servicebusnotification-apns-expiry"] = expiry }
            return Item(
                push: HubPush(
                    channel: channel, platform: found.installation.platform, body: rendering.body, headers: headers,
                    id: id("\(found.number)/\(template.name)"), environment: found.installation.environment),
                owner: found, part: "/\(template.name)")
        }
    }
}
