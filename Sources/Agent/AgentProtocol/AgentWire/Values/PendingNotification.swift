/// A request that waits for its trigger, as a person reads it.
public struct PendingNotification: Codable, Hashable, Sendable {
    /// The bundle id of the app that asked for it.
    public var app: BundleID
    /// The name of the app that people see.
    public var appName: String
    /// The content to be shown, with every text looked up.
    public var content: NotificationContent
    /// The request's identifier, by which it can be cancelled.
    public var identifier: String
    /// The next times at which it fires, in milliseconds since 1970; empty where a region makes it fire.
    public var times: [Int64]
    /// How many seconds east of UTC the clocks of the request's zone are at each of the times.
    public var offsets: [Int]
    /// The trigger, in words.
    public var reason: String
    /// How often it has fired.
    public var fired: Int64

    /// Makes a line for a person to read; `times` and `offsets` have the same length.
    public init(
        app: BundleID, appName: String, content: NotificationContent, identifier: String, times: [Int64],
        offsets: [Int],
        reason: String, fired: Int64
    ) {
        self.app = app
        self.appName = appName
        self.content = content
        self.identifier = identifier
        self.times = times
        self.offsets = offsets
        self.reason = reason
        self.fired = fired
    }
}

/// The position of a request in the order of all pending ones.
public struct PendingOrder: Codable, Hashable, Sendable {
    /// When it is due, in milliseconds since 1970; `nil` for what waits for no time, which comes last.
    public var deadline: Int64?
    /// The agent's number of the request; it orders those that are due at the same time.
    public var key: Int64

    /// The position of the request with this key and deadline.
    public init(deadline: Int64?, key: Int64) {
        self.deadline = deadline
        self.key = key
    }
}
