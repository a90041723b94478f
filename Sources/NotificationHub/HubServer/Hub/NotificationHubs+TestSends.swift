import HubProtocol
import PushCore

extension NotificationHubs {
    /// The tag of the installations on which campaigns are tried.
    package static let testTag = "test-device"
    /// The maximum number of installations on which a campaign is tried at once.
    package static let mostTestDevices = 20

    /// The trial of a campaign, or of one of its variants, on the test devices.
    package struct Trial: Sendable {
        /// The variant; `nil` for a campaign without variants.
        package var variant: String?
        /// The send that delivered it.
        package var send: SendRecord
        /// The result for each test device.
        package var results: [TestResult]
    }

    /// Sends a campaign to test devices at once, each variant to each of them. Caps, quiet hours and local times are
    /// ignored, and no count includes the trial as a campaign.
    ///
    /// - Parameter devices: The ids of installations; `nil` for those with the tag ``testTag``.
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
}
