import APNsProtocol
import PushCore

/// A message from one node to another. All that a message announces is in the store, but for an attempt.
package enum NodeMessage: Hashable, Sendable {
    /// Notifications of one batch that were queued for a device with a session.
    case deliver([OutgoingNotification], to: DeviceID, epoch: UInt64, revision: Int64)
    /// Something of a device has changed: its session looks at everything again.
    case wake(DeviceID)
    /// A notification that is delivered once or never.
    case attempt(NodeAttempt)
    /// Something that concerns all nodes was added to the store: the node reads it at once, not with its next heartbeat.
    case heartbeat
    /// A message of another system, in its own encoding.
    case system(NodeMessageCategory, [UInt8])
}

/// The category of a message to another node: the system that sends it.
package enum NodeMessageCategory: UInt8, Sendable, CaseIterable {
    /// Device relay.
    case relay = 1
    /// The files of notifications.
    case media = 2
    /// The notifications that the console shows live.
    case feed = 3
}

/// A notification that is delivered once or never, for a device of another node.
package struct NodeAttempt: Hashable, Sendable {
    /// The row of the notification.
    package var record: NotificationRecord
    /// The team that owns the app.
    package var team: TeamID
    /// The app's topic.
    package var topic: Topic

    /// Creates an attempt.
    package init(_ record: NotificationRecord, team: TeamID, topic: Topic) {
        self.record = record
        self.team = team
        self.topic = topic
    }

    /// The notification as the device gets it.
    package var outgoing: OutgoingNotification {
        OutgoingNotification(
            id: record.id, apnsID: record.apnsID ?? ServerAPNsID.apnsID(of: record.id), team: team, topic: topic,
            environment: record.subject.environment, lane: record.lane, pushType: record.pushType,
            priority: record.priority, collapseID: record.collapseID, acceptedAt: record.acceptedAt, expiresAt: nil,
            payload: payload)
    }

    private var payload: [UInt8] {
        if case .own(let bytes) = record.payload { bytes } else { [] }
    }
}

/// The outcome of messages to a node.
package enum CarrierAnswer: Hashable, Sendable {
    /// The node has received them.
    case received
    /// The node did not answer in time, or the carrier is not connected.
    case unanswered
    /// Nothing has the node's address.
    case noNode
}

/// Carries messages between nodes. Messages may be lost, and may arrive twice or in another order.
package protocol NodeCarrier: Sendable {
    /// Sends messages to a node.
    ///
    /// - Parameter complete: Called once, on any thread.
    func send(
        _ messages: [NodeMessage], to node: UInt16, then complete: @escaping @Sendable (CarrierAnswer) -> Void)

    /// Begins to receive the messages to a node. The handler is called on any thread and must not block.
    func receive(at node: UInt16, _ handle: @escaping @Sendable ([NodeMessage]) -> Void)

    /// Whether messages can be sent now.
    var isConnected: Bool { get }

    /// Ends the connections.
    func stop()
}

/// The carrier of a node that is alone: nothing has another node's address.
package struct OneNodeCarrier: NodeCarrier {
    /// Creates a carrier.
    package init() {}

    /// Answers that there is no other node.
    package func send(
        _ messages: [NodeMessage], to node: UInt16, then complete: @escaping @Sendable (CarrierAnswer) -> Void
    ) { complete(.noNode) }

    /// Receives nothing.
    package func receive(at node: UInt16, _ handle: @escaping @Sendable ([NodeMessage]) -> Void) {}

    /// Always: there is nothing to connect to.
    package var isConnected: Bool { true }

    /// Does nothing.
    package func stop() {}
}
