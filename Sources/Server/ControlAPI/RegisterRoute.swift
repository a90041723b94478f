import FCMFrontend
import HTTPTypes
import Hummingbird
import Logging
import NIOCore
import Networking
import PushCore
import PushServer
import WebPushProtocol

/// The route `POST /c2dm/register3`: an app on a device gets its device token, or returns it (`delete=true`).
///
/// The form's `app` is the topic, `sender` the team, `X-environment` the environment (`production` if absent).
/// `X-p256dh` and `X-auth` publish the app's public key, to which senders may encrypt; without them an earlier one is
/// removed. With `X-gcm.topic` the app whose registration token is the `sender` joins that topic, or leaves it; with
/// `X-broadcast-channel` it follows that broadcast channel, or follows it no longer. `scope`
/// and `X-scope` are the token's purpose: the only supported one is messages, under each name that libraries use for
/// it. Another scope has no tokens, and deleting one ends nothing: both are refused. A form with `X-subtype` is a
/// browser's, or another FCM library's (``WebEnrolment`` determines the app). With `X-channel` the device makes a
/// subscription of Web Push, whose endpoint is the token of the response; `sender` is then the application server's key,
/// or empty. The response is `token=…` or
/// `Error=CODE`, as clients of that interface parse it.
struct RegisterRoute: Sendable {
    let enrolment: any EnrolmentService
    var web: WebEnrolment?
    /// Changes apps' topics; `nil` for a server without topics.
    var topics: TopicSubscriptions?
    /// Has apps follow broadcast channels; `nil` for a server without them.
    var broadcastChannels: BroadcastChannels?
    /// Makes subscriptions of Web Push; `nil` for a server without browsers.
    var channels: ChannelRegistrations?
    /// The scheme of the listener's addresses.
    var scheme = "https"
    private static let failure = RepeatedMessage("a registration could not be answered")

    /// The interface's error codes that we use, and their statuses.
    enum Code: String {
        case authenticationFailed = "AUTHENTICATION_FAILED"
        case invalidSender = "INVALID_SENDER"
        case invalidParameters = "INVALID_PARAMETERS"
        case tooManyTopics = "TOO_MANY_TOPICS"
        case tooManyRegistrations = "TOO_MANY_REGISTRATIONS"
        case internalServerError = "InternalServerError"

        var response: Response {
            let status: HTTPResponse.Status =
                switch self {
                case .authenticationFailed: .unauthorized
                case .invalidSender, .invalidParameters, .tooManyTopics, .tooManyRegistrations: .badRequest
                case .internalServerError: .serviceUnavailable
                }
            return .text("Error=\(rawValue)", type: "text/plain; charset=utf-8", status: status)
        }
    }

    func respond(_ request: Request, logger: Logger) async throws -> Response {
        let body = try await request.formBody()
        guard let credentials = Self.credentials(request.headers[.authorization]),
            try await enrolment.checkIn(known: credentials) != nil
        else { return Code.authenticationFailed.response }
        try await RequestScope.prove(.devices)
        let form = try FormFields(bytes: Array(buffer: body))
        let topic = form.first("X-gcm.topic")
        guard topic == nil ? Self.isForMessages(form) : topics != nil else { return Code.invalidParameters.response }
        if let web, let subtype = form.first("X-subtype"), !subtype.isEmpty, topic == nil {
            return await respond(form, subtype: subtype, credentials: credentials, web: web, logger: logger)
        }
        if let channels, let channel = form.first("X-channel") {
            return await respond(
                form, channel: channel, credentials: credentials, authority: request.head.authority, by: channels,
                logger: logger)
        }
        let environmentName = form.first("X-environment") ?? PushEnvironment.production.rawValue
        guard let app = form.first("app"), Topic.hasShape(app),
            let environment = PushEnvironment(rawValue: environmentName.lowercased())
        else { return Code.invalidParameters.response }
        do {
            if let channel = form.first("X-broadcast-channel"), let broadcastChannels {
                return answer(
                    try await broadcastChannels.setSubscription(
                        channel, ofToken: form.first("sender") ?? "", device: credentials.device,
                        isLeaving: Self.isDeletion(form)), name: channel)
            }
            if let topic, let topics {
                return try await change(topic, form: form, credentials: credentials, topics: topics)
            }
            if Self.isDeletion(form) {
                return answer(
                    try await enrolment.unregister(
                        credentials, topic: Topic(rawValue: app), environment: environment), topic: app)
            }
            guard let sender = form.first("sender"), TeamID.hasShape(sender) else { return Code.invalidSender.response }
            let key: RecipientPublicKey?
            do { key = try Self.encryptionKey(form) } catch { return Code.invalidParameters.response }
            let outcome = try await enrolment.register(
                credentials, topic: Topic(rawValue: app), team: TeamID(rawValue: sender), environment: environment,
                encryptionKey: key)
            if case .token = outcome {
                try await web?.replaced(
                    on: credentials.device, topic: Topic(rawValue: app), environment: environment)
            }
            return answer(outcome, topic: app)
        } catch {
            Self.failure.log(error, to: logger)
            return Code.internalServerError.response
        }
    }

