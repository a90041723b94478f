import Foundation
import HTTPTypes
import Hummingbird
import Logging
import Networking
import PushCore
import PushServer

/// The Instance ID service's routes. Refusals are `{"error": "…"}`; the refusal of one token is a code in its result.
struct InstanceRoutes: Sendable {
    let subscriptions: TopicSubscriptions
    let access: any ProjectAuthentication
    let quotas: SubscriptionQuotas
    let web: any FCMRegister

    private static let tokenLimit = 1000
    private static let importLimit = 100

    /// A refusal of a whole request.
    private struct Refusal: Error {
        var status: HTTPResponse.Status
        var reason: String
        /// The seconds after which the request may be repeated; for the field `Retry-After`.
        var retryAfter: Int?
    }

    func answer(_ context: ControlContext, _ body: () async throws -> Response) async -> Response {
        do { return try await body() } catch let refusal as Refusal {
            var response = Self.refuse(refusal.status, refusal.reason)
            if let seconds = refusal.retryAfter { response.headers[.retryAfter] = String(seconds) }
            return response
        } catch let refusal as ControlError {
            return Self.refuse(refusal.status, refusal.message)
        } catch let error as any HTTPResponseError {
            return Self.refuse(
                error.status, error.status == .contentTooLarge ? "the body is too large" : "the request cannot be read")
        } catch {
            TopicInterface.failure.log(error, to: context.logger)
            var response = Self.refuse(.serviceUnavailable, "INTERNAL: the server could not find out; try again later")
            response.headers[.retryAfter] = "5"
            return response
        }
    }

    private static func refuse(_ status: HTTPResponse.Status, _ reason: String) -> Response {
        .json(["error": reason], status: status)
    }

    private struct BatchRequest: Decodable {
        var to: String
        var registration_tokens: [String]
    }

    private struct BatchAnswer: Encodable {
        struct Result: Encodable { var error: String? }
        var results: [Result]
    }

    /// The team for which a request changes subscriptions, once it is counted.
    private func teamOfChange(_ request: Request) async throws -> TeamID? {
        let team = try await access.team(authorization: request.headers[.authorization])
        if let seconds = quotas.take(team) {
            throw Refusal(status: .tooManyRequests, reason: "RESOURCE_EXHAUSTED", retryAfter: seconds)
        }
        return team
    }

