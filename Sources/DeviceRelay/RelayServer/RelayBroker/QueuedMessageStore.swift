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
