import Foundation

/// A queued message that a device has durably taken, and its outcome.
public struct ReceivedMessage: Hashable, Sendable {
    /// The message's sender and id.
    public var key: QueuedMessageKey
    /// The time at which the entry expires, in milliseconds since 1970.
    public var until: Int64
    /// The outcome of the message.
    public var status: RelayStatus

    /// Describes a message.
    public init(key: QueuedMessageKey, until: Int64, status: RelayStatus) {
        self.key = key
        self.until = until
        self.status = status
    }

    /// How long after its deadline a message is remembered, in milliseconds: its sender may repeat it.
    public static let memory: Int64 = AnsweredCommands.age
}

/// The delivery of a queued message to its app, whose outcome is not known yet.
public struct DeliveryAttempt: Hashable, Sendable {
    /// The message's sender and id.
    public var key: QueuedMessageKey
    /// The time at which the entry expires, in milliseconds since 1970.
    public var until: Int64

    /// Describes an attempt.
    public init(key: QueuedMessageKey, until: Int64) {
        self.key = key
        self.until = until
    }
}

/// The queued messages that a device has taken, so that a repeated one is not delivered to its app again. A value.
///
/// Guarantees: a message is remembered until ten minutes after its deadline; of more than ``limit`` the oldest are
/// forgotten.
public struct ReceivedMessageLog: Sendable {
    /// How many are remembered at most.
    public static let limit = 8192

    private var entries: [QueuedMessageKey: ReceivedMessage] = [:]
    private var order: ArraySlice<QueuedMessageKey> = []

    /// An empty record.
    public init() {}

    /// How many are remembered.
    public var count: Int { entries.count }

    /// The outcome of a message that was taken; `nil` for one that is new.
    public subscript(key: QueuedMessageKey) -> RelayStatus? { entries[key]?.status }

    /// Adds a message that was taken.
    public mutating func add(_ queuedMessage: ReceivedMessage, at now: Int64) {
        if entries.updateValue(queuedMessage, forKey: queuedMessage.key) == nil { order.append(queuedMessage.key) }
        while let first = order.first, order.count > Self.limit || (entries[first]?.until ?? .min) < now {
            entries[first] = nil
            order.removeFirst()
        }
    }

    /// All that are remembered at a moment, the oldest first.
    public func all(at now: Int64) -> [ReceivedMessage] { order.compactMap { entries[$0] }.filter { $0.until >= now } }
}
