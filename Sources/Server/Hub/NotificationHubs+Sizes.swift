import Audience
import CarriageWire
import HubWire
import PushModel

extension NotificationHubs {
    /// Refuses a campaign that is too large, in any language, for a push service by which somebody of its audience is reached.
    func checkSizes(of record: SendRecord, _ audience: Bitmap, _ hub: HubRecord) async throws {
        guard record.request.format == .content else { return }
        let variants = record.request.plan.experiment?.variants ?? []
        let contents = variants.isEmpty ? [try CampaignContent.read(record.request.body)] : variants.map(\.content)
        let pushType = try PushOptions(record.request.headers, now: now).pushType
        for platform in try await platforms(of: audience, hub) {
            for content in contents {
                for locale in content.languages {
                    let body = content.payload(locale: locale, for: platform)
                    guard let excess = PayloadLimit.excess(of: body, for: platform, pushType) else { continue }
                    let language = locale.map { " in \($0)" } ?? ""
                    throw HubFault.document(
                        InstallationFault("", "the payload\(language) \(excess); nothing was sent"))
                }
            }
        }
    }
}