    /// The names of libraries for the scope of tokens that can be sent to; all refer to the one token of the app on the
    /// device.
    private static let messageScopes: Set<String> = ["", "*", "FCM", "GCM"]

    /// Whether the token of a form is one for messages. Libraries write the scope twice, some of them once or not at
    /// all.
    private static func isForMessages(_ form: FormFields) -> Bool {
        ["scope", "X-scope"].allSatisfy { messageScopes.contains(form.first($0) ?? "") }
    }

    /// Whether a form deletes a token; libraries write `true`, some of them `1`.
    private static func isDeletion(_ form: FormFields) -> Bool { ["true", "1"].contains(form.first("delete")) }

    /// Responds to a browser's registration.
    private func respond(
        _ form: FormFields, subtype: String, credentials: DeviceCredentials, web: WebEnrolment, logger: Logger
    ) async -> Response {
        let category = form.first("app") ?? ""
        let sender = form.first("sender") ?? ""
        guard Topic.hasShape(category) else { return Code.invalidParameters.response }
        guard sender.utf8.count <= WebEnrolment.longestSender else { return Code.invalidSender.response }
        do {
            if Self.isDeletion(form) {
                return answer(try await web.unregister(credentials, subtype: subtype), topic: category)
            }
            guard !sender.isEmpty else { return Code.invalidSender.response }
            return answer(
                try await web.register(credentials, category: category, subtype: subtype, sender: sender),
                topic: category)
        } catch {
            Self.failure.log(error, to: logger)
            return Code.internalServerError.response
        }
    }

    /// Responds to a registration for a subscription of Web Push.
    private func respond(
        _ form: FormFields, channel: String, credentials: DeviceCredentials, authority: String?,
        by channels: ChannelRegistrations, logger: Logger
    ) async -> Response {
        guard let channel = PushChannelID(text: channel) else { return Code.invalidParameters.response }
        do {
            if Self.isDeletion(form) {
                try await channels.enrolment.unregister(channel, of: credentials.device)
                return .text("token=\(channel)", type: "text/plain; charset=utf-8")
            }
            guard let origin = channels.address ?? authority.map({ "\(scheme)://\($0)" }) else {
                return Code.invalidParameters.response
            }
            let key = form.first("sender").flatMap { $0.isEmpty ? nil : $0 }
            return switch try await channels.enrolment.register(channel, key: key, of: credentials) {
            case .registered(let component):
                .text("token=\(origin)/wpush/v2/\(component)", type: "text/plain; charset=utf-8")
            case .full: Code.tooManyRegistrations.response
            case .refused(401, _): Code.authenticationFailed.response
            case .refused(400, _): Code.invalidSender.response
            case .refused: Code.invalidParameters.response
            }
        } catch {
            Self.failure.log(error, to: logger)
            return Code.internalServerError.response
        }
    }

    private func change(
        _ topic: String, form: FormFields, credentials: DeviceCredentials, topics: TopicSubscriptions
    ) async throws -> Response {
        answer(
            try await topics.setTopicSubscription(
                topic, ofToken: form.first("sender") ?? "", device: credentials.device,
                isLeaving: Self.isDeletion(form)), name: topic)
    }

    private func answer(_ outcome: DeviceTopicOutcome, name: String) -> Response {
        switch outcome {
        case .done: .text("token=\(name)", type: "text/plain; charset=utf-8")
        case .invalidTopic: Code.invalidParameters.response
        case .foreignToken: Code.invalidSender.response
        case .tooManyTopics: Code.tooManyTopics.response
        }
    }

    /// The public key that a form publishes; `nil` for none.
    private static func encryptionKey(_ form: FormFields) throws(RecipientKeyError) -> RecipientPublicKey? {
        let (point, secret) = (form.first("X-p256dh"), form.first("X-auth"))
        guard point != nil || secret != nil else { return nil }
        return try RecipientPublicKey(p256dh: point ?? "", auth: secret ?? "")
    }

    private func answer(_ outcome: RegistrationOutcome, topic: String) -> Response {
        switch outcome {
        case .token(let token): .text("token=\(token)", type: "text/plain; charset=utf-8")
        case .unregistered: .text("token=\(topic)", type: "text/plain; charset=utf-8")
        case .notAuthenticated: Code.authenticationFailed.response
        case .unknownTopic: Code.invalidSender.response
        }
    }

    /// Parses `AidLogin ID:SECRET`, both decimal.
    static func credentials(_ authorization: String?) -> DeviceCredentials? {
        guard let authorization, let space = authorization.firstIndex(of: " "),
            authorization[..<space].lowercased() == "aidlogin"
        else { return nil }
        let parts = authorization[authorization.index(after: space)...].split(
            separator: ":", omittingEmptySubsequences: false)
        guard parts.count == 2, let id = UInt64(parts[0]), let device = DeviceID(id), let secret = UInt64(parts[1])
        else { return nil }
        return DeviceCredentials(device: device, secret: secret)
    }
}
