/// A message from an app to the agent.
///
/// `request` numbers are the app's own; the agent's answer repeats them.
public enum AppMessage: Hashable, Sendable {
    /// The first message: the protocol's version, the app's bundle id, its secret if it has one, a name of this run,
    /// and what connects in the app's name.
    ///
    /// A run is one process of the app. With its name, an `add` that is repeated on a later connection under the
    /// same number is done once.
    case hello(version: Int, app: BundleID, secret: String?, run: String? = nil, role: ConnectionRole = .app)
    /// Asks for authorization; `options` is the raw value of `UNAuthorizationOptions`.
    case requestAuthorization(request: Int64, options: UInt)
    /// Asks for the app's device token, now and whenever it changes.
    case registerForRemoteNotifications(request: Int64)
    /// Gives the device token back: it ends, and providers receive `Unregistered`. Answered by
    /// ``ChannelEvent/accepted(request:)`` when the server has ended it, or by
    /// ``ChannelEvent/refused(request:code:message:)``.
    case unregisterForRemoteNotifications(request: Int64)
    /// Asks what the agent lets the app do; answered by ``AgentMessage/settings(request:_:)``.
    case getSettings(request: Int64)
    /// The app has finished launching: deliveries may begin.
    case ready
    /// The app has handled the notification with this id.
    case handled(notification: Int64, outcome: HandledOutcome)
    /// The app has handled the response with this id.
    case responseHandled(response: Int64)
    /// The app knows that notifications were deleted on the server:
    /// ``AgentMessage/messagesDeleted(deletion:count:since:)``.
    case deletionTaken(deletion: Int64)
    /// The app reports its state in its life cycle.
    case stateChanged(AppState)
    /// Asks something of the notification centre; answered by ``AgentMessage/centerAnswered(request:_:)``.
    case center(request: Int64, NotificationCenterCommand)
    /// A service extension has the agent fetch a file; answered by ``AgentMessage/fetched(request:_:)``.
    case fetch(request: Int64, MediaRequest)
    /// Has an address opened by the desktop, or asks whether it may be; answered by
    /// ``AgentMessage/opened(request:_:)``.
    case open(request: Int64, url: String, isTrial: Bool = false)
    /// A person's command from a terminal. It is the first message in place of `hello`, and the connection has no
    /// other kind.
    case manage(request: Int64, ManagementCommand)
    /// A service extension's answer for a notification: what is to be shown; `nil` where it changed nothing.
    case extended(notification: Int64, content: NotificationContent?)
    /// A service extension's answer cannot be sent, and why; the notification is shown as it came.
    case extensionFailed(notification: Int64, message: String)
    /// A command on the app's direct channel.
    case channel(ChannelCommand)
    /// A command about the app's Live Activities.
    case activity(ActivityCommand)
    /// A message about relaying from an app, its relay service, or a terminal, in the encoding of `RelayWire`. A
    /// terminal sends it in place of `hello`.
    case relay(RelayPacket)
    /// A message of a later version; to be ignored.
    case unknown(type: String)

    /// Reads the body of one frame. A request in it keeps its text.
    ///
    /// - Throws: ``AgentFrameError/malformed(_:)`` for a text that is not a message.
    public init(frame: [UInt8]) throws(AgentFrameError) {
        if let packet = RelayPacket(body: frame) {
            self = .relay(packet)
            return
        }
        self = try AgentFrame.decode(Self.self, from: frame)
        keepText(of: frame)
    }

    /// The frame of the message, as ``AgentFrame/encode(_:)`` makes it; a packet about relaying as its bytes.
    ///
    /// - Throws: The errors of that encoder.
    public func frame() throws(AgentFrameError) -> [UInt8] {
        if case .relay(let packet) = self { return try AgentFrame.framed(packet.body) }
        return try AgentFrame.encode(self)
    }
}

extension AppMessage: Codable {
    private enum Key: String, CodingKey {
        case type, version, app, secret, run, role, request, options, notification, outcome, result, response, state
        case deletion, content, message, url, isTrial
    }

