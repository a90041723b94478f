/// A message that a device sends over its connection, to the server or through it.
///
/// It is untrusted: only the wire's packets bound the lengths.
package struct UpstreamMessage: Hashable, Sendable {
    /// The device's own id for it, under which it is sent again until it is confirmed.
    package var persistentID: String
    /// The category, which determines the receiver.
    package var category: String
    /// The sender according to the device, without proof.
    package var sender: String
    /// The recipient.
    package var recipient: String
    /// The keys and values; of a repeated key the first value.
    package var appData: [String: String]
    /// The content, as the device sent it.
    package var raw: [UInt8]
    /// The id that the sending app gave it; empty where there is none.
    package var messageID: String
    /// The seconds after its sending for which it may be delivered; 0 where the device specifies none.
    package var timeToLive: Int64
    /// The seconds of these that had passed when the device wrote it to the connection.
    package var queued: Int64

    /// Creates a message from unchecked parts.
    package init(
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

/// The reason why an ``UpstreamMessage`` is refused, and will be refused if it is sent again.
package struct UpstreamRejection: Hashable, Sendable {
    /// The status code, with HTTP's meaning: 400 malformed, 404 without a receiver.
    package var code: Int32
    /// The fault, for the device's developer; at most 255 characters are sent.
    package var reason: String

    /// Creates a refusal with its reason.
    package init(code: Int32, reason: String) {
        self.code = code
        self.reason = reason
    }
}
