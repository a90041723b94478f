/// A Live Activity of an app, as the agent keeps it.
public struct LiveActivity: Codable, Hashable, Sendable {
    /// The id: 32 lower-case hexadecimal digits.
    public var id: String
    /// The name of the type of its attributes (`attributes-type` in a payload).
    public var attributesType: String
    /// The attributes, which never change: a JSON object as text.
    public var attributes: String
    /// The content.
    public var content: LiveActivityContent
    /// The state.
    public var state: State
    /// The token for pushes to it, in hexadecimal digits; `nil` where it has none yet, or gets no pushes of its own.
    public var pushToken: String?

    /// The state of a Live Activity.
    public enum State: String, Codable, Sendable, CaseIterable {
        /// The activity is shown, and takes updates.
        case active
        /// The stale date has passed without an update.
        case stale
        /// The activity takes no more updates, and may still be shown.
        case ended
        /// The activity is not shown any more.
        case dismissed
    }

    /// Makes an activity that is active.
    public init(
        id: String, attributesType: String, attributes: String, content: LiveActivityContent, state: State = .active,
        pushToken: String? = nil
    ) {
        self.id = id
        self.attributesType = attributesType
        self.attributes = attributes
        self.content = content
        self.state = state
        self.pushToken = pushToken
    }
}

/// The content of a Live Activity, which updates replace.
public struct LiveActivityContent: Codable, Hashable, Sendable {
    /// The app's content state: a JSON value as text, mostly an object.
    public var state: String
    /// The time from which on the content is out of date, in milliseconds since 1970; `nil` for never.
    public var staleDate: Int64?
    /// The rank among the app's activities.
    public var relevanceScore: Double

    /// Makes content.
    public init(state: String, staleDate: Int64? = nil, relevanceScore: Double = 0) {
        self.state = state
        self.staleDate = staleDate
        self.relevanceScore = relevanceScore
    }
}

/// The alert with which an update of a Live Activity draws attention.
public struct LiveActivityAlert: Codable, Hashable, Sendable {
    /// The first line; empty for none.
    public var title: String
    /// The text; empty for none.
    public var body: String
    /// The sound; `nil` for silence.
    public var sound: NotificationSound?

    /// Makes an alert.
    public init(title: String, body: String, sound: NotificationSound? = nil) {
        self.title = title
        self.body = body
        self.sound = sound
    }
}

/// The pushes that update a Live Activity; in JSON `none`, `token` or `channel:ID`.
public enum LiveActivityPushes: Hashable, Sendable {
    /// None: the app itself updates it.
    case none
    /// Pushes to a token of its own.
    case token
    /// Pushes to the broadcast channel with this id.
    case channel(String)
}

extension LiveActivityPushes: Codable {
    private static let channelPrefix = "channel:"

    public init(from decoder: any Decoder) throws {
        let value = try decoder.singleValueContainer()
        switch try value.decode(String.self) {
        case "none": self = .none
        case "token": self = .token
        case let text where text.hasPrefix(Self.channelPrefix):
            self = .channel(String(text.dropFirst(Self.channelPrefix.count)))
        default: throw DecodingError.dataCorruptedError(in: value, debugDescription: "none, token or channel:ID")
        }
    }

    public func encode(to encoder: any Encoder) throws {
        var value = encoder.singleValueContainer()
        switch self {
        case .none: try value.encode("none")
        case .token: try value.encode("token")
        case .channel(let id): try value.encode(Self.channelPrefix + id)
        }
    }
}

/// The time at which an ended Live Activity leaves the screen; in JSON `standard`, `immediate` or a time in milliseconds
/// since 1970.
public enum LiveActivityDismissal: Hashable, Sendable {
    /// Four hours after its end.
    case standard
    /// At once.
    case immediate
    /// At this time, in milliseconds since 1970; at most four hours after its end.
    case after(Int64)
}

extension LiveActivityDismissal: Codable {
    public init(from decoder: any Decoder) throws {
        let value = try decoder.singleValueContainer()
        // A number is tried first; anything else is to be one of the two names.
        if let time = try? value.decode(Int64.self) {
            self = .after(time)
            return
        }
        switch try value.decode(String.self) {
        case "standard": self = .standard
        case "immediate": self = .immediate
        default:
            throw DecodingError.dataCorruptedError(
                in: value, debugDescription: "standard, immediate or milliseconds since 1970")
        }
    }

    public func encode(to encoder: any Encoder) throws {
        var value = encoder.singleValueContainer()
        switch self {
        case .standard: try value.encode("standard")
        case .immediate: try value.encode("immediate")
        case .after(let time): try value.encode(time)
        }
    }
}
