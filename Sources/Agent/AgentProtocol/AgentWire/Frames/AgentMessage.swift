/// A message from the agent to an app.
public enum AgentMessage: Hashable, Sendable {
    /// The first message of an accepted connection. See ``Welcome``.
    case welcome(Welcome)
    /// The agent refuses the connection, or ends it: a stable code, and a sentence with the remedy. The last message.
    case refused(version: Int, code: String, message: String)
    /// The answer to ``AppMessage/requestAuthorization(request:options:)``: whether the app may notify, and why the
    /// user was not asked, where that is so.
    case authorizationAnswered(request: Int64, granted: Bool, reason: String? = nil)
    /// The app's device token as 64 hex digits; `request` is `nil` when the token changed by itself.
    case registered(request: Int64?, token: String)
    /// There is no device token: a stable code, and a sentence with the cause.
    case registrationFailed(request: Int64, code: String, message: String)
    /// The answer to ``AppMessage/getSettings(request:)``.
    case settings(request: Int64, NotificationSettings)
    /// A notification for the app, and to which of its handlers it goes; answered by
    /// ``AppMessage/handled(notification:outcome:)``.
    case deliver(DeliveredNotification, kind: DeliveryKind)
    /// The person answered a notification; `response` is an id of its own, `action` an action's identifier.
    case respond(response: Int64, notification: DeliveredNotification, action: String, userText: String?)
    /// The agent has stored that the app handled these, and never delivers them again.
    case handledConfirmed(notifications: [Int64])
    /// The agent has stored that the app handled these responses, and never sends them again.
    case responsesConfirmed(responses: [Int64])
    /// The answer to ``AppMessage/center(request:_:)``.
    case centerAnswered(request: Int64, CenterAnswer)
    /// The answer to ``AppMessage/fetch(request:_:)``.
    case fetched(request: Int64, MediaAnswer)
    /// The answer to ``AppMessage/open(request:url:isTrial:)``.
    case opened(request: Int64, OpeningAnswer)
    /// The app is in this state from now on; it answers with ``AppMessage/stateChanged(_:)``.
    case enter(AppState)
    /// The person wants to see the app's own notification settings. The notification is the one that they came
    /// from, if any.
    case openSettings(DeliveredNotification?)
    /// So many of the app's notifications were deleted on the server before they were delivered, the first of them at
    /// this moment, in milliseconds since 1970.
    ///
    /// The message is repeated on each connection until the app has answered with
    /// ``AppMessage/deletionTaken(deletion:)``. Later deletions are reported with a new id, and a count that includes
    /// these.
    case messagesDeleted(deletion: Int64, count: Int, since: Int64)
    /// An answer to ``AppMessage/manage(request:_:)``.
    case managed(request: Int64, ManagementAnswer)
    /// A notification for a service extension to change; answered by ``AppMessage/extended(notification:content:)`` or
    /// ``AppMessage/extensionFailed(notification:message:)``.
    case extend(DeliveredNotification)
    /// The time for this notification is almost over: what there is should be answered now.
    case expire(notification: Int64)
    /// An event of the app's direct channel.
    case channel(ChannelEvent)
    /// An event of the app's Live Activities.
    case activity(ActivityEvent)
    /// A message about relaying, in the encoding of `RelayWire`.
    case relay(RelayPacket)
    /// A message of a later version; to be ignored.
    case unknown(type: String)

    /// The code of ``refused(version:code:message:)`` when another process of the same app has connected since.
    public static let superseded = "superseded"

    /// The first message to an accepted app.
    public struct Welcome: Codable, Hashable, Sendable {
        /// The agent's version of the protocol.
        public var version: Int
        /// ``AppState/background`` when the agent started the app for a background notification.
        public var state: AppState
        /// `UNAuthorizationStatus` (raw value).
        public var authorization: Int
        /// The notification whose opening started the app.
        public var launchNotification: DeliveredNotification?

        /// Makes a welcome in this version of the protocol.
        public init(
            version: Int = AgentFrame.version, state: AppState, authorization: Int,
            launchNotification: DeliveredNotification? = nil
        ) {
            self.version = version
            self.state = state
            self.authorization = authorization
            self.launchNotification = launchNotification
        }
    }

    /// Reads the body of one frame.
    ///
    /// - Throws: ``AgentFrameError/malformed(_:)`` for a text that is not a message.
    public init(frame: [UInt8]) throws(AgentFrameError) {
        if let packet = RelayPacket(body: frame) {
            self = .relay(packet)
            return
        }
        self = try AgentFrame.decode(Self.self, from: frame)
    }

    /// The frame of the message, as ``AgentFrame/encode(_:)`` makes it; a packet about relaying as its bytes.
    ///
    /// - Throws: The errors of that encoder.
    public func frame() throws(AgentFrameError) -> [UInt8] {
        if case .relay(let packet) = self { return try AgentFrame.framed(packet.body) }
        return try AgentFrame.encode(self)
    }
}

extension AgentMessage: Codable {
    private enum Key: String, CodingKey {
        case type, version, code, message, request, granted, token, notification, kind, response, action, userText
        case notifications, responses, state, deletion, count, since, reason
    }

