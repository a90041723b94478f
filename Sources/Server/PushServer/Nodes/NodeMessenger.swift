/// Sends messages of a system to the same system at other nodes, and tells it which nodes run.
package protocol NodeMessenger: Sendable {
    /// The number of this node; `nil` for a server that is alone.
    var nodeNumber: UInt16? { get }
    /// Sends a message to a node. Those to one node arrive in order, or do not arrive.
    ///
    /// - Parameter complete: Called once, on any thread, after the call has returned.
    func send(
        _ bytes: [UInt8], to node: UInt16, as system: NodeMessageCategory,
        then complete: @escaping @Sendable (CarrierAnswer) -> Void)
    /// Tells a listener of a system's messages, and of nodes, from now on; before there are sessions.
    func listen(_ listener: any NodeListener, as system: NodeMessageCategory)
}

/// A system that several nodes have. Called on any thread; must not block.
package protocol NodeListener: Sendable {
    /// Receives a message from the same system at another node.
    func receive(_ bytes: [UInt8])
    /// Receives the state of the nodes, once a second.
    func receive(_ nodes: RunningNodes)
}

/// The nodes, as one of them sees them.
package struct RunningNodes: Hashable, Sendable {
    /// The nodes that run, this one among them.
    package var alive: Set<UInt16>
    /// The nodes that have run and do not.
    package var dead: Set<UInt16>
    /// The nodes of which a run has ended since the last time.
    package var ended: Set<UInt16>
    /// Whether messages may have been lost: everything that others announce is read again.
    package var hasGap: Bool

    /// Creates an instance from its properties.
    package init(
        alive: Set<UInt16>, dead: Set<UInt16> = [], ended: Set<UInt16> = [], hasGap: Bool = false
    ) {
        self.alive = alive
        self.dead = dead
        self.ended = ended
        self.hasGap = hasGap
    }
}

extension MailboxService: NodeMessenger {
    /// The number that the store has given to this node.
    nonisolated package var nodeNumber: UInt16? { nodes?.store.node }

    /// Sends a message by the carrier.
    nonisolated package func send(
        _ bytes: [UInt8], to node: UInt16, as system: NodeMessageCategory,
        then complete: @escaping @Sendable (CarrierAnswer) -> Void
    ) {
        guard let nodes else { return loop.execute { complete(.noNode) } }
        nodes.carrier.send([.system(system, bytes)], to: node) { answer in
            NodeMetrics.recordSent(1, answer)
            complete(answer)
        }
    }

    /// Tells the listener with each heartbeat.
    nonisolated package func listen(_ listener: any NodeListener, as system: NodeMessageCategory) {
        nodeStatus.listeners.withLock { $0[system] = listener }
    }
}
