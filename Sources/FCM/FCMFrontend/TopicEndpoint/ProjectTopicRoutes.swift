import APNsProtocol
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
    let web: any RegisterStore & FCMRegister

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

        static func missing(_ topic: TopicName) -> Refusal {
            Refusal(
                status: .notFound, name: "NOT_FOUND", message: "the registration is not subscribed to \(topic)")
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

    /// The parts of a request's path, without percent-encoding.
    struct Names: Sendable {
        var project: String
        /// A registration token or a Firebase installation id.
        var registration: String
        /// The topic's name; empty in a path without one.
        var topic: String

        init(_ context: ControlContext) throws {
            func plain(_ name: String) -> String? {
                context.parameters.get(name).map { $0.removingPercentEncoding ?? $0 }
            }
            project = try context.parameters.require("project")
            registration = plain("token") ?? ""
            topic = plain("topic") ?? ""
        }

        func subscription(_ topic: TopicName) -> Subscription {
            Subscription(name: "projects/\(project)/registrations/\(registration)/topicSubscriptions/\(topic.text)")
        }
    }

    struct Subscription: Encodable { var name: String }

    /// The route `POST …?topic_name=NAME`: the subscription; 409 for an existing one.
    func create(_ request: Request, _ names: Names) async throws -> Response {
        let team = try await team(request, names.project)
        guard let written = request.query("topic_name") ?? request.query("topicName") else {
            throw Refusal.invalid("topic_name is missing: …/topicSubscriptions?topic_name=NAME")
        }
        let topic = try Self.topic(written)
        let tokens = try await tokens(of: names.registration, team)
        guard try Self.hasChanged(await subscriptions.subscribe(tokens, to: topic, team: team)) else {
            throw Refusal(
                status: .conflict, name: "ALREADY_EXISTS", message: "the registration is subscribed to \(topic) already"
            )
        }
        return .json(names.subscription(topic))
    }

    /// The route `GET …`: the subscriptions, by name, in pages.
    func list(_ request: Request, _ names: Names) async throws -> Response {
        struct Page: Encodable {
            var topicSubscriptions: [Subscription]
            var nextPageToken: String?
        }
        let team = try await team(request, names.project)
        let size = try Self.pageSize(request.query("page_size") ?? request.query("pageSize"))
        let last = request.query("page_token") ?? request.query("pageToken") ?? ""
        let topics = try await topics(of: names.registration, team).filter { $0.text > last }
        return .json(
            Page(
                topicSubscriptions: topics.prefix(size).map(names.subscription),
                nextPageToken: topics.count > size ? topics[size - 1].text : nil))
    }

    /// The route `GET …/NAME`: the subscription; 404 for a missing one.
    func get(_ request: Request, _ names: Names) async throws -> Response {
        let team = try await team(request, names.project)
        let topic = try Self.topic(names.topic)
        guard try await topics(of: names.registration, team).contains(topic) else { throw Refusal.missing(topic) }
        return .json(names.subscription(topic))
    }

    /// The route `PATCH …/NAME?allow_missing=true`: the subscription, which is made where it is missing; without `allow_missing` 404
    /// for a missing one.
    func patch(_ request: Request, _ names: Names) async throws -> Response {
        guard Self.allowsMissing(request) else { return try await get(request, names) }
        let team = try await team(request, names.project)
        let topic = try Self.topic(names.topic)
        let tokens = try await tokens(of: names.registration, team)
        _ = try Self.hasChanged(await subscriptions.subscribe(tokens, to: topic, team: team))
        return .json(names.subscription(topic))
    }

    /// The route `DELETE …/NAME?allow_missing=true`: an empty object; without `allow_missing` 404 for a missing one.
    func delete(_ request: Request, _ names: Names) async throws -> Response {
        let team = try await team(request, names.project)
        let topic = try Self.topic(names.topic)
        let tokens = try await tokens(of: names.registration, team)
        let hasChanged = try Self.hasChanged(await subscriptions.unsubscribe(tokens, from: topic, team: team))
        guard hasChanged || Self.allowsMissing(request) else { throw Refusal.missing(topic) }
        return .json([String: String]())
    }

    private static func allowsMissing(_ request: Request) -> Bool {
        (request.query("allow_missing") ?? request.query("allowMissing")) == "true"
    }

    /// The size of a page: 1,000 unless another is asked for, at most 2,000.
    private static func pageSize(_ written: String?) throws -> Int {
        guard let written else { return 1000 }
        guard let size = Int(written), size >= 0 else { throw Refusal.invalid("pageSize is a number, 1 to 2000") }
        return size == 0 ? 1000 : min(size, 2000)
    }

    // MARK: Registrations

    /// The tokens of what a path names: of itself, or of everything that an installation has registered.
    private func tokens(of registration: String, _ team: TeamID) async throws -> [String] {
        guard DeviceToken(text: registration) == nil else { return [registration] }
        let subjects = try await web.activeRegistrations(ofInstallation: registration, team: team)
        if subjects.isEmpty {
            if subscriptions.takesAnyToken { return [registration] }
            // An installation's id has 22 characters.
            throw Self.refusal(registration.utf8.count == 22 ? .unregistered : .invalid)
        }
        return try subscriptions.tokens(of: subjects)
    }

    /// The topics of a registration, by name.
    private func topics(of registration: String, _ team: TeamID) async throws -> [TopicName] {
        var topics: Set<TopicName> = []
        for token in try await tokens(of: registration, team) {
            if case .refused(let outcome) = try await subscriptions.registration(of: token, team: team) {
                throw Self.refusal(outcome)
            }
            topics.formUnion(try await subscriptions.info(of: token, team: team)?.topics.map(\.topic) ?? [])
        }
        return topics.sorted { $0.text < $1.text }
    }

    /// Whether a change of subscriptions changed one.
    ///
    /// - Throws: The refusal, where every registration was refused.
    private static func hasChanged(_ outcomes: [TopicSubscriptions.Outcome]) throws -> Bool {
        if outcomes.contains(.done) { return true }
        guard outcomes.contains(.unchanged) else { throw refusal(outcomes.first) }
        return false
    }

    /// The team of a project for which the caller may act, once the request is counted.
    private func team(_ request: Request, _ project: String) async throws -> TeamID {
        let team = try await access.team(authorization: request.headers[.authorization])
        guard
            let meant = team.flatMap({ subscriptions.isProject(project, of: $0) ? $0 : nil })
                ?? ProjectName.team(project)
        else {
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
        case .invalid:
            .invalid("this is neither a registration token, of 64 hexadecimal digits, nor the id of an installation")
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
