import Audience
import CarriageWire
import HubWire
import PushModel

extension NotificationHubs {
    /// The tag of installations on which campaigns are tried.
    package static let testTag = "test-device"
    /// Installations on which a campaign is tried at once, at most.
    package static let mostTestDevices = 20

    /// What a campaign was on the test devices.
    package struct Trial: Sendable {
        /// The variant; `nil` for a campaign without variants.
        package var variant: String?
        /// The send that brought it.
        package var send: SendRecord
        /// What became of each.
        package var results: [TestResult]
    }

    /// Sends a campaign to test devices at once, each variant to each of them; caps, quiet hours and local times do not count,
    /// and it is no campaign in any count.
    ///
    /// - Parameter devices: Ids of installations; `nil` for those with the tag ``testTag``.
    /// - Throws: ``HubFault`` where there is no such installation, or none at all.
    package func tryOut(_ request: SendRequest, on devices: [String]?, of hub: HubRecord) async throws -> [Trial] {
        var numbers: [UInt32] = []
        if let devices {
            guard devices.count <= Self.mostTestDevices else {
                throw HubFault.document(
                    InstallationFault("/devices", "at most \(Self.mostTestDevices) test devices are taken"))
            }
            for id in devices { numbers.append(try await installation(id, of: hub).number) }
        } else {
            numbers = try await audience(Self.testTag, of: hub, for: nil, readsFields: false)
                .numbers(limit: Self.mostTestDevices)
        }
        guard !numbers.isEmpty else {
            throw HubFault.missing(
                "a test device (give an installation the tag \(Self.testTag), or name it in devices)")
        }
        var request = request
        let variants = request.plan.experiment?.variants ?? []
        request.plan = CampaignPlan()
        (request.campaign, request.idempotencyKey, request.rate) = (nil, nil, nil)
        request.target = .audience(nil)
        var trials: [Trial] = []
        for (name, body) in variants.isEmpty
            ? [(nil, request.body)] : variants.map({ (Optional($0.name), $0.document.bytes) })
        {
            request.body = body
            let (send, results) = try await test(request, on: numbers, of: hub)
            trials.append(Trial(variant: name, send: send, results: results))
        }
        return trials
    }

    /// What a campaign is for one installation.
    package struct Preview: Sendable {
        /// One payload: of a variant, or of a template.
        package struct Rendering: Sendable {
            /// The variant's or the template's name; `nil` where there is one payload alone.
            package var name: String?
            /// The payload.
            package var body: [UInt8]
            /// The header fields that a template adds.
            package var headers: [String: String]
        }

        /// The payloads: of each variant, or of each template.
        package var renderings: [Rendering] = []
        /// The planned time of the notification, were the campaign accepted now; quiet hours may delay it. `nil` where
        /// the installation is left out.
        package var comesAt: Timestamp?
        /// Why it does not come.
        package var leftOut: LeftOut?
        /// The end of the quiet hours that contain the planned time; `nil` outside of quiet hours.
        package var quietUntil: Timestamp?
        /// The push service of the installation.
        package var platform = HubPlatform.aldaba
        /// How many bytes a payload may have there; `nil` where no push service would say.
        package var limit: Int?
    }

    /// What a campaign is for an installation, with the installation's own values; nothing is sent.
    package func preview(_ request: SendRequest, for id: String, of hub: HubRecord) async throws -> Preview {
        let stored = try await installation(id, of: hub)
        let now = clock()
        var preview = Preview()
        do {
            preview.platform = stored.installation.platform
            preview.limit = PayloadLimit.bytes(
                for: preview.platform, try PushOptions(request.headers, now: now).pushType)
            try check(request.plan)
            if request.format == .template {
                preview.renderings = try renderings(try PushTemplate.properties(request.body), stored.installation)
            } else {
                let (locale, platform) = (stored.installation.locale, stored.installation.platform)
                let variants = request.plan.experiment?.variants ?? []
                preview.renderings =
                    variants.isEmpty
                    ? [
                        .init(
                            body: try CampaignContent.read(request.body).payload(locale: locale, for: platform),
                            headers: [:])
                    ]
                    : variants.map {
                        .init(name: $0.name, body: $0.content.payload(locale: locale, for: platform), headers: [:])
                    }
            }
        } catch { throw HubFault.document(error) }
        preview.comesAt = request.dueAt ?? now
        if let local = request.plan.local {
            preview.comesAt = nil
            if let rules = rules(stored.installation.timeZone, local.unknownZone) {
                switch local.due(in: rules, accepted: now) {
                case .at(let instant): preview.comesAt = instant
                case .never(let why): preview.leftOut = why
                }
            } else {
                preview.leftOut = .unknownZone
            }
        }
        if let quiet = request.plan.quiet, let at = preview.comesAt {
            if let rules = rules(stored.installation.timeZone, quiet.unknownZone) {
                preview.quietUntil = quiet.end(in: rules, now: at)
                if preview.quietUntil != nil, quiet.then == .skip {
                    (preview.comesAt, preview.leftOut) = (nil, .quiet)
                }
            } else {
                (preview.comesAt, preview.leftOut) = (nil, .unknownZone)
            }
        }
        return preview
    }

    private func renderings(
        _ properties: [String: String], _ installation: Installation
    ) throws(InstallationFault) -> [Preview.Rendering] {
        var properties = properties
        for (name, value) in installation.pushVariables { properties[name.lowercased()] = value }
        var found: [Preview.Rendering] = []
        for template in installation.templates {
            let read: PushTemplate
            do { read = try PushTemplate(template, locale: installation.locale) } catch {
                throw InstallationFault("/templates/\(template.name)/\(error.part)", error.message)
            }
            let rendering = read.rendered(properties)
            found.append(.init(name: template.name, body: rendering.body, headers: rendering.headers))
        }
        return found
    }
}
