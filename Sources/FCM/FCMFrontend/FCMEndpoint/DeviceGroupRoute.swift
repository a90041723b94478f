import FCMProtocol
import HTTPTypes
import Hummingbird
import Logging
import PushCore
import PushServer

/// The notification keys of device groups.
enum DeviceGroupKey {
    /// The prefix that distinguishes a notification key from a registration token.
    static let mark = "group-"

    /// Generates a key: 240 random bits.
    static func random() -> String {
        var generator = SystemRandomNumberGenerator()
        return mark + Base64URL.encode((0..<30).map { _ in UInt8.random(in: .min ... .max, using: &generator) })
    }
}

/// The route `/fcm/notification`: makes and changes device groups, and returns their keys. Its errors are texts:
/// `{"error": "…"}`.
struct DeviceGroupRoute: Sendable {
    let access: FCMAccess
    let gate: MessageTargetValidator
    let groups: any DeviceGroupRegister
    let acceptor: any NotificationAcceptor

    /// The maximum number of members of a group.
    static let limit = 20

    private struct Refused: Error {
        var message: String
    }

    func find(_ request: Request, logger: Logger) async -> Response {
        await answer(logger) {
            let team = try await team(request)
            guard let name = request.uri.queryParameters["notification_key_name"].map(String.init),
                let group = try await groups.deviceGroup(named: name, team: team)
            else { throw Refused(message: "notification_key not found") }
            return group.key
        }
    }

    func change(_ request: Request, logger: Logger) async -> Response {
        await answer(logger) {
            let team = try await team(request)
            let body: JSONValue
            do { body = try JSONValue(object: Array(buffer: try await request.wholeBody())) } catch {
                throw Refused(message: "the body is not a JSON object")
            }
            let tokens = try Self.tokens(body)
            switch body["operation"]?.text {
            case "create": return try await create(body, tokens: tokens, team: team)
            case "add":
                for token in tokens { _ = try await gate.addressee(token, team) }
                return try await change(body, team, adding: tokens, removing: [])
            case "remove": return try await change(body, team, adding: [], removing: tokens)
            default: throw Refused(message: "operation must be create, add or remove")
            }
        }
    }

    /// The team of the request's service account, which owns the groups. The field `project_id`, if present, must
    /// agree.
    private func team(_ request: Request) async throws -> TeamID {
        let team = try await access.account(request).team
        if let name = HTTPField.Name("project_id"), let project = request.headers[name],
            !ProjectName.names(project, team)
        {
            throw Refused(message: "project_id is not the service account's project")
        }
        return team
    }

    private static func tokens(_ body: JSONValue) throws -> [String] {
        guard case .array(let elements)? = body["registration_ids"], (1...limit).contains(elements.count) else {
            throw Refused(message: "registration_ids must have 1 to \(limit) registration tokens")
        }
        return try elements.map { element in
            guard let text = element.text else { throw Refused(message: "registration_ids must be strings") }
            return text.lowercased()
        }
    }

    private func create(_ body: JSONValue, tokens: [String], team: TeamID) async throws -> String {
        guard let name = body["notification_key_name"]?.text, (1...255).contains(name.utf8.count) else {
            throw Refused(message: "notification_key_name must have 1 to 255 bytes")
        }
        for token in tokens { _ = try await gate.addressee(token, team) }
        let group = DeviceGroup(key: DeviceGroupKey.random(), team: team, name: name, tokens: tokens)
        guard try await groups.addDeviceGroup(group, at: acceptor.now) else {
            throw Refused(message: "notification_key already exists")
        }
        return group.key
    }

    private func change(
        _ body: JSONValue, _ team: TeamID, adding: [String], removing: [String]
    ) async throws -> String {
        guard let key = body["notification_key"]?.text, let group = try await groups.deviceGroup(key: key),
            group.team == team
        else { throw Refused(message: "notification_key not found") }
        if let name = body["notification_key_name"]?.text, name != group.name {
            throw Refused(message: "notification_key_name is not the name of this group")
        }
        let changed = try await groups.changeDeviceGroup(
            key: key, adding: adding, removing: removing, limit: Self.limit)
        guard changed != nil else { throw Refused(message: "a device group has at most \(Self.limit) members") }
        return key
    }

    private func answer(_ logger: Logger, _ body: () async throws -> String) async -> Response {
        func refused(_ message: String, _ status: Int) -> Response {
            .fcm(JSONValue.object([.init("error", .string(message))]).bytes, status: status)
        }
        do {
            return .fcm(JSONValue.object([.init("notification_key", .string(try await body()))]).bytes)
        } catch let error as Refused {
            return refused(error.message, 400)
        } catch let error as MessageTargetValidator.Refused {
            return refused("registration_ids: \(error.refusal.message)", 400)
        } catch {
            let refusal = FCMRejection.of(error, logger: logger)
            return refused(refusal.message, refusal.status.http)
        }
    }
}
