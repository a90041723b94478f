import Foundation
import HTTPTypes
import Hummingbird
import Logging
import Networking
import PushCore
import PushServer

/// Topic subscriptions as resources of a registration: `v1/projects/P/registrations/TOKEN/topicSubscriptions`.
struct ProjectTopicRoutes: Sendable {
    let subscriptions: TopicSubscriptions
    let access: any ProjectAuthentication
    let quotas: SubscriptionQuotas

    /// A refusal in the form of google.rpc.Status.
    private struct Refusal: Error {
        var status: HTTPResponse.Status
        var name: String
        var message: String
        /// FCM's own code, for the details.
        var errorCode: String?
        /// The seconds after which the request may be repeated; for the field `Retry-After`.
        var retryAfter: Int?

        static func invalid(_ message: String) -> Refusal {
            Refusal(
                status: .badRequest, name: "INVALID_ARGUMENT", message: message, errorCode: "INVALID_ARGUMENT")
        }

        var response: Response {
            struct Body: Encodable {
                struct Detail: Encodable {
                    var type = "type.googleapis.com/google.firebase.fcm.v1.FcmError"
                    var errorCode: String
                    enum CodingKeys: String, CodingKey {
                        case type = "@type"
                        case errorCode
                    }
                }
                struct Details: Encodable {
                    var code: Int
                    var message: String
                    var status: String
                    var details: [Detail]?
                }
                var error: Details
            }
            var response = Response.json(
                Body(
                    error: .init(
                        code: status.code, message: message, status: name,
                        details: errorCode.map { [.init(errorCode: $0)] })), status: status)
            if let retryAfter { response.headers[.retryAfter] = String(retryAfter) }
            return response
        }
    }

    func answer(_ context: ControlContext, _ body: () async throws -> Response) async -> Response {
        do { return try await body() } catch let refusal as Refusal {
            return refusal.response
        } catch let refusal as ControlError {
            return refusal.statusOfGoogle
        } catch {
            TopicInterface.failure.log(error, to: context.logger)
            return Refusal(
                status: .serviceUnavailable, name: "UNAVAILABLE",
                message: "the server could not find out; try again later", errorCode: "UNAVAILABLE", retryAfter: 5
            ).response
        }
    }

    private struct Subscription: Encodable { var name: String }

    /// The route `POST …?topic_name=NAME`: the subscription; 409 for an existing one.
    func create(_ request: Request, project: String, token: String) async throws -> Response {
        let team = try await team(request, project)
        guard let written = request.query("topic_name") ?? request.query("topicName") else {
            throw Refusal.invalid("topic_name is missing: …/topicSubscriptions?topic_name=NAME")
        }
        let topic = try Self.topic(written)
        let name = "projects/\(project)/registrations/\(token)/topicSubscriptions/\(topic.text)"
        switch try await subscriptions.subscribe([token], to: topic, team: team).first {
        case .done: return .json(Subscription(name: name))
        case .unchanged:
            throw Refusal(
                status: .conflict, name: "ALREADY_EXISTS", message: "the registration is subscribed to \(topic) already"
            )
        case let outcome: throw Self.refusal(outcome)
        }
    }

    /// The route `DELETE …/NAME?allow_missing=true`: an empty object; without `allow_missing` 404 for a missing one.
    func delete(_ request: Request, project: String, token: String, topic written: String) async throws -> Response {
        let team = try await team(request, project)
        let topic = try Self.topic(written.removingPercentEncoding ?? written)
        switch try await subscriptions.unsubscribe([token], from: topic, team: team).first {
        case .done: break
        case .unchanged:
            guard (request.query("allow_missing") ?? request.query("allowMissing")) == "true" else {
                throw Refusal(
                    status: .notFound, name: "NOT_FOUND", message: "the registration is not subscribed to \(topic)")
            }
        case let outcome: throw Self.refusal(outcome)
        }
        return .json([String: String]())
    }

    /// The team of a project for which the caller may act, once the request is counted.
    private func team(_ request: Request, _ project: String) async throws -> TeamID {
        let team = try await access.team(authorization: request.headers[.authorization])
        guard let meant = ProjectName.team(project) else {
            throw Refusal.invalid("\"\(project)\" is no project: its id is a team's id, or the number of one")
        }
        guard team == nil || team == meant else {
            throw Refusal(
                status: .forbidden, name: "PERMISSION_DENIED",
                message: "the access token is of another project than \(project)")
        }
        if let seconds = quotas.take(meant) {
            throw Refusal(
                status: .tooManyRequests, name: "RESOURCE_EXHAUSTED",
                message: "the project has made its requests of this second; try again after the time of Retry-After",
                errorCode: "QUOTA_EXCEEDED", retryAfter: seconds)
        }
        return meant
    }

    private static func topic(_ written: String) throws -> TopicName {
        do { return try TopicName(written) } catch { throw Refusal.invalid("\(error)") }
    }

    private static func refusal(_ outcome: TopicSubscriptions.Outcome?) -> Refusal {
        switch outcome {
        case .invalid: .invalid("the registration token is not valid: it has 64 hexadecimal digits")
        case .foreign:
            Refusal(
                status: .forbidden, name: "PERMISSION_DENIED", message: "the registration is of another project",
                errorCode: "SENDER_ID_MISMATCH")
        case .tooManyTopics:
            Refusal(
                status: .tooManyRequests, name: "RESOURCE_EXHAUSTED",
                message: "the registration has \(TopicSubscriptions.topicLimit) topics, and may not have more",
                errorCode: "QUOTA_EXCEEDED")
        default:
            Refusal(
                status: .notFound, name: "NOT_FOUND", message: "the registration is not there, or has ended",
                errorCode: "UNREGISTERED")
        }
    }
}
