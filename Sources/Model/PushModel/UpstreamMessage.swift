/// What a device sends over its connection, to the server or through it.
///
/// It comes from outside: lengths are bounded by the wire's packets and by nothing else.
public struct UpstreamMessage: Hashable, Sendable {
    /// The device's own name for it, under which it comes again until it is confirmed.
    public var persistentID: String
    /// What it is of; says who takes it.
    public var category: String
    /// Who sends it, as the device says; proves nothing.
    public var sender: String
    /// Whom it is for.
    public var recipient: String
    /// Keys and values; of a key that came twice the first value.
    public var appData: [String: String]
    /// The content, as the device sent it.
    public var raw: [UInt8]
    /// The name that the sending app gave it; empty where there is none.
    public var messageID: String
    /// For how many seconds after it was said it is worth delivering; 0 where the device does not say.
    public var timeToLive: Int64
    /// How many of those seconds had gone when the device wrote it to the connection.
    public var queued: Int64

    /// A message of parts that were not checked.
    public init(
        persistentID: String, category: String, sender: String = "", recipient: String = "",
        appData: [String: String] = [:], raw: [UInt8] = [], messageID: String = "", timeToLive: Int64 = 0,
        queued: Int64 = 0
    ) {
        self.messageID = messageID
        self.timeToLive = timeToLive
        self.queued = queued
        self.persistentID = persistentID
        self.category = category
        self.sender = sender
        self.recipient = recipient
        self.appData = appData
        self.raw = raw
    }
}

/// Why an ``UpstreamMessage`` is not taken, and will not be when it comes again.
public struct UpstreamRefusal: Hashable, Sendable {
    /// With the meaning that HTTP gives the number: 400 malformed, 404 nobody takes it.
    public var code: Int32
    /// What is wrong, for the device's developer; at most 255 characters travel.
    public var reason: String

    /// A refusal with its reason.
    public init(code: Int32, reason: String) {
        self.code = code
        self.reason = reason
    }
}
