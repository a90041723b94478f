import FCMProtocol
import HTTPTypes
import Hummingbird
import Logging
import PushCore
import PushServer

/// Sends the messages of chat servers, which authenticate with a key in their gateway's address.
///
/// A key of a service account reaches this server's devices, a key of a notification hub the hub's phones.
struct ChatGateways: Sendable {
    let keys: ServerKeySealer
    let accounts: ServiceAccountDirectory
    let messages: MessageRoute
    let webPush: WebPushRoute?
    /// The notification hubs; `nil` for a server without them.
    let hubs: (any ChatPushHub)?

    /// The holder of a key.
    enum Sender: Sendable {
        /// A team, which sends to the devices of this server.
        case team(TeamID)
        /// A hub, by its key.
        case hub(key: String)
    }

    /// The outcome of one message.
    enum Outcome: Sendable {
        case accepted
        /// The device token is not valid, or no longer: the chat server must not use it any more.
        case tokenEnded(FCMRejection)
        /// The message is refused, and would be again.
        case refused(FCMRejection)
        /// The server cannot take the message now; the seconds are those after which it may be sent again.
        case later(FCMRejection, seconds: Int)
    }

    /// The sender of a gateway's key.
    ///
    /// - Throws: An ``FCMRejection`` for a key that is not valid.
    func sender(ofKey key: String?) async throws -> Sender {
        if let key, let accepts = try await hubs?.accepts(key: key) {
            guard accepts else {
                throw FCMRejection(
                    .unauthenticated,
                    "the gateway's address must have the name of a hub, a dot, and a key of the hub with the right Send"
                )
            }
            return .hub(key: key)
        }
        guard let keyID = key.flatMap(keys.open), let account = try await accounts.account(keyID: keyID) else {
            throw FCMRejection(
                .unauthenticated,
                "the gateway's address has no valid key; `aldaba service-account gateway` prints the addresses")
        }
        try await RequestScope.prove(.team(account.team))
        return .team(account.team)
    }

    /// Sends a message to a device of a team, or to a phone of a hub.
    ///
    /// - Parameter platform: The push service of the phone.
    func send(
        _ message: FCMMessage, by sender: Sender, to platform: ChatPush.Platform, logger: Logger
    ) async -> Outcome {
        switch sender {
        case .team(let team): await send(message, team: team, logger: logger)
        case .hub(let key): await send(message, hubKey: key, to: platform, logger: logger)
        }
    }

    private func send(
        _ message: FCMMessage, hubKey: String, to platform: ChatPush.Platform, logger: Logger
    ) async -> Outcome {
        guard let hubs, case .token(let token) = message.target else { return .later(.notNow, seconds: 5) }
        let isApple = platform == .apple
        let push = ChatPush(
            platform: platform, token: token, body: isApple ? message.applePayload : message.androidBody,
            headers: isApple ? message.appleHeaders : [:], event: message.eventCollapseID)
        do {
            switch try await hubs.send(push, key: hubKey) {
            case .accepted: return .accepted
            case .tokenEnded:
                return .tokenEnded(FCMRejection(.unregistered, "the push service has refused the token for good"))
            case .refused(let reason): return .refused(FCMRejection(.invalidArgument, reason))
            }
        } catch {
            let refusal = FCMRejection.of(error, logger: logger)
            return .later(refusal, seconds: refusal.retryAfter ?? 5)
        }
    }

    private func send(_ message: FCMMessage, team: TeamID, logger: Logger) async -> Outcome {
        do {
            try messages.checkQuota(team)
            _ = try await messages.send(message, team: team, isDryRun: false)
            messages.metrics.accepted.increment()
            return .accepted
        } catch {
            let refused =
                error as? MessageTargetValidator.Refused
                ?? MessageTargetValidator.Refused(refusal: .of(error, logger: logger))
            messages.metrics.refused(refused.refusal)
            let outcome = Self.outcome(of: refused.refusal)
            if case .later = outcome { return outcome }
            _ = messages.recordRefusal(refused, team)
            return outcome
        }
    }

    /// The outcome that a chat server is told for a rejection of FCM.
    static func outcome(of refusal: FCMRejection) -> Outcome {
        switch refusal.code {
        case .unregistered, .senderIDMismatch: .tokenEnded(refusal)
        case .invalidArgument where refusal.field == "message.token": .tokenEnded(refusal)
        case .quotaExceeded, .unavailable, .internal: .later(refusal, seconds: refusal.retryAfter ?? 5)
        case nil where refusal.status == .unavailable: .later(refusal, seconds: refusal.retryAfter ?? 5)
        default: .refused(refusal)
        }
    }

    /// Answers a request by a function; errors become refusals.
    func answer(
        _ request: Request, logger: Logger, refusal: (FCMRejection) -> Response,
        _ body: ([UInt8]) async throws -> Response
    ) async -> Response {
        do {
            return try await body(Array(buffer: try await request.wholeBody()))
        } catch {
            let rejection = FCMRejection.of(error, logger: logger)
            if rejection.status == .unauthenticated {
                CredentialRefusals.log("a chat server's gateway, \(rejection.message)", to: logger)
            }
            return refusal(rejection)
        }
    }
}
