import APNsProtocol
import HTTPTypes
import HubProtocol
import Hummingbird
import PushCore
import PushServer

/// The route `POST /v1/payloads/check`: what a content becomes for each push service, or what is wrong with a payload.
/// Nothing is sent.
///
/// The body is `{"content": {…}}`, a campaign's content, or `{"payload": "…", "pushType": "alert"}`, the text of a payload
/// of APNs.
struct PayloadCheckRoute: Sendable {
    let access: ProviderAccess

    private static let platforms: [HubPlatform] = [.apns, .fcmv1, .browser]

    func add(to router: Router<ControlContext>) {
        router.post("v1/payloads/check") { request, _ in
            do {
                _ = try await access.team(request.field("Authorization"))
                return try Self.answer(try await request.tree())
            } catch {
                guard let problem = HubProblem(error) else { throw error }
                return problem.response
            }
        }
    }

    private static func answer(_ tree: JSONValue) throws -> Response {
        try OwnDocument.check(tree, members: ["content", "payload", "pushType"])
        switch (tree["content"], tree["payload"]?.text) {
        case (let content?, nil): return .json(tree: .object(try contentMembers(content)))
        case (nil, let payload?): return .json(tree: .object(try payloadMembers(payload, tree["pushType"])))
        default:
            throw InstallationError("", "expected \"content\", an object, or \"payload\", the text of a payload")
        }
    }

    private static func contentMembers(_ document: JSONValue) throws -> [JSONValue.Member] {
        let content: CampaignContent
        do {
            content = try CampaignContent(document)
            try CampaignContentValidator.check(document)
        } catch {
            throw InstallationError("/content\(error.path)", error.message)
        }
        let type: PushType = content.isSilent ? .background : .alert
        var limits: [JSONValue.Member] = platforms.compactMap { platform in
            PayloadLimit.bytes(for: platform, type).map { .init(platform.text, .number(String($0))) }
        }
        limits.append(.init("voip", .number(String(APNsPayloadLimit.bytes(for: .voip)))))
        let renderings = platforms.flatMap { platform in
            content.languages.map { rendering(content, platform, locale: $0) }
        }
        return [.init("limits", .object(limits)), .init("renderings", .array(renderings))]
    }

    private static func rendering(_ content: CampaignContent, _ platform: HubPlatform, locale: String?) -> JSONValue {
        let body = content.payload(locale: locale, for: platform)
        var members: [JSONValue.Member] = [.init("platform", .string(platform.text))]
        if let locale { members.append(.init("locale", .string(locale))) }
        members.append(.init("bytes", .number(String(PayloadLimit.counted(body, for: platform)))))
        members.append(.init("payload", .payload(body)))
        return .object(members)
    }

    private static func payloadMembers(_ text: String, _ type: JSONValue?) throws -> [JSONValue.Member] {
        var pushType: PushType?
        if let type, type != .null {
            guard let known = type.text.flatMap(PushType.init(rawValue:)) else {
                throw InstallationError(
                    "/pushType", "a push type is one of \(PushType.allCases.map(\.rawValue).joined(separator: ", "))")
            }
            pushType = known
        }
        let bytes = Array(text.utf8)
        var faults: [JSONValue] = []
        if let fault = PayloadDiagnosis(bytes, pushType: pushType) {
            var members: [JSONValue.Member] = [
                .init("line", .number(String(fault.line))), .init("column", .number(String(fault.column))),
                .init("what", .string(fault.what)),
            ]
            if let meant = fault.meant { members.append(.init("meant", .string(meant))) }
            faults.append(.object(members))
        }
        return [
            .init("bytes", .number(String(bytes.count))),
            .init("mostBytes", .number(String(APNsPayloadLimit.bytes(for: pushType)))),
            .init("faults", .array(faults)),
        ]
    }
}