    /// The routes `POST iid/v1:batchAdd` and `iid/v1:batchRemove`: one result for each token, in order.
    func batch(_ request: Request, isLeaving: Bool) async throws -> Response {
        let team = try await teamOfChange(request)
        guard let batch = try await request.json(BatchRequest.self) else {
            throw Refusal(
                status: .badRequest,
                reason: #"INVALID_ARGUMENT: the body is not {"to": "/topics/NAME", "registration_tokens": ["…"]}"#)
        }
        let topic = try Self.topic(batch.to)
        guard 1...Self.tokenLimit ~= batch.registration_tokens.count else {
            throw Refusal(
                status: .badRequest,
                reason:
                    "INVALID_ARGUMENT: registration_tokens has 1 to \(Self.tokenLimit) entries, and here \(batch.registration_tokens.count)"
            )
        }
        let outcomes =
            isLeaving
            ? try await subscriptions.unsubscribe(batch.registration_tokens, from: topic, team: team)
            : try await subscriptions.subscribe(batch.registration_tokens, to: topic, team: team)
        return .json(BatchAnswer(results: outcomes.map { .init(error: Self.code($0)) }))
    }

    /// The routes `POST` and `DELETE iid/v1/TOKEN/rel/topics/NAME`: an empty object.
    func change(_ request: Request, token: String, topic: String, isLeaving: Bool) async throws -> Response {
        let team = try await teamOfChange(request)
        let topic = try Self.topic(topic.removingPercentEncoding ?? topic)
        let outcomes =
            isLeaving
            ? try await subscriptions.unsubscribe([token], from: topic, team: team)
            : try await subscriptions.subscribe([token], to: topic, team: team)
        guard let outcome = outcomes.first,
            let code = Self.code(outcome)
        else { return .json([String: String]()) }
        throw Refusal(status: Self.status(outcome), reason: code)
    }

    /// The route `GET iid/info/TOKEN?details=true`: the app, and with details its topics.
    func info(_ request: Request, token: String) async throws -> Response {
        let team = try await access.team(authorization: request.headers[.authorization])
        if case .refused(let outcome) = try await subscriptions.registration(of: token, team: team) {
            throw Refusal(status: Self.status(outcome), reason: Self.code(outcome) ?? "NOT_FOUND")
        }
        guard let found = try await subscriptions.info(of: token, team: team) else {
            throw Refusal(status: .notFound, reason: "NOT_FOUND")
        }
        struct Answer: Encodable {
            struct Relation: Encodable { var topics: [String: [String: String]] }
            var application: String
            var applicationVersion = ""
            var authorizedEntity: String
            var platform: String
            var rel: Relation?
        }
        var answer = Answer(
            application: found.app.topic.rawValue,
            authorizedEntity: ProjectNumber(found.app.team)?.description ?? found.app.team.rawValue,
            platform: try await platform(of: found.subject, found.app))
        if request.query("details") == "true" {
            let dates = found.topics.map { ($0.topic.text, ["addDate": String($0.since.description.prefix(10))]) }
            answer.rel = .init(topics: Dictionary(dates, uniquingKeysWith: { $1 }))
        }
        return .json(answer)
    }

    /// The service's name for the platform of a registration: an agent counts as an iOS device.
    private func platform(of subject: TokenSubject, _ app: RegisteredApp) async throws -> String {
        let kept = try await web.webRegistrations(of: subject.device).first {
            $0.app == subject.app && $0.environment == subject.environment
        }
        guard let kept else { return "IOS" }
        return kept.isOfBrowser(app) ? "CHROME" : "ANDROID"
    }

    private struct ImportRequest: Decodable {
        var application: String
        var sandbox: Bool
        var apns_tokens: [String]
    }

    private struct ImportAnswer: Encodable {
        struct Result: Encodable {
            var apns_token: String
            var status: String
            var registration_token: String?
        }
        var results: [Result]
    }

    /// The route `POST iid/v1:batchImport`: a device token of this server is its own registration token.
    func batchImport(_ request: Request) async throws -> Response {
        let team = try await access.team(authorization: request.headers[.authorization])
        guard let wanted = try await request.json(ImportRequest.self) else {
            throw Refusal(
                status: .badRequest,
                reason:
                    #"INVALID_ARGUMENT: the body is not {"application": "…", "sandbox": false, "apns_tokens": ["…"]}"#)
        }
        guard 1...Self.importLimit ~= wanted.apns_tokens.count else {
            throw Refusal(
                status: .badRequest,
                reason:
                    "INVALID_ARGUMENT: apns_tokens has 1 to \(Self.importLimit) entries, and here \(wanted.apns_tokens.count)"
            )
        }
        let environment: PushEnvironment = wanted.sandbox ? .sandbox : .production
        var results: [ImportAnswer.Result] = []
        for token in wanted.apns_tokens {
            switch try await subscriptions.registration(of: token, team: team) {
            case .active(let subject, let app)
            where app.topic.rawValue == wanted.application && subject.environment == environment:
                results.append(.init(apns_token: token, status: "OK", registration_token: token.lowercased()))
            case .active: results.append(.init(apns_token: token, status: "INVALID_ARGUMENT"))
            case .refused(let outcome):
                results.append(.init(apns_token: token, status: Self.code(outcome) ?? "NOT_FOUND"))
            }
        }
        return .json(ImportAnswer(results: results))
    }

    private static func topic(_ name: String) throws -> TopicName {
        do { return try TopicName(name) } catch {
            throw Refusal(status: .badRequest, reason: "INVALID_ARGUMENT: \(error)")
        }
    }

    /// The service's code for an outcome; `nil` for success.
    private static func code(_ outcome: TopicSubscriptions.Outcome) -> String? {
        switch outcome {
        case .done, .unchanged: nil
        case .invalid: "INVALID_ARGUMENT"
        case .unregistered: "NOT_FOUND"
        case .foreign: "PERMISSION_DENIED"
        case .tooManyTopics: "TOO_MANY_TOPICS"
        }
    }

    private static func status(_ outcome: TopicSubscriptions.Outcome) -> HTTPResponse.Status {
        switch outcome {
        case .done, .unchanged: .ok
        case .invalid: .badRequest
        case .unregistered: .notFound
        case .foreign: .forbidden
        case .tooManyTopics: .tooManyRequests
        }
    }
}
