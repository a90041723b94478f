/// What an app says about its direct channel, by which data messages come and go (``AppMessage/channel(_:)``).
///
/// `request` numbers are those of the app's other requests.
public enum ChannelCommand: Hashable, Sendable {
    /// Data messages may come from now on, over this connection.
    case open
    /// No data message may come any more; what comes waits.
    case close
    /// The app has had the data message of this id.
    case taken(message: Int64)
    /// Sends a message to the app's provider. Answered by ``ChannelEvent/accepted(request:)`` when it is stored, or by
    /// ``ChannelEvent/refused(request:code:message:)``.
    case send(request: Int64, UpstreamDraft)
    /// The app knows what became of the message of this number (``ChannelEvent/ended(upstream:id:code:)``).
    case endTaken(upstream: Int64)
    /// Has the app join a topic, or leave it. Answered when the server has done it.
    case topic(request: Int64, name: String, joins: Bool)
}

/// A message to an app's provider, as the app gives it to the agent.
public struct UpstreamDraft: Codable, Hashable, Sendable {
    /// The app's name for it.
    public var id: String
    /// To whom it goes: `SENDER@gcm.googleapis.com`, or a team.
    public var to: String
    /// What it says.
    public var data: [String: String]
    /// For how many seconds it is worth sending; 0 for now or never.
    public var timeToLive: Int64

    /// Makes a message; checks nothing.
    public init(id: String, to: String, data: [String: String], timeToLive: Int64) {
        self.id = id
        self.to = to
        self.data = data
        self.timeToLive = timeToLive
    }

    /// The most that keys and values may have together, in bytes of UTF-8.
    public static let sizeLimit = 4096
    /// The longest that one may wait, in seconds.
    public static let longestTimeToLive: Int64 = 86_400
    /// The most bytes of UTF-8 that an id, or whom it goes to, may have.
    public static let longestName = 255

    /// Bytes of UTF-8 of all keys and values.
    public var size: Int { data.reduce(0) { $0 + $1.key.utf8.count + $1.value.utf8.count } }
}

/// What the agent says of an app's direct channel (``AgentMessage/channel(_:)``).
public enum ChannelEvent: Hashable, Sendable {
    /// Whether the channel is open as far as the server; told after ``ChannelCommand/open`` and when it changes.
    case state(isConnected: Bool)
    /// A data message, answered by ``ChannelCommand/taken(message:)``.
    case message(DeliveredNotification)
    /// The agent has stored that the app had these, and never tells them again.
    case takenConfirmed(messages: [Int64])
    /// The answer to a request: what it asked is stored, or done where only the server can do it.
    case accepted(request: Int64)
    /// The answer to a request that is refused: a stable code, and a sentence.
    case refused(request: Int64, code: String, message: String)
    /// What became of a message that the app sent under this id: `nil` when the server has it, else a stable code. It is
    /// told again on each connection until ``ChannelCommand/endTaken(upstream:)``.
    case ended(upstream: Int64, id: String, code: String?)
}

/// Why something of the direct channel failed: the codes that the agent tells apps.
public enum ChannelFault {
    /// A message to the provider was not sent before its time was over.
    public static let expired = "TtlExceeded"
    /// A message says more than ``UpstreamDraft/sizeLimit``.
    public static let tooBig = "MessageTooBig"
    /// As many messages as may wait do so already.
    public static let tooMany = "TooManyMessages"
    /// A name or number in a request is none that is allowed.
    public static let invalid = "InvalidParameters"
    /// A message of this id waits already.
    public static let duplicate = "DuplicateMessageId"
    /// The server cannot be reached, and the message was to be sent at once or never.
    public static let offline = "ServiceNotAvailable"
    /// The app has no registration token.
    public static let unregistered = "NotRegistered"
}

extension ChannelCommand: Codable {
    private enum Key: String, CodingKey { case command, message, request, upstream, topic, joins, draft }

