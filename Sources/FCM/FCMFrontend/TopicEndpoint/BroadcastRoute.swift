import HTTPTypes
import Hummingbird
import PushCore
import PushServer

/// The route `POST /v1/broadcasts`: one payload of APNs for the subscribers of a topic, or those that match a
/// condition.
///
/// The body is `{"topic": "NAME", "payload": {"aps": …}}`, or has `condition` in place of `topic`. It may have
/// `expiration` (seconds since 1970; 0: for connected devices only) and `collapseID`. A caller that may act for every
/// team specifies one, as `team`. The response has the broadcast's id.
struct BroadcastRoute: Sendable {
    let sender: Broadcasts
    let access: any ProjectAuthentication

    private static let payloadLimit = 4096

    /// The members of the body.
    private struct BroadcastRequestBody {
        var topic: String?
        var condition: String?
        var team: String?
        var expiration: Int64?
        var collapseID: String?
        var payload: JSONValue

        init(_ body: [UInt8]) throws(ControlError) {
            let tree: JSONValue
            do { tree = try JSONValue(object: body) } catch {
                throw ControlError.invalid("the body cannot be read: \(error)")
            }
            guard let payload = tree["payload"], payload.members != nil else {
                throw ControlError.invalid(#"the body is not {"topic": "NAME", "payload": {…}}"#)
            }
            self.payload = payload
            topic = try Self.text(tree, "topic")
            condition = try Self.text(tree, "condition")
            team = try Self.text(tree, "team")
            collapseID = try Self.text(tree, "collapseID")
            guard let value = tree["expiration"], value != .null else { return }
            guard let seconds = value.integer else {
                throw ControlError.invalid("expiration is to be a whole number, not \(value.kind)")
            }
            expiration = seconds
        }

        private static func text(_ tree: JSONValue, _ name: String) throws(ControlError) -> String? {
            guard let value = tree[name], value != .null else { return nil }
            guard let text = value.text else {
                throw ControlError.invalid("\(name) is to be a string, not \(value.kind)")
            }
            return text
        }
    }

    func send(_ request: Request) async throws -> Response {
        let caller = try await access.team(authorization: request.headers[.authorization])
        let body = try BroadcastRequestBody(Array(buffer: try await request.wholeBody()))
        let bytes = body.payload.bytes
        guard let team = caller ?? body.team.map(TeamID.init(rawValue:)), TeamID.hasShape(team.rawValue) else {
            throw ControlError.invalid("the team is missing, ten characters A-Z0-9: \"team\": \"…\"")
        }
        guard caller == nil || body.team == nil || body.team == caller?.rawValue else {
            throw ControlError.invalid("the credential is not of the team that the body names")
        }
        guard bytes.count <= Self.payloadLimit else {
            throw ControlError.invalid("the payload has \(bytes.count) bytes, and may have \(Self.payloadLimit)")
        }
        guard body.collapseID?.utf8.count ?? 0 <= 64 else {
            throw ControlError.invalid("collapseID has at most 64 bytes")
        }
        let message = TopicMessage(
            to: try target(body), expiry: try expiry(body.expiration), collapseID: body.collapseID
        ) { _ in .apns(bytes) }
        let id = try await sender.send(message, from: team)
        return .json(["id": id.description], status: .accepted)
    }

    private func target(_ body: BroadcastRequestBody) throws -> TopicTarget {
        do {
            switch (body.topic, body.condition) {
            case (let topic?, nil): return try .topic(named: topic)
            case (nil, let condition?): return try .condition(parsing: condition)
            default: throw ControlError.invalid("exactly one of \"topic\" and \"condition\" is wanted")
            }
        } catch let fault as TopicNameError {
            throw ControlError.invalid("\(fault)")
        } catch let fault as ConditionError {
            throw ControlError.invalid("\(fault)")
        }
    }

    private func expiry(_ seconds: Int64?) throws -> Expiry {
        switch seconds {
        case nil: return .policyDefault
        case 0: return .once
        case let seconds?:
            guard (1...253_402_300_799).contains(seconds) else {
                throw ControlError.invalid("expiration is an instant in seconds since 1970, or 0")
            }
            return .until(Timestamp(seconds: seconds))
        }
    }
}
