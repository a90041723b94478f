import FCMProtocol
import HTTPTypes
import Hummingbird
import Logging
import NIOCore
import PushCore
import PushServer

/// The route `POST /fcm/send` of FCM's legacy HTTP API, which Google ended in 2024.
///
/// A message goes the same path as one of `messages:send`; requests and answers have the old form. Nothing is ever
/// replaced by a canonical id.
struct LegacyMessageRoute: Sendable {
    let keys: ServerKeySealer
    let accounts: ServiceAccountDirectory
    let messages: MessageRoute

    func respond(_ request: Request, logger: Logger) async -> Response {
        do {
            guard let team = try await team(request) else {
                return Self.text("Unauthorized: the field Authorization must be key=SERVER_KEY\n", status: 401)
            }
            let body = Array(buffer: try await request.wholeBody())
            let asked = try LegacyFCMRequest(body: body) { $0.hasPrefix(DeviceGroupKey.mark) }
            try messages.checkQuota(team)
            return .fcm(try await send(asked, team: team, logger: logger).bytes)
        } catch {
            let refusal = FCMRejection.of(error, logger: logger)
            messages.metrics.refused(refusal)
            let status = refusal.status.http
            return Self.text(refusal.note + "\n", status: status == 404 ? 400 : status, retryAfter: refusal.retryAfter)
        }
    }

    /// The project of a server key; `nil` for one that is not valid.
    private func team(_ request: Request) async throws -> TeamID? {
        guard let field = request.headers[.authorization], field.hasPrefix("key="),
            let keyID = keys.open(field.dropFirst(4).trimmingPrefix(" ").description),
            let account = try await accounts.account(keyID: keyID)
        else { return nil }
        try await RequestScope.prove(.team(account.team))
        return account.team
    }

    /// - Returns: The body of the answer.
    private func send(_ asked: LegacyFCMRequest, team: TeamID, logger: Logger) async throws -> JSONValue {
        switch asked.targets {
        case .token(let token): return try await sendEach([token], asked, team, logger)
        case .tokens(let tokens): return try await sendEach(tokens, asked, team, logger)
        case .group(let key): return try await sendGroup(key, asked, team, logger)
        case .audience(let target):
            switch await outcome(of: asked.message(to: target), team, asked.isDryRun, isAudience: true, logger) {
            case .success(let sent): return .object([.init("message_id", .number(Self.number(sent.id)))])
            case .failure(let error): return .object([.init("error", .string(error.rawValue))])
            }
        }
    }

    private func sendEach(
        _ tokens: [String], _ asked: LegacyFCMRequest, _ team: TeamID, _ logger: Logger
    ) async throws -> JSONValue {
        let outcomes = try await withThrowingTaskGroup(of: (Int, JSONValue).self) { group in
            for (place, token) in tokens.enumerated() {
                group.addTask {
                    let outcome = await outcome(
                        of: asked.message(to: .token(token)), team, asked.isDryRun, isAudience: false, logger)
                    let member: JSONValue.Member =
                        switch outcome {
                        case .success(let sent):
                            .init("message_id", .string(sent.id.map { "0:\($0)" } ?? "fake_message_id"))
                        case .failure(let error): .init("error", .string(error.rawValue))
                        }
                    return (place, .object([member]))
                }
            }
            var results = [JSONValue](repeating: .null, count: tokens.count)
            for try await (place, result) in group { results[place] = result }
            return results
        }
        let failures = outcomes.count { $0["error"] != nil }
        return .object([
            .init("multicast_id", .number(String(Int64.random(in: 1 ... .max)))),
            .init("success", .number(String(outcomes.count - failures))), .init("failure", .number(String(failures))),
            .init("canonical_ids", .number("0")), .init("results", .array(outcomes)),
        ])
    }

    private func sendGroup(
        _ key: String, _ asked: LegacyFCMRequest, _ team: TeamID, _ logger: Logger
    ) async throws -> JSONValue {
        let message = asked.message(to: .token(key))
        switch await outcome(of: message, team, asked.isDryRun, isAudience: false, logger) {
        case .success(let sent):
            let failed = sent.refused.compactMap(\.member).map { JSONValue.string($0) }
            var answer: [JSONValue.Member] = [
                .init("success", .number(String(sent.accepted))), .init("failure", .number(String(sent.refused.count))),
            ]
            if !failed.isEmpty { answer.append(.init("failed_registration_ids", .array(failed))) }
            return .object(answer)
        case .failure(let error): return .object([.init("error", .string(error.rawValue))])
        }
    }

    /// Sends to one target. A refusal, and a failure of the server, is a value: other targets have their own.
    private func outcome(
        of message: FCMMessage, _ team: TeamID, _ isDryRun: Bool, isAudience: Bool, _ logger: Logger
    ) async -> Result<MessageRoute.Sent, LegacyFCMError> {
        do {
            let sent = try await messages.send(message, team: team, isDryRun: isDryRun)
            if sent.id == nil { messages.metrics.checked.increment() } else { messages.metrics.accepted.increment() }
            return .success(sent)
        } catch {
            let refused =
                error as? MessageTargetValidator.Refused
                ?? MessageTargetValidator.Refused(refusal: .of(error, logger: logger))
            messages.metrics.refused(refused.refusal)
            if refused.refusal.status != .unavailable { _ = messages.recordRefusal(refused, team) }
            return .failure(LegacyFCMError(refused.refusal, isAudience: isAudience))
        }
    }

    /// The number of a message to a topic, which the old form has as a number.
    private static func number(_ id: NotificationID?) -> String { String(id?.rawValue ?? 0) }

    private static func text(_ text: String, status: Int, retryAfter: Int? = nil) -> Response {
        var headers: HTTPFields = [.contentType: "text/plain; charset=UTF-8", .cacheControl: "no-store"]
        if let retryAfter { headers[.retryAfter] = String(retryAfter) }
        return Response(
            status: HTTPResponse.Status(code: status), headers: headers,
            body: ResponseBody(byteBuffer: ByteBuffer(string: text)))
    }
}