    public init(from decoder: any Decoder) throws {
        let members = try decoder.container(keyedBy: Key.self)
        let type = try members.decode(String.self, forKey: .type)
        func request() throws -> Int64 { try members.decode(Int64.self, forKey: .request) }
        switch type {
        case "hello":
            self = .hello(
                version: try members.decode(Int.self, forKey: .version),
                app: try members.decode(BundleID.self, forKey: .app),
                secret: try members.decodeIfPresent(String.self, forKey: .secret),
                run: try members.decodeIfPresent(String.self, forKey: .run), role: try members.member(.role, else: .app)
            )
        case "requestAuthorization":
            self = .requestAuthorization(
                request: try request(), options: try members.member(.options, else: 0))
        case "registerForRemoteNotifications": self = .registerForRemoteNotifications(request: try request())
        case "unregisterForRemoteNotifications": self = .unregisterForRemoteNotifications(request: try request())
        case "getSettings": self = .getSettings(request: try request())
        case "ready": self = .ready
        case "handled":
            self = .handled(
                notification: try members.decode(Int64.self, forKey: .notification),
                outcome: try Self.decodeOutcome(members))
        case "responseHandled": self = .responseHandled(response: try members.decode(Int64.self, forKey: .response))
        case "deletionTaken": self = .deletionTaken(deletion: try members.decode(Int64.self, forKey: .deletion))
        case "stateChanged": self = .stateChanged(try members.decode(AppState.self, forKey: .state))
        case "manage": self = .manage(request: try request(), try ManagementCommand(from: decoder))
        case "fetch": self = .fetch(request: try request(), try MediaRequest(from: decoder))
        case "open":
            self = .open(
                request: try request(), url: try members.decode(String.self, forKey: .url),
                isTrial: try members.member(.isTrial, else: false))
        case "center": self = .center(request: try request(), try NotificationCenterCommand(from: decoder))
        case "channel": self = .channel(try ChannelCommand(from: decoder))
        case "activity": self = .activity(try ActivityCommand(from: decoder))
        case "relay": self = .relay(try RelayPacket(from: decoder))
        case "extended":
            self = .extended(
                notification: try members.decode(Int64.self, forKey: .notification),
                content: try members.decodeIfPresent(NotificationContent.self, forKey: .content))
        case "extensionFailed":
            self = .extensionFailed(
                notification: try members.decode(Int64.self, forKey: .notification),
                message: try members.member(.message, else: ""))
        default: self = .unknown(type: type)
        }
    }

    private static func decodeOutcome(_ members: KeyedDecodingContainer<Key>) throws -> HandledOutcome {
        switch try members.decode(String.self, forKey: .outcome) {
        case "presented": .presented(options: try members.decode(UInt.self, forKey: .options))
        case "notPresented": .notPresented
        case "background": .background(try members.decode(BackgroundResult.self, forKey: .result))
        default:
            throw DecodingError.dataCorruptedError(
                forKey: .outcome, in: members, debugDescription: "presented, notPresented or background")
        }
    }

