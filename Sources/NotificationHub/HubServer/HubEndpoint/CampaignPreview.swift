import HubProtocol
import PushCore

/// The preview of a campaign for one installation: its payloads, its time, and the reason if it is left out.
extension NotificationHubs {
    /// The reason why an installation does not get a campaign.
    package enum Absence: Hashable, Sendable {
        /// The installation does not match the expression.
        case notInAudience
        /// The channel is dead, or the installation has none.
        case deadChannel
        /// The installation has expired.
        case expired
        /// The platform does not support contents.
        case otherPlatform
        /// The installation has no template.
        case noTemplate
        /// The installation matches, and is left out.
        case leftOut(ExclusionReason)

        /// The reason's name in responses.
        package var word: String {
            switch self {
            case .notInAudience: "notInAudience"
            case .deadChannel: "deadChannel"
            case .expired: "expired"
            case .otherPlatform: "otherPlatform"
            case .noTemplate: "noTemplate"
            case .leftOut(let why): why.rawValue
            }
        }
    }

    /// The preview of a campaign for one installation.
    package struct Preview: Sendable {
        /// A payload of a variant, or of a template.
        package struct Rendering: Sendable {
            /// The name of the variant or template; `nil` where there is only one payload.
            package var name: String?
            /// The payload.
            package var body: [UInt8]
            /// The header fields that a template adds.
            package var headers: [String: String]
            /// Why the template makes no payload; `nil` where it does.
            package var fault: String?
        }

        /// The payloads: of each variant, or of each template.
        package var renderings: [Rendering] = []
        /// The planned time of the notification, were the campaign accepted now; quiet hours may delay it. `nil` where
        /// the installation is left out.
        package var comesAt: Timestamp?
        /// The reason why the installation gets nothing.
        package var leftOut: Absence?
        /// The end of the quiet hours that contain the planned time; `nil` outside of quiet hours.
        package var quietUntil: Timestamp?
        /// The push service of the installation.
        package var platform = HubPlatform.aldaba
        /// The maximum size of a payload there, in bytes; `nil` where no push service specifies one.
        package var limit: Int?
    }

    /// Makes the preview of a campaign for an installation, with the installation's own values; nothing is sent.
    package func preview(_ request: SendRequest, for id: String, of hub: HubRecord) async throws -> Preview {
        let stored = try await installation(id, of: hub)
        let now = self.now
        var preview = Preview()
        do {
            preview.platform = stored.installation.platform
            preview.limit = PayloadLimit.bytes(
                for: preview.platform, try PushOptions(request.headers, now: now).pushType)
            try check(request.plan)
            preview.renderings = try renderings(of: request, stored.installation)
        } catch { throw HubError.document(error) }
        if let absence = try await absence(of: stored, from: request, hub) {
            preview.leftOut = absence
            return preview
        }
        try await plan(request, for: stored, of: hub, now: now, into: &preview)
        return preview
    }

    private func renderings(
        of request: SendRequest, _ installation: Installation
    ) throws(InstallationError) -> [Preview.Rendering] {
        guard request.format != .template else {
            return renderings(try PushTemplate.checkedProperties(request.body), installation)
        }
        let (locale, platform) = (installation.locale, installation.platform)
        let variants = request.plan.experiment?.variants ?? []
        guard variants.isEmpty else {
            return variants.map {
                .init(name: $0.name, body: $0.content.payload(locale: locale, for: platform), headers: [:])
            }
        }
        let content = try CampaignContent.read(request.body)
        return [.init(body: content.payload(locale: locale, for: platform), headers: [:])]
    }

    /// The reason why an installation is not in a campaign's audience; `nil` where it is.
    private func absence(
        of stored: StoredInstallation, from request: SendRequest, _ hub: HubRecord
    ) async throws -> Absence? {
        guard case .audience(let text) = request.target else { return nil }
        let audience = try await audience(text, of: hub, for: request.format, readsFields: request.readsFields)
        let installation = stored.installation
        if let end = installation.expiresAt, end <= now { return .expired }
        if stored.fault != nil || installation.channel == nil { return .deadChannel }
        if audience.contains(stored.number) { return nil }
        if request.format == .template { return installation.templates.isEmpty ? .noTemplate : .notInAudience }
        return request.format.isNative(to: installation.platform) ? .notInAudience : .otherPlatform
    }

    /// Plans the time for an installation of the audience from local time, cap and quiet hours, in the order in which a
    /// campaign applies them.
    private func plan(
        _ request: SendRequest, for stored: StoredInstallation, of hub: HubRecord, now: Timestamp,
        into preview: inout Preview
    ) async throws {
        let zone = stored.installation.timeZone
        var at = request.dueAt ?? now
        if let local = request.plan.local {
            guard let rules = rules(zone, local.unknownZone) else {
                preview.leftOut = .leftOut(.unknownZone)
                return
            }
            switch local.due(in: rules, accepted: now) {
            case .at(let instant): at = instant
            case .never(let why):
                preview.leftOut = .leftOut(why)
                return
            }
        }
        if let cap = request.plan.cap {
            let since = at.adding(milliseconds: -cap.hours * 3_600_000)
            let others = try await store.reached(hub: hub.number, since: since, but: 0)
            if others.audiences.count(where: { $0.contains(stored.number) }) >= cap.most {
                preview.leftOut = .leftOut(.capped)
                return
            }
        }
        if let quiet = request.plan.quiet {
            guard let rules = rules(zone, quiet.unknownZone) else {
                preview.leftOut = .leftOut(.unknownZone)
                return
            }
            preview.quietUntil = quiet.end(in: rules, now: at)
            if preview.quietUntil != nil, quiet.then == .skip {
                preview.leftOut = .leftOut(.quiet)
                return
            }
        }
        preview.comesAt = at
    }

    private func renderings(_ properties: [String: String], _ installation: Installation) -> [Preview.Rendering] {
        var properties = properties
        for (name, value) in installation.pushVariables { properties[name.lowercased()] = value }
        return installation.templates.map { template in
            do {
                let rendering = try PushTemplate(template, locale: installation.locale).rendered(properties)
                return .init(name: template.name, body: rendering.body, headers: rendering.headers)
            } catch { return .init(name: template.name, body: [], headers: [:], fault: "\(error)") }
        }
    }
}
