/// A message to an app's provider, as the app gives it to the agent.
public struct UpstreamDraft: Codable, Hashable, Sendable {
    /// The app's name for it.
    public var id: String
    /// The recipient: `SENDER@gcm.googleapis.com`, or a team.
    public var to: String
    /// The message's data.
    public var data: [String: String]
    /// The time to live in seconds; 0 for one attempt.
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

/// The codes of the direct channel's failures, as the agent sends them to apps.
public enum ChannelFault {
    /// A message to the provider was not sent before its time was over.
    public static let expired = "TtlExceeded"
    /// A message is larger than ``UpstreamDraft/sizeLimit``.
    public static let tooBig = "MessageTooBig"
    /// The queue of messages is full.
    public static let tooMany = "TooManyMessages"
    /// A name or number in a request is none that is allowed.
    public static let invalid = "InvalidParameters"
    /// A message of this id waits already.
    public static let duplicate = "DuplicateMessageId"
    /// The server cannot be reached, and the message has a time to live of 0.
    public static let offline = "ServiceNotAvailable"
    /// The app has no registration token.
    public static let unregistered = "NotRegistered"
}
