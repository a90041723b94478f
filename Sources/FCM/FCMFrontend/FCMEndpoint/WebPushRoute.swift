import APNsProtocol
import FCMProtocol
import Foundation
import HTTPTypes
import Hummingbird
import Logging
import NIOCore
import Networking
import PushCore
import PushServer
import WebPushProtocol

/// The additional services for sending to browsers' subscriptions.
package struct WebPushServices: Sendable {
    /// The register of browsers' registrations.
    package var register: any RegisterStore & FCMRegister & WebChannelRegister
    /// Opens the addresses of subscriptions that browsers made over a WebSocket.
    package var sealer: SubscriptionSealer
    /// The service that withdraws messages.
    package var withdrawal: any NotificationWithdrawal
    /// The timelines of messages, for receipts.
    package var timelines: any TimelineService

    /// Creates an instance from its properties.
    package init(
        register: any RegisterStore & FCMRegister & WebChannelRegister, sealer: SubscriptionSealer,
        withdrawal: any NotificationWithdrawal, timelines: any TimelineService
    ) {
        self.register = register
        self.sealer = sealer
        self.timelines = timelines
        self.withdrawal = withdrawal
    }
}

/// The routes `POST /wp/{token}` and `POST /fcm/send/{token}`: a push message for a browser's subscription (RFC 8030),
/// whose URL is the credential. A subscription with its application server's key accepts only that server's messages
/// (RFC 8292).
struct WebPushRoute: Sendable {
    let services: WebPushServices
    let apps: AppDirectory
    let tokens: TokenDirectory
    let quotas: SendQuotas
    let acceptor: any NotificationAcceptor
    /// The senders' clock, by which their tokens are valid.
    let senderClock: @Sendable () -> Timestamp
    let names: @Sendable () -> ServerNames
    let metrics: FCMMetrics
    /// Adds unknown subscriptions; `nil` where they are refused.
    var onDemand: OnDemandTokens?

    struct Subscription {
        var app: RegisteredApp
        var subject: TokenSubject
        /// The sender that the subscription names; empty for none.
        var sender: String
        /// The id of a subscription that was made over a WebSocket.
        var channel: PushChannelID?

        /// The message of a request, as the device's wire sends it.
        func content(_ request: WebPushRequest) -> PushContent {
            guard let channel else { return .fcm(request.envelope.bytes) }
            return .apns(ChannelMessage(channel: channel, envelope: request.envelope).bytes)
        }

        /// The component of a message's address before its id; `nil` where it is that of the subscription's own address.
        func component(of message: NotificationID, _ sealer: SubscriptionSealer) throws -> String? {
            try channel.map { try sealer.seal(.init(device: subject.device, channel: $0), message: message) }
        }

        /// The id by which a later message of the same topic replaces this one; each subscription has its own topics.
        func collapseID(_ request: WebPushRequest) -> String? {
            guard let channel, let topic = request.topic else { return request.topic }
            return "\(Base64URL.encode(channel.bytes))/\(topic)"
        }
    }

    func send(_ request: Request, token: String, logger: Logger) async -> Response {
        await answer(logger) {
            let subscription = try await subscription(of: token)
            try await prove(request, for: subscription)
            if let seconds = quotas.take(subscription.app.team, at: acceptor.now) {
                throw Self.later(.tooManyRequests, after: seconds)
            }
            // A body that says its size need not be read for that.
            if let size = request.headers[.contentLength].flatMap({ Int($0) }) { try Self.check(size) }
            let body = Array(buffer: try await request.bodyAsSent())
            try Self.check(body.count)
            let asked: WebPushRequest
            do throws(WebPushRequest.Fault) {
                asked = try WebPushRequest(body: body) { name in
                    HTTPField.Name(name).flatMap { request.headers[$0] }
                }
            } catch { throw Self.refusal(.badRequest, error.reason) }
            let id = try await accept(asked, for: subscription, note: "by Web Push")
            let location = "/wp/\(try subscription.component(of: id, services.sealer) ?? token)/messages/\(id)"
            var headers: HTTPFields = [.location: location, Self.ttl: String(asked.timeToLive)]
            guard Self.wantsReceipt(request) else { return Response(status: .created, headers: headers) }
            headers[Self.link] = "<\(location)>; rel=\"urn:ietf:params:push:receipt\""
            return Response(status: .accepted, headers: headers)
        }
    }

    private static func check(_ size: Int) throws {
        guard size <= WebPushRequest.largestBody else {
            throw refusal(.contentTooLarge, "the body has \(size) bytes, at most 4096 are allowed")
        }
    }

    /// Makes a message durable.
    func accept(
        _ message: WebPushRequest, for subscription: Subscription, note: String
    ) async throws -> NotificationID {
        var acceptance = AcceptedNotification(
            app: subscription.app, subject: subscription.subject,
            notification: Notification(
                apnsID: nil, topic: subscription.app.topic, pushType: nil, priority: message.urgency.priority,
                expiry: message.timeToLive == 0 ? .once : .until(acceptor.now + .seconds(message.timeToLive)),
                collapseID: subscription.collapseID(message), content: subscription.content(message)), ticket: 0)
        acceptance.note = note
        guard let id = await AcceptanceAnswers.of([acceptance], by: acceptor).first, let id else {
            throw Self.later(.serviceUnavailable, after: 5)
        }
        metrics.accepted.increment()
        return id
    }

    private static let ttl = HTTPField.Name("TTL") ?? .retryAfter
    static let link = HTTPField.Name("Link") ?? .location
    static let prefer = HTTPField.Name("Prefer")

    static let failure = RepeatedMessage("a push message could not be answered")