    public init(from decoder: any Decoder) throws {
        let members = try decoder.container(keyedBy: Key.self)
        func member<Value: Decodable>(_ key: Key) throws -> Value { try members.decode(Value.self, forKey: key) }
        let type: String = try member(.type)
        switch type {
        case "welcome": self = .welcome(try Welcome(from: decoder))
        case "refused":
            self = .refused(version: try member(.version), code: try member(.code), message: try member(.message))
        case "authorizationAnswered":
            self = .authorizationAnswered(
                request: try member(.request), granted: try member(.granted),
                reason: try members.decodeIfPresent(String.self, forKey: .reason))
        case "registered":
            self = .registered(
                request: try members.decodeIfPresent(Int64.self, forKey: .request), token: try member(.token))
        case "registrationFailed":
            self = .registrationFailed(
                request: try member(.request), code: try member(.code), message: try member(.message))
        case "settings": self = .settings(request: try member(.request), try NotificationSettings(from: decoder))
        case "deliver": self = .deliver(try member(.notification), kind: try member(.kind))
        case "respond":
            self = .respond(
                response: try member(.response), notification: try member(.notification), action: try member(.action),
                userText: try members.decodeIfPresent(String.self, forKey: .userText))
        case "handledConfirmed": self = .handledConfirmed(notifications: try member(.notifications))
        case "responsesConfirmed": self = .responsesConfirmed(responses: try member(.responses))
        case "centerAnswered":
            self = .centerAnswered(request: try member(.request), try CenterAnswer(from: decoder))
        case "managed": self = .managed(request: try member(.request), try ManagementAnswer(from: decoder))
        case "fetched": self = .fetched(request: try member(.request), try MediaAnswer(from: decoder))
        case "opened": self = .opened(request: try member(.request), try OpeningAnswer(from: decoder))
        case "enter": self = .enter(try member(.state))
        case "openSettings":
            self = .openSettings(try members.decodeIfPresent(DeliveredNotification.self, forKey: .notification))
        case "messagesDeleted":
            self = .messagesDeleted(
                deletion: try member(.deletion), count: try member(.count), since: try member(.since))
        case "extend": self = .extend(try member(.notification))
        case "expire": self = .expire(notification: try member(.notification))
        case "channel": self = .channel(try ChannelEvent(from: decoder))
        case "activity": self = .activity(try ActivityEvent(from: decoder))
        case "relay": self = .relay(try RelayPacket(from: decoder))
        default: self = .unknown(type: type)
        }
    }

    public func encode(to encoder: any Encoder) throws {
        var members = encoder.container(keyedBy: Key.self)
        try members.encode(type, forKey: .type)
        switch self {
        case .welcome(let welcome): try welcome.encode(to: encoder)
        case .refused(let version, let code, let message):
            try members.encode(version, forKey: .version)
            try members.encode(code, forKey: .code)
            try members.encode(message, forKey: .message)
        case .authorizationAnswered(let request, let granted, let reason):
            try members.encode(request, forKey: .request)
            try members.encode(granted, forKey: .granted)
            try members.encodeIfPresent(reason, forKey: .reason)
        case .registered(let request, let token):
            try members.encodeIfPresent(request, forKey: .request)
            try members.encode(token, forKey: .token)
        case .registrationFailed(let request, let code, let message):
            try members.encode(request, forKey: .request)
            try members.encode(code, forKey: .code)
            try members.encode(message, forKey: .message)
        case .settings(let request, let settings):
            try members.encode(request, forKey: .request)
            try settings.encode(to: encoder)
        case .deliver(let notification, let kind):
            try members.encode(notification, forKey: .notification)
            try members.encode(kind, forKey: .kind)
        case .respond(let response, let notification, let action, let userText):
            try members.encode(response, forKey: .response)
            try members.encode(notification, forKey: .notification)
            try members.encode(action, forKey: .action)
            try members.encodeIfPresent(userText, forKey: .userText)
        case .handledConfirmed(let notifications): try members.encode(notifications, forKey: .notifications)
        case .responsesConfirmed(let responses): try members.encode(responses, forKey: .responses)
        case .centerAnswered(let request, let answer):
            try members.encode(request, forKey: .request)
            try answer.encode(to: encoder)
        case .managed(let request, let answer):
            try members.encode(request, forKey: .request)
            try answer.encode(to: encoder)
        case .fetched(let request, let answer):
            try members.encode(request, forKey: .request)
            try answer.encode(to: encoder)
        case .opened(let request, let answer):
            try members.encode(request, forKey: .request)
            try answer.encode(to: encoder)
        case .enter(let state): try members.encode(state, forKey: .state)
        case .openSettings(let notification): try members.encodeIfPresent(notification, forKey: .notification)
        case .messagesDeleted(let deletion, let count, let since):
            try members.encode(deletion, forKey: .deletion)
            try members.encode(count, forKey: .count)
            try members.encode(since, forKey: .since)
        case .extend(let notification): try members.encode(notification, forKey: .notification)
        case .expire(let notification): try members.encode(notification, forKey: .notification)
        case .channel(let event): try event.encode(to: encoder)
        case .activity(let event): try event.encode(to: encoder)
        case .relay(let packet): try packet.encode(to: encoder)
        case .unknown: break
        }
    }

    /// The name that the message has on the wire.
    private var type: String {
        switch self {
        case .welcome: "welcome"
        case .refused: "refused"
        case .authorizationAnswered: "authorizationAnswered"
        case .registered: "registered"
        case .registrationFailed: "registrationFailed"
        case .settings: "settings"
        case .deliver: "deliver"
        case .respond: "respond"
        case .handledConfirmed: "handledConfirmed"
        case .responsesConfirmed: "responsesConfirmed"
        case .centerAnswered: "centerAnswered"
        case .managed: "managed"
        case .fetched: "fetched"
        case .opened: "opened"
        case .enter: "enter"
        case .openSettings: "openSettings"
        case .messagesDeleted: "messagesDeleted"
        case .extend: "extend"
        case .expire: "expire"
        case .channel: "channel"
        case .activity: "activity"
        case .relay: "relay"
        case .unknown(let type): type
        }
    }
}
