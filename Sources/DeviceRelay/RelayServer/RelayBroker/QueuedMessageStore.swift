import RelayProtocol

/// The outcome of storing a message for a device.
package enum QueuedMessageInsertion: Hashable, Sendable {
    /// The message is stored, and survives a power cut; or it was stored before.
    case kept
    /// The limit of stored messages for its device is reached: ``QueuedMessageLimits``.
    case full
    /// The message could not be written, with a description of the error.
    case failed(String)
}

/// The limits on stored messages for one device.
package enum QueuedMessageLimits {
    /// The maximum number of messages.
    package static let count = 1000
    /// The maximum size of the messages, in bytes.
    package static let bytes = 10 << 20
}

/// Storage of messages queued for devices that are away; the port of a store.
///
/// Every call returns at once; calls are executed in their order. `complete` is called once, later, on another thread,
/// in that order, and may call the store again.
package protocol QueuedMessageStore: Sendable {
    /// Stores a message after all earlier ones, unless one with the same sender and id is stored for the device.
    func keep(_ queuedMessage: StoredMessage, then complete: @escaping @Sendable (QueuedMessageInsertion) -> Void)
    /// Reads the messages for a device of an account after a number, in the order in which they were stored, without
    /// those that have expired by `now`. Reads at most `count` messages, and after the first no more than `bytes`.
    /// `isAll` is whether there are no others; `nil` where they could not be read.
    func read(
        for device: String, of account: RelayDirectory.AccountID, after number: Int64, count: Int, bytes: Int,
        at now: Int64, then complete: @escaping @Sendable (_ queuedMessages: [StoredMessage]?, _ isAll: Bool) -> Void)
    /// Deletes a message, and completes with whether it was stored; `nil` where that is not known, and it may still be.
    func remove(_ key: QueuedMessageKey, for device: String, then complete: @escaping @Sendable (Bool?) -> Void)
    /// Deletes a device's messages, and completes with them, without their bodies.
    func removeAll(for device: String, then complete: @escaping @Sendable ([StoredMessage]) -> Void)
    /// Deletes messages that have expired by `now`; completes with some of them, without their bodies, and with the
    /// time at which the next expires.
    func expire(at now: Int64, then complete: @escaping @Sendable (_ ended: [StoredMessage], _ next: Int64?) -> Void)
}
