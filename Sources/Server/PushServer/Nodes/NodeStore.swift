import PushCore

/// A store that several nodes use at the same time.
///
/// A batch locks the rows of its mailboxes: with ``PrefetchRequest/locks``, ``NotificationStore/prefetch(_:)`` begins a
/// transaction, which ``NotificationStore/apply(_:)`` commits and ``abandon()`` ends. Until then no other node's batch
/// concerns the same devices.
package protocol NodeStore: NotificationStore {
    /// The number of this node, less than ``NotificationIDBlock/nodeLimit``. No other node that runs has it.
    var node: UInt16 { get }

    /// Ends the transaction that ``NotificationStore/prefetch(_:)`` began, without changes; does nothing without one.
    func abandon()

    /// Records that this node runs, and reads what other nodes left for it.
    ///
    /// - Parameters:
    ///   - report: The state of the node.
    ///   - sequence: The number of the last broadcast that the node knows; `nil` at its start.
    func recordHeartbeat(
        _ report: NodeReport, after sequence: Int64?,
        then complete: @escaping @Sendable (Result<NodeHeartbeat, any Error>) -> Void)

    /// Records devices that could not be announced to their node, which it reads with its next ``recordHeartbeat(_:after:then:)``.
    func addMissed(_ devices: [UInt16: Set<DeviceID>], then complete: @escaping @Sendable (Bool) -> Void)

    /// Reads the mailbox rows of devices; those without a row are left out.
    func rows(
        of devices: [DeviceID], then complete: @escaping @Sendable (Result<[DeviceID: MailboxRow], any Error>) -> Void)
}

/// The state of a node, as it tells the others.
package struct NodeReport: Hashable, Sendable {
    /// The number of connected devices.
    package var sessions: Int
    /// Whether messages to other nodes can be sent.
    package var isCarrierConnected: Bool

    /// Creates a report.
    package init(sessions: Int = 0, isCarrierConnected: Bool = true) {
        self.sessions = sessions
        self.isCarrierConnected = isCarrierConnected
    }
}

/// The state of the nodes, as one of them reads it once a second.
package struct NodeHeartbeat: Hashable, Sendable {
    /// A node that has run.
    package struct Node: Hashable, Sendable {
        /// A number that each run of the node has of its own.
        package var run: Int64
        /// Whether it has recorded within some seconds that it runs, by the store's clock.
        package var isAlive: Bool

        /// Creates the state of a node.
        package init(run: Int64, isAlive: Bool) {
            self.run = run
            self.isAlive = isAlive
        }
    }

    /// All nodes, by their numbers.
    package var nodes: [UInt16: Node]
    /// The devices of this node that others could not announce.
    package var missed: Set<DeviceID>
    /// The number of the last broadcast.
    package var sequence: Int64
    /// The topics of the broadcasts after the one that was known.
    package var topics: [TopicNumber]
    /// The number of the last message of an app to its provider.
    package var lastMessage: Int64

    /// Creates the state of the nodes.
    package init(
        nodes: [UInt16: Node] = [:], missed: Set<DeviceID> = [], sequence: Int64 = 0, topics: [TopicNumber] = [],
        lastMessage: Int64 = 0
    ) {
        self.nodes = nodes
        self.missed = missed
        self.sequence = sequence
        self.topics = topics
        self.lastMessage = lastMessage
    }
}