    public func encode(to encoder: any Encoder) throws {
        var members = encoder.container(keyedBy: Key.self)
        try members.encode(type, forKey: .type)
        switch self {
        case .hello(let version, let app, let secret, let run, let role):
            try members.encode(version, forKey: .version)
            try members.encode(app, forKey: .app)
            try members.encodeIfPresent(secret, forKey: .secret)
            try members.encodeIfPresent(run, forKey: .run)
            if role != .app { try members.encode(role, forKey: .role) }
        case .requestAuthorization(let request, let options):
            try members.encode(request, forKey: .request)
            try members.encode(options, forKey: .options)
        case .registerForRemoteNotifications(let request), .unregisterForRemoteNotifications(let request),
            .getSettings(let request):
            try members.encode(request, forKey: .request)
        case .handled(let notification, let outcome):
            try members.encode(notification, forKey: .notification)
            try Self.encode(outcome, into: &members)
        case .responseHandled(let response): try members.encode(response, forKey: .response)
        case .deletionTaken(let deletion): try members.encode(deletion, forKey: .deletion)
        case .stateChanged(let state): try members.encode(state, forKey: .state)
        case .center(let request, let command):
            try members.encode(request, forKey: .request)
            try command.encode(to: encoder)
        case .manage(let request, let command):
            try members.encode(request, forKey: .request)
            try command.encode(to: encoder)
        case .fetch(let request, let media):
            try members.encode(request, forKey: .request)
            try media.encode(to: encoder)
        case .open(let request, let url, let isTrial):
            try members.encode(request, forKey: .request)
            try members.encode(url, forKey: .url)
            if isTrial { try members.encode(true, forKey: .isTrial) }
        case .extended(let notification, let content):
            try members.encode(notification, forKey: .notification)
            try members.encodeIfPresent(content, forKey: .content)
        case .extensionFailed(let notification, let message):
            try members.encode(notification, forKey: .notification)
            try members.encode(message, forKey: .message)
        case .channel(let command): try command.encode(to: encoder)
        case .activity(let command): try command.encode(to: encoder)
        case .relay(let packet): try packet.encode(to: encoder)
        case .ready, .unknown: break
        }
    }

    private static func encode(_ outcome: HandledOutcome, into members: inout KeyedEncodingContainer<Key>) throws {
        switch outcome {
        case .presented(let options):
            try members.encode("presented", forKey: .outcome)
            try members.encode(options, forKey: .options)
        case .notPresented: try members.encode("notPresented", forKey: .outcome)
        case .background(let result):
            try members.encode("background", forKey: .outcome)
            try members.encode(result, forKey: .result)
        }
    }

    /// The name that the message has on the wire.
    private var type: String {
        switch self {
        case .hello: "hello"
        case .requestAuthorization: "requestAuthorization"
        case .registerForRemoteNotifications: "registerForRemoteNotifications"
        case .unregisterForRemoteNotifications: "unregisterForRemoteNotifications"
        case .getSettings: "getSettings"
        case .ready: "ready"
        case .handled: "handled"
        case .responseHandled: "responseHandled"
        case .deletionTaken: "deletionTaken"
        case .stateChanged: "stateChanged"
        case .center: "center"
        case .fetch: "fetch"
        case .open: "open"
        case .manage: "manage"
        case .extended: "extended"
        case .extensionFailed: "extensionFailed"
        case .channel: "channel"
        case .activity: "activity"
        case .relay: "relay"
        case .unknown(let type): type
        }
    }
}

// Neither a log nor a dump of what holds one shows the app's secret.
extension AppMessage: CustomReflectable {
    /// The case with what belongs to it, and `<redacted>` in place of a secret.
    public var customMirror: Mirror {
        let children: [Mirror.Child] = shown.map { [(label: type, value: $0)] } ?? []
        return Mirror(self, children: children, displayStyle: .enum)
    }

    private var shown: Any? {
        switch self {
        case .hello(let version, let app, let secret, let run, let role):
            (version: version, app: app, secret: secret.map { _ in "<redacted>" }, run: run, role: role)
        case .requestAuthorization(let request, let options): (request: request, options: options)
        case .registerForRemoteNotifications(let request), .unregisterForRemoteNotifications(let request),
            .getSettings(let request):
            request
        case .ready: nil
        case .handled(let notification, let outcome): (notification: notification, outcome: outcome)
        case .responseHandled(let response): response
        case .deletionTaken(let deletion): deletion
        case .stateChanged(let state): state
        case .center(let request, let command): (request: request, command: command)
        case .fetch(let request, let media): (request: request, media: media)
        case .open(let request, let url, let isTrial): (request: request, url: url, isTrial: isTrial)
        case .manage(let request, let command): (request: request, command: command)
        case .extended(let notification, let content): (notification: notification, content: content)
        case .extensionFailed(let notification, let message): (notification: notification, message: message)
        case .channel(let command): command
        case .activity(let command): command
        case .relay(let packet): packet
        case .unknown(let type): type
        }
    }
}
