import PushModel

/// Where a notification's payload is kept.
public enum NotificationPayload: Hashable, Sendable {
    /// With the notification: it is for one device.
    case own([UInt8])
    /// Once for all the notifications that point to it. It is inserted before them, by an earlier change.
    case shared(PayloadID)
}

/// Names a payload that notifications for many devices share; taken from the same sequence as their ids.
public struct PayloadID: Hashable, Sendable, RawRepresentable {
    /// The id as a number: positive, and rising with time.
    public let rawValue: Int64
    /// Takes a number as it is, without a check.
    public init(rawValue: Int64) { self.rawValue = rawValue }
}

/// A payload that was accepted once for many devices, as a store keeps it.
public struct PayloadRecord: Hashable, Sendable {
    /// The id by which notifications point to it.
    public var id: PayloadID
    /// In which protocol's form the content is.
    public var lane: Lane
    /// The payload's bytes, as they were accepted.
    public var content: [UInt8]
    /// When it was accepted.
    public var acceptedAt: Timestamp

    /// Makes the row of a payload.
    public init(id: PayloadID, lane: Lane, content: [UInt8], acceptedAt: Timestamp) {
        self.id = id
        self.lane = lane
        self.content = content
        self.acceptedAt = acceptedAt
    }
}
