import HTTPTypes
import HubProtocol
import Hummingbird
import PushCore
import PushServer

extension OwnRoutes {
    /// Adds the routes that preview campaigns, or try them on test devices, before they are sent.
    func addCampaignTestRoutes(to router: Router<ControlContext>) {
        router.post("v1/hubs/:hub/campaigns/preview", use: handler(.send, previewCampaign))
        router.post("v1/hubs/:hub/campaigns/test", use: handler(.send, tryCampaign))
    }

    /// Previews a campaign for the installation `installationId`, with the time at which it would be sent.
    private func previewCampaign(_ call: Call) async throws -> Response {
        let document = try await call.request.tree()
        guard let id = document["installationId"]?.text else {
            throw InstallationError("/installationId", "the id of an installation is missing")
        }
        let request = try CampaignDocument.read(document, more: ["installationId"], pictureKeys: call.hub.pictureKeys)
        try await hubs.checkInstant(of: request, call.hub, at: "/at")
        let preview = try await hubs.preview(request, for: id, of: call.hub)
        var members: [JSONValue.Member] = [
            .init("renderings", .array(preview.renderings.map { tree($0, preview.platform) }))
        ]
        if let limit = preview.limit { members.append(.init("mostBytes", .number(String(limit)))) }
        func add(_ name: String, _ text: String?) { if let text { members.append(.init(name, .string(text))) } }
        add("comesAt", preview.comesAt.map(WireTime.write))
        add("quietUntil", preview.quietUntil.map(WireTime.write))
        add("leftOut", preview.leftOut?.word)
        return .json(tree: .object(members))
    }

    private func tree(_ rendering: NotificationHubs.Preview.Rendering, _ platform: HubPlatform) -> JSONValue {
        var members: [JSONValue.Member] = []
        if let name = rendering.name { members.append(.init("name", .string(name))) }
        if let fault = rendering.fault { return .object(members + [.init("fault", .string(fault))]) }
        members.append(.init("payload", .payload(rendering.body)))
        members.append(.init("bytes", .number(String(PayloadLimit.counted(rendering.body, for: platform)))))
        if !rendering.headers.isEmpty {
            members.append(
                .init(
                    "headers",
                    .object(rendering.headers.sorted { $0.key < $1.key }.map { .init($0.key, .string($0.value)) })))
        }
        return .object(members)
    }

    /// Sends each variant to the test devices: those in `devices`, or those with the test tag.
    private func tryCampaign(_ call: Call) async throws -> Response {
        let tree = try await call.request.tree()
        var devices: [String]?
        if let value = tree["devices"], value != .null {
            guard let items = value.items, items.allSatisfy({ $0.text != nil }) else {
                throw InstallationError("/devices", "this is to be a list of ids of installations")
            }
            devices = items.compactMap(\.text)
        }
        let request = try CampaignDocument.read(tree, more: ["devices"], pictureKeys: call.hub.pictureKeys)
        let trials = try await hubs.tryOut(request, on: devices, of: call.hub)
        return .json(
            tree: .object([
                .init(
                    "trials",
                    .array(
                        trials.map { trial in
                            var members: [JSONValue.Member] = [.init("send", .string(trial.send.id))]
                            if let variant = trial.variant { members.append(.init("variant", .string(variant))) }
                            members.append(
                                .init(
                                    "results",
                                    .array(
                                        trial.results.map {
                                            .object([
                                                .init("installationId", .string($0.installation)),
                                                .init("outcome", .string($0.outcome.rawValue)),
                                            ])
                                        })))
                            return .object(members)
                        }))
            ]))
    }
}

extension JSONValue {
    /// The payload: JSON as a tree, XML as text.
    static func payload(_ body: [UInt8]) -> JSONValue {
        do { return try JSONValue(body) } catch { return .string(String(decoding: body, as: UTF8.self)) }
    }
}
