import Synchronization

/// The part that a node has among several, as any thread may read it.
final class NodeStatus: Sendable {
    /// Whether this node does the work that one of all does.
    let hasDuties = Atomic(false)
    /// Whether this node has lost the store, and with it what was revoked meanwhile.
    let isCutOff = Atomic(false)
    /// The nodes that are alive.
    let count = Atomic(1)
    /// The systems that other nodes send messages to.
    let listeners = Mutex<[NodeMessageCategory: any NodeListener]>([:])
}
