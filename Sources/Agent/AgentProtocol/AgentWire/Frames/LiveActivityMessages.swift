/// A command of an app about its Live Activities (``AppMessage/activity(_:)``).
///
/// `request` numbers are those of the app's other requests; the answer to each is ``ActivityEvent/accepted(request:)`` or
/// ``ActivityEvent/refused(request:code:message:)``. A command that is repeated changes nothing more.
public enum ActivityCommand: Hashable, Sendable {
    /// Has the agent send ``ActivityEvent/all(_:startToken:)`` now, and events from then on over this connection.
    case observe
    /// Starts an activity, whose id the app has made.
    case start(request: Int64, LiveActivity, LiveActivityPushes)
    /// Replaces an activity's content; with an alert it draws attention.
    case update(request: Int64, id: String, LiveActivityContent, LiveActivityAlert?)
    /// Ends an activity, with its last content where one is given.
    case end(request: Int64, id: String, LiveActivityContent?, LiveActivityDismissal)
}

/// An event of an app's Live Activities (``AgentMessage/activity(_:)``).
public enum ActivityEvent: Hashable, Sendable {
    /// The app's activities that are not dismissed, and the token of pushes that start one; `nil` while there is none.
    case all([LiveActivity], startToken: String?)
    /// An activity has begun or changed.
    case changed(LiveActivity)
    /// The token of pushes that start an activity is known, or has changed.
    case startToken(String)
    /// The answer to a request that was done.
    case accepted(request: Int64)
    /// The answer to a request that is refused: a stable code of ``ActivityFault``, and a sentence.
    case refused(request: Int64, code: String, message: String)
}

/// The codes of refused requests about Live Activities.
public enum ActivityFault {
    /// The app has as many activities as it may.
    public static let tooMany = "tooManyActivities"
    /// The person does not allow the app's notifications.
    public static let denied = "denied"
    /// The id, the attributes or the content have not the form that they must have.
    public static let invalid = "invalid"
    /// The content is longer than 4096 bytes.
    public static let tooLarge = "contentTooLarge"
}

extension ActivityCommand: Codable {
    private enum Key: String, CodingKey { case command, request, activity, pushes, id, content, alert, dismissal }

    public init(from decoder: any Decoder) throws {
        let members = try decoder.container(keyedBy: Key.self)
        func member<Value: Decodable>(_ key: Key) throws -> Value { try members.decode(Value.self, forKey: key) }
        switch try members.decode(String.self, forKey: .command) {
        case "observe": self = .observe
        case "start":
            self = .start(request: try member(.request), try member(.activity), try member(.pushes))
        case "update":
            self = .update(
                request: try member(.request), id: try member(.id), try member(.content),
                try members.decodeIfPresent(LiveActivityAlert.self, forKey: .alert))
        case "end":
            self = .end(
                request: try member(.request), id: try member(.id),
                try members.decodeIfPresent(LiveActivityContent.self, forKey: .content), try member(.dismissal))
        default:
            throw DecodingError.dataCorruptedError(
                forKey: .command, in: members, debugDescription: "a command about Live Activities")
        }
    }

    public func encode(to encoder: any Encoder) throws {
        var members = encoder.container(keyedBy: Key.self)
        switch self {
        case .observe: try members.encode("observe", forKey: .command)
        case .start(let request, let activity, let pushes):
            try members.encode("start", forKey: .command)
            try members.encode(request, forKey: .request)
            try members.encode(activity, forKey: .activity)
            try members.encode(pushes, forKey: .pushes)
        case .update(let request, let id, let content, let alert):
            try members.encode("update", forKey: .command)
            try members.encode(request, forKey: .request)
            try members.encode(id, forKey: .id)
            try members.encode(content, forKey: .content)
            try members.encodeIfPresent(alert, forKey: .alert)
        case .end(let request, let id, let content, let dismissal):
            try members.encode("end", forKey: .command)
            try members.encode(request, forKey: .request)
            try members.encode(id, forKey: .id)
            try members.encodeIfPresent(content, forKey: .content)
            try members.encode(dismissal, forKey: .dismissal)
        }
    }
}

extension ActivityEvent: Codable {
    private enum Key: String, CodingKey { case event, activities, startToken, activity, request, code, message }

    public init(from decoder: any Decoder) throws {
        let members = try decoder.container(keyedBy: Key.self)
        func member<Value: Decodable>(_ key: Key) throws -> Value { try members.decode(Value.self, forKey: key) }
        switch try members.decode(String.self, forKey: .event) {
        case "all":
            self = .all(
                try member(.activities), startToken: try members.decodeIfPresent(String.self, forKey: .startToken))
        case "changed": self = .changed(try member(.activity))
        case "startToken": self = .startToken(try member(.startToken))
        case "accepted": self = .accepted(request: try member(.request))
        case "refused":
            self = .refused(request: try member(.request), code: try member(.code), message: try member(.message))
        default:
            throw DecodingError.dataCorruptedError(
                forKey: .event, in: members, debugDescription: "an event of Live Activities")
        }
    }

    public func encode(to encoder: any Encoder) throws {
        var members = encoder.container(keyedBy: Key.self)
        switch self {
        case .all(let activities, let startToken):
            try members.encode("all", forKey: .event)
            try members.encode(activities, forKey: .activities)
            try members.encodeIfPresent(startToken, forKey: .startToken)
        case .changed(let activity):
            try members.encode("changed", forKey: .event)
            try members.encode(activity, forKey: .activity)
        case .startToken(let token):
            try members.encode("startToken", forKey: .event)
            try members.encode(token, forKey: .startToken)
        case .accepted(let request):
            try members.encode("accepted", forKey: .event)
            try members.encode(request, forKey: .request)
        case .refused(let request, let code, let message):
            try members.encode("refused", forKey: .event)
            try members.encode(request, forKey: .request)
            try members.encode(code, forKey: .code)
            try members.encode(message, forKey: .message)
        }
    }
}
