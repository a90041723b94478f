/// A command of an app on its direct channel, which carries data messages in both directions
/// (``AppMessage/channel(_:)``).
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

/// An event that the agent reports on an app's direct channel (``AgentMessage/channel(_:)``).
public enum ChannelEvent: Hashable, Sendable {
    /// Whether the channel is open as far as the server; sent after ``ChannelCommand/open`` and when it changes.
    case state(isConnected: Bool)
    /// A data message, answered by ``ChannelCommand/taken(message:)``.
    case message(DeliveredNotification)
    /// The agent has stored that the app had these messages, and never delivers them again.
    case takenConfirmed(messages: [Int64])
    /// The answer to a request: what it asked is stored, or done where only the server can do it.
    case accepted(request: Int64)
    /// The answer to a request that is refused: a stable code, and a sentence.
    case refused(request: Int64, code: String, message: String)
    /// The outcome of a message that the app sent under this id: `nil` when the server has it, else a stable code. It
    /// is repeated on each connection until ``ChannelCommand/endTaken(upstream:)``.
    case ended(upstream: Int64, id: String, code: String?)
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
