import HubProtocol
import PushCore

/// The notifications of a slice, before they are handed over.
extension SendSlice {
    /// One notification with whose it is.
    struct Item {
        var push: HubPush
        /// `nil` for a channel that was named in the request. What fills templates is left out.
        var owner: StoredInstallation?
        /// Tells it from the owner's other notifications.
        var part = ""
        /// The attempt before; `nil` where there was none.
        var before: SendRecipient?
        /// The variant of an experiment.
        var variant: String?
        /// The broadcast part that it belongs to; `nil` where it is handed over by itself.
        var list: Int64?
        /// Why it is not handed over: the installation's own template is at fault. `nil` where it is.
        var refusal: PushVerdict?

        var name: String { owner?.installation.id ?? push.channel.key }
    }

    /// The content of a send, read once for a slice.
    enum Content {
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

    /// The notifications for the first of some installations.
    struct Made {
        var items: [Item] = []
        /// The installations that were found.
        var owners: [StoredInstallation] = []
        /// How many of the numbers were looked at.
        var count = 0
    }

    /// Reads what the send says.
    func content(_ expression: String?) throws -> Content {
        try Content(
            record.request, expression: hubs.expression(expression, of: hub, readsFields: record.request.readsFields))
    }

    /// Makes the notifications for installations: for all, or for the first until their payloads have ``mostBytes``. Of their
    /// documents a few are in memory at a time.
    func make(for numbers: [UInt32], _ content: Content) async throws -> Made {
        var made = Made()
        var bytes = 0
        while made.count < numbers.count, bytes < Self.mostBytes {
            let page = Array(numbers[made.count...].prefix(Self.page))
            let found = Dictionary(
                try await hubs.store.installations(page, hub: hub.number).map { ($0.number, $0) },
                uniquingKeysWith: { $1 })
            for number in page where bytes < Self.mostBytes {
                made.count += 1
                guard let owner = found[number] else { continue }
                let items = items(owner, content)
                bytes += items.reduce(0) { $0 + $1.push.body.count }
                made.items += items
                made.owners.append(owner.withoutTemplates)
            }
        }
        return made
    }

    /// The notifications for channels that were named.
    func items(_ channels: [String], from start: Int) async throws -> [Item] {
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
                    owner: owner?.withoutTemplates, part: "#\(start + index)"))
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
            return templated(found, channel: channel, properties: properties, expression: expression)
        }
        guard installation.takesNative else { return [] }
        return [
            Item(
                push: HubPush(
                    channel: channel, platform: installation.platform, body: body, headers: record.request.headers,
                    id: id("\(found.number)"), environment: installation.environment),
                owner: found.withoutTemplates, variant: variant)
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
        _ found: StoredInstallation, channel: PushChannel, properties: [String: String],
        expression: TagExpression?
    ) -> [Item] {
        let (installation, owner, now) = (found.installation, found.withoutTemplates, hubs.now)
        var properties = properties
        for (name, value) in installation.pushVariables { properties[name.lowercased()] = value }
        return installation.templates.compactMap { template in
            let tags = PushTemplate.tags(of: template)
            guard expression?.matches({ owner.matches($0, more: tags, now: now) }) ?? true else { return nil }
            var item = Item(
                push: HubPush(
                    channel: channel, platform: installation.platform, body: [], headers: [:],
                    id: id("\(found.number)/\(template.name)"), environment: installation.environment),
                owner: owner, part: "/\(template.name)")
            item.refusal = fill(&item.push, template: template, locale: installation.locale, properties: properties)
            return item
        }
    }

    /// Puts properties into a template of an installation. A fault of the template is one of its own notification alone.
    ///
    /// - Returns: Why the notification cannot be handed over; `nil` where it can.
    private func fill(
        _ push: inout HubPush, template: InstallationTemplate, locale: String?, properties: [String: String]
    ) -> PushVerdict? {
        // A platform without a sender is told so; nothing is made for it.
        guard hubs.senders[push.platform] != nil else { return nil }
        let tooLarge = PushVerdict(.invalidNotificationSize, reason: "PayloadTooLarge")
        let rendering: PushTemplate.Rendering
        do { rendering = try PushTemplate(template, locale: locale).rendered(properties) } catch is PushTemplate.Excess
        {
            return tooLarge
        } catch { return PushVerdict(.invalidNotificationFormat, reason: "UnreadableTemplate") }
        var headers = rendering.headers.filter { PushOptions.names.contains($0.key) }
        headers.merge(record.request.headers) { own, _ in own }
        if let expiry = rendering.expiry { headers["servicebusnotification-apns-expiry"] = expiry }
        let pushType: PushType?
        do { pushType = try PushOptions(headers, now: hubs.now).pushType } catch {
            return PushVerdict(.invalidNotificationFormat, reason: "BadHeader \(error.path)")
        }
        guard PayloadLimit.allows(rendering.body, for: push.platform, pushType) else { return tooLarge }
        (push.body, push.headers) = (rendering.body, headers)
        return nil
    }
}

extension StoredInstallation {
    /// The installation without its templates, push variables and tiles, which a slice need not keep.
    fileprivate var withoutTemplates: StoredInstallation {
        var stored = self
        stored.installation.templates = []
        stored.installation.pushVariables = [:]
        stored.installation.secondaryTiles = nil
        return stored
    }
}