    public init(from decoder: any Decoder) throws {
        let members = try decoder.container(keyedBy: Key.self)
        func number(_ key: Key) throws -> Int64 { try members.decode(Int64.self, forKey: key) }
        switch try members.decode(String.self, forKey: .command) {
        case "open": self = .open
        case "close": self = .close
        case "taken": self = .taken(message: try number(.message))
        case "send":
            self = .send(request: try number(.request), try members.decode(UpstreamDraft.self, forKey: .draft))
        case "endTaken": self = .endTaken(upstream: try number(.upstream))
        case "topic":
            self = .topic(
                request: try number(.request), name: try members.decode(String.self, forKey: .topic),
                joins: try members.decode(Bool.self, forKey: .joins))
        default:
            throw DecodingError.dataCorruptedError(
                forKey: .command, in: members, debugDescription: "a command of the direct channel")
        }
    }

    public func encode(to encoder: any Encoder) throws {
        var members = encoder.container(keyedBy: Key.self)
        try members.encode(name, forKey: .command)
        switch self {
        case .open, .close: break
        case .taken(let message): try members.encode(message, forKey: .message)
        case .send(let request, let draft):
            try members.encode(request, forKey: .request)
            try members.encode(draft, forKey: .draft)
        case .endTaken(let upstream): try members.encode(upstream, forKey: .upstream)
        case .topic(let request, let name, let joins):
            try members.encode(request, forKey: .request)
            try members.encode(name, forKey: .topic)
            try members.encode(joins, forKey: .joins)
        }
    }

    /// The name that the command has on the wire.
    private var name: String {
        switch self {
        case .open: "open"
        case .close: "close"
        case .taken: "taken"
        case .send: "send"
        case .endTaken: "endTaken"
        case .topic: "topic"
        }
    }
}

extension ChannelEvent: Codable {
    private enum Key: String, CodingKey {
        case event, isConnected, notification, messages, request, code, message, upstream, id
    }

    public init(from decoder: any Decoder) throws {
        let members = try decoder.container(keyedBy: Key.self)
        func member<Value: Decodable>(_ key: Key) throws -> Value { try members.decode(Value.self, forKey: key) }
        switch try members.decode(String.self, forKey: .event) {
        case "state": self = .state(isConnected: try member(.isConnected))
        case "message": self = .message(try member(.notification))
        case "takenConfirmed": self = .takenConfirmed(messages: try member(.messages))
        case "accepted": self = .accepted(request: try member(.request))
        case "refused":
            self = .refused(request: try member(.request), code: try member(.code), message: try member(.message))
        case "ended":
            self = .ended(
                upstream: try member(.upstream), id: try member(.id),
                code: try members.decodeIfPresent(String.self, forKey: .code))
        default:
            throw DecodingError.dataCorruptedError(
                forKey: .event, in: members, debugDescription: "an event of the direct channel")
        }
    }

    public func encode(to encoder: any Encoder) throws {
        var members = encoder.container(keyedBy: Key.self)
        try members.encode(name, forKey: .event)
        switch self {
        case .state(let isConnected): try members.encode(isConnected, forKey: .isConnected)
        case .message(let notification): try members.encode(notification, forKey: .notification)
        case .takenConfirmed(let messages): try members.encode(messages, forKey: .messages)
        case .accepted(let request): try members.encode(request, forKey: .request)
        case .refused(let request, let code, let message):
            try members.encode(request, forKey: .request)
            try members.encode(code, forKey: .code)
            try members.encode(message, forKey: .message)
        case .ended(let upstream, let id, let code):
            try members.encode(upstream, forKey: .upstream)
            try members.encode(id, forKey: .id)
            try members.encodeIfPresent(code, forKey: .code)
        }
    }

    /// The name that the event has on the wire.
    private var name: String {
        switch self {
        case .state: "state"
        case .message: "message"
        case .takenConfirmed: "takenConfirmed"
        case .accepted: "accepted"
        case .refused: "refused"
        case .ended: "ended"
        }
    }
}
