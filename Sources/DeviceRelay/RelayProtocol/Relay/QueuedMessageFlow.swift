import Foundation

/// The key of a queued message, among those of one device: its sender and its id.
public struct QueuedMessageKey: Hashable, Sendable {
    /// The device that posted it.
    public var sender: String
    /// The id that the sender gave it.
    public var id: UUID

    /// Makes the key of a message.
    public init(sender: String, id: UUID) {
        self.sender = sender
        self.id = id
    }
}

/// A queued message as the server keeps it.
public struct StoredMessage: Hashable, Sendable {
    /// The account of both devices.
    public var account: RelayDirectory.AccountID
    /// The device that it is for.
    public var device: String
    /// The message's sender and id.
    public var key: QueuedMessageKey
    /// When it is of no use any more, in milliseconds since 1970.
    public var deadline: Int64
    /// The sealed contents, which only the two devices can read.
    public var body: [UInt8]
    /// The message's position in the order of storage, assigned by the store.
    public var number: Int64 = 0

    /// Describes a message.
    public init(
        account: RelayDirectory.AccountID, device: String, key: QueuedMessageKey, deadline: Int64, body: [UInt8]
    ) {
        self.account = account
        self.device = device
        self.key = key
        self.deadline = deadline
        self.body = body
    }
}

/// The flow of queued messages from the store to the devices that are present. A value.
///
/// Guarantees: a device receives its messages in the order in which they were stored, each once a session. Of one
/// device's messages at most ``countLimit`` are read or in transit, and no more than ``sizeLimit`` bytes beside one
/// message.
public struct QueuedMessageFlow: Sendable {
    /// The most messages in transit to a device that it has not durably taken.
    public static let countLimit = 32
    /// How many bytes of them.
    public static let sizeLimit = 1 << 20

    /// A step for the caller to carry out.
    public enum Step: Hashable, Sendable {
        /// Read the stored messages of a session's device beyond a number, and report them by
        /// ``QueuedMessageFlow/read(_:isAll:for:)``.
        case read(RelaySession, RelayDirectory.AccountID, after: Int64, count: Int, bytes: Int)
        /// Write a message to a session, and report it by ``QueuedMessageFlow/written(_:to:)``.
        case write(StoredMessage, to: RelaySession)
    }

    private struct Lane {
        var session: RelaySession
        var account: RelayDirectory.AccountID
        /// Up to which number it was read.
        var cursor: Int64 = 0
        var ready: [StoredMessage] = []
        /// The message that is being written, or could not be.
        var writing: StoredMessage?
        var underWay: [QueuedMessageKey: Int] = [:]
        var isReading = false
        var mayHaveMore = true
        var hasNews = false

        var count: Int { underWay.count + ready.count }
        var bytes: Int { underWay.values.reduce(0, +) + ready.reduce(0) { $0 + $1.body.count } }
    }

    private var lanes: [String: Lane] = [:]

    /// A flow without sessions.
    public init() {}

    /// A device is present; repeated calls for one session change nothing.
    public mutating func begin(_ session: RelaySession, _ account: RelayDirectory.AccountID) -> [Step] {
        if let lane = lanes[session.device], lane.session == session, lane.account == account { return [] }
        lanes[session.device] = Lane(session: session, account: account)
        return steps(session.device)
    }

    /// A session is over.
    public mutating func end(_ session: RelaySession) {
        if lanes[session.device]?.session == session { lanes[session.device] = nil }
    }

    /// A message was stored for a device.
    public mutating func kept(for device: String) -> [Step] {
        lanes[device]?.mayHaveMore = true
        lanes[device]?.hasNews = true
        return steps(device)
    }

    /// The messages that were read for a session.
    public mutating func read(_ queuedMessages: [StoredMessage], isAll: Bool, for session: RelaySession) -> [Step] {
        guard var lane = lanes[session.device], lane.session == session else { return [] }
        lane.isReading = false
        lane.ready += queuedMessages
        lane.cursor = max(lane.cursor, queuedMessages.last?.number ?? 0)
        lane.mayHaveMore = !isAll || lane.hasNews
        lanes[session.device] = lane
        return steps(session.device)
    }

    /// A message was written to a session, or could not be: it is tried again by ``retryWrites(for:)``.
    public mutating func written(_ isWritten: Bool, to session: RelaySession) -> [Step] {
        guard isWritten, lanes[session.device]?.session == session else { return [] }
        lanes[session.device]?.writing = nil
        return steps(session.device)
    }

    /// Tries again what could not be written.
    public func retryWrites(for session: RelaySession) -> [Step] {
        guard let lane = lanes[session.device], lane.session == session, let queuedMessage = lane.writing else {
            return []
        }
        return [.write(queuedMessage, to: session)]
    }

    /// Whether messages are delivered to a device now.
    public func isDelivering(to device: String) -> Bool { lanes[device] != nil }

    /// Whether a message is in transit to its device.
    public func isUnderWay(_ key: QueuedMessageKey, to device: String) -> Bool {
        lanes[device]?.underWay[key] != nil
    }

    /// A message is stored no longer: its device has taken it, or it has ended otherwise.
    public mutating func removeMessage(_ key: QueuedMessageKey, for device: String) -> [Step] {
        lanes[device]?.underWay[key] = nil
        lanes[device]?.ready.removeAll { $0.key == key }
        return steps(device)
    }

    private mutating func steps(_ device: String) -> [Step] {
        guard var lane = lanes[device] else { return [] }
        defer { lanes[device] = lane }
        var steps: [Step] = []
        if lane.writing == nil, let next = lane.ready.first {
            lane.ready.removeFirst()
            lane.writing = next
            lane.underWay[next.key] = next.body.count
            steps.append(.write(next, to: lane.session))
        }
        if !lane.isReading, lane.mayHaveMore, lane.count <= Self.countLimit / 2, lane.bytes <= Self.sizeLimit / 2 {
            lane.isReading = true
            lane.hasNews = false
            steps.append(
                .read(
                    lane.session, lane.account, after: lane.cursor, count: Self.countLimit - lane.count,
                    bytes: Self.sizeLimit - lane.bytes))
        }
        return steps
    }
}
