import PushCore

/// The storage of a notification's payload.
package enum NotificationPayload: Hashable, Sendable {
    /// The payload is stored with the notification: it is for one device.
    case own([UInt8])
    /// The payload is stored once for all the notifications that refer to it. It is inserted before them, by an earlier
    /// change.
    case shared(PayloadID)
}

/// The id of a payload that notifications for many devices share; taken from the same sequence as their ids.
package struct PayloadID: Hashable, Sendable, RawRepresentable {
    /// The id as a number: positive, and rising with time.
    package let rawValue: Int64
    /// Creates an id from a number, without a check.
    package init(rawValue: Int64) { self.rawValue = rawValue }
}

/// A payload that was accepted once for many devices, as a store keeps it.
package struct PayloadRecord: Hashable, Sendable {
    /// The id by which notifications refer to it.
    package var id: PayloadID
    /// The protocol whose form the content has.
    package var lane: Lane
    /// The payload's bytes, as they were accepted.
    package var content: [UInt8]
    /// The time at which it was accepted.
    package var acceptedAt: Timestamp

    /// Creates the row of a payload.
    package init(id: PayloadID, lane: Lane, content: [UInt8], acceptedAt: Timestamp) {
        self.id = id
        self.lane = lane
        self.content = content
        self.acceptedAt = acceptedAt
    }
}