    func answer(_ logger: Logger, _ body: () async throws -> Response) async -> Response {
        do { return try await body() } catch let error as ControlError {
            var response = error.response
            // RFC 9110, section 15.5.2.
            if error.status == .unauthorized { response.headers[.wwwAuthenticate] = "vapid" }
            return response
        } catch let error as Later {
            var response = Self.refusal(error.status, "send again after the time of Retry-After").response
            response.headers[.retryAfter] = String(error.seconds)
            return response
        } catch let error as any HTTPResponseError {
            let isTooLarge = error.status == .contentTooLarge
            return Self.refusal(
                error.status, isTooLarge ? "the body has more than 4096 bytes" : "the body cannot be read"
            ).response
        } catch {
            Self.failure.log(error, to: logger)
            return ControlError.unavailable.response
        }
    }

    struct Later: Error {
        var status: HTTPResponse.Status
        var seconds: Int
    }

    static func later(_ status: HTTPResponse.Status, after seconds: Int) -> Later {
        Later(status: status, seconds: seconds)
    }

    static func refusal(_ status: HTTPResponse.Status, _ message: String) -> ControlError {
        ControlError(status: status, code: "refused", message: message)
    }

    /// The team of subscriptions that were not made here.
    private static let teamOnDemand = ServiceAccountDirectory.team(ofProject: "web-push")

    /// The subscription of a URL that was not made here, on a device of its own; `nil` for others, and where none are added.
    private func subscriptionOnDemand(of text: String) async throws -> Subscription? {
        guard let onDemand else { return nil }
        if let refusing = onDemand.refusing(text) {
            guard refusing.webPushStatus != .tooManyRequests, refusing.webPushStatus != .serviceUnavailable else {
                throw Self.later(refusing.webPushStatus, after: 1)
            }
            throw Self.refusal(refusing.webPushStatus, RefusingToken.note)
        }
        return try await onDemand.registration(of: text, team: Self.teamOnDemand).map {
            Subscription(app: $0.app, subject: $0.subject, sender: "")
        }
    }

    /// The browser's subscription of a URL.
    func subscription(of text: String) async throws -> Subscription {
        if let subject = services.sealer.open(text) { return try await subscription(of: subject) }
        if let found = try await subscriptionOnDemand(of: text) { return found }
        let missing = Self.refusal(.notFound, "there is no subscription of this address; delete it")
        guard let token = DeviceToken(text: text) else { throw missing }
        var resolution = tokens.known(token)
        if case .needsLookUp = resolution { resolution = try await tokens.find(token) }
        let subject: TokenSubject
        switch resolution {
        case .bad, .needsLookUp: throw missing
        case .ended(let instant):
            throw Self.refusal(.gone, "the subscription ended, \(instant); delete it")
        case .active(let found): subject = found
        }
        let kept = try await services.register.webRegistrations(of: subject.device).first {
            $0.app == subject.app && $0.environment == subject.environment
        }
        guard let kept, let app = try await apps.find(subject.app), app.isPushEnabled else { throw missing }
        return Subscription(app: app, subject: subject, sender: kept.registration.sender)
    }

    /// The subscription that a browser made over a WebSocket.
    func subscription(of subject: SubscriptionSealer.Subject) async throws -> Subscription {
        // The address was sealed here: what is not there any more has ended.
        guard let channel = try await services.register.webChannel(subject.channel, of: subject.device),
            let app = try await apps.find(channel.app), app.isPushEnabled
        else { throw Self.refusal(.gone, "the subscription has ended; delete it") }
        return Subscription(
            app: app,
            subject: TokenSubject(
                cell: 0, device: channel.device, app: channel.app, environment: channel.environment,
                generation: channel.generation), sender: channel.sender, channel: channel.id)
    }

    /// - Throws: 401 without a credential where one is needed, 403 for one that does not count.
    func prove(_ request: Request, for subscription: Subscription) async throws {
        let wanted = VAPIDToken.key(ofSender: subscription.sender)
        guard let authorization = request.headers[.authorization] else {
            guard wanted != nil else { return }
            throw Self.refusal(
                .unauthorized, "the subscription names its application server's key: send Authorization: vapid t=, k=")
        }
        let token: VAPIDToken
        do throws(VAPIDToken.Fault) {
            token = try VAPIDToken(
                authorization: authorization,
                cryptoKey: HTTPField.Name("crypto-key").flatMap { request.headers[$0] })
        } catch { throw Self.refusal(.forbidden, error.reason) }
        if let fault = token.timeFault(at: senderClock()) { throw Self.refusal(.forbidden, fault) }
        let names = names()
        guard token.isFor({ names.include(origin: $0) }) else {
            throw Self.refusal(
                .forbidden,
                "the token's aud must be the origin of the subscription's address, at a name of this server, which are "
                    + "those of its setting server-names or of its certificate")
        }
        guard wanted == nil || wanted == token.key else {
            throw Self.refusal(.forbidden, "the key is not the one that the subscription names")
        }
        if wanted != nil { try await RequestScope.prove(.clients(of: subscription.app.team)) }
    }
}

extension RefusingToken {
    /// The status that a push service answers (RFC 8030, sections 7.3 and 8.4).
    fileprivate var webPushStatus: HTTPResponse.Status {
        switch self {
        case .invalid: .notFound
        case .foreign: .forbidden
        case .gone: .gone
        case .tooMany: .tooManyRequests
        case .failed: .internalServerError
        case .unavailable: .serviceUnavailable
        }
    }
}

extension WebPushRequest.Urgency {
    fileprivate var priority: Priority {
        switch self {
        case .veryLow: .low
        case .low, .normal: .considerate
        case .high: .immediate
        }
    }
}
