import Dispatch
import PushServer
import Synchronization

/// Carries messages between the nodes of a test, in order and on a thread of its own for each.
package final class TestMessengers: Sendable {
    /// The state of the carrier.
    private struct State {
        var listeners: [UInt16: any NodeListener] = [:]
        var isCut = false
    }

    private let state = Mutex(State())
    private let queues = (0..<4).map { DispatchQueue(label: "node \($0)") }

    package init() {}

    /// Whether messages are lost.
    package var isCut: Bool {
        get { state.withLock { $0.isCut } }
        set { state.withLock { $0.isCut = newValue } }
    }

    /// The messenger of a node.
    package func messenger(of node: UInt16) -> any NodeMessenger { Messenger(carrier: self, node: node) }

    /// Waits until a node has received what was sent to it so far.
    package func waitForDelivery(to node: UInt16) { queues[Int(node)].sync {} }

    /// Takes a node away.
    package func remove(_ node: UInt16) { state.withLock { $0.listeners[node] = nil } }

    /// Tells all nodes which run.
    package func sendHeartbeat(_ nodes: RunningNodes) {
        for listener in state.withLock({ $0.listeners.values.map(\.self) }) { listener.receive(nodes) }
    }

    private struct Messenger: NodeMessenger {
        let carrier: TestMessengers
        let node: UInt16
        var nodeNumber: UInt16? { node }

        func send(
            _ bytes: [UInt8], to node: UInt16, as system: NodeMessageCategory,
            then complete: @escaping @Sendable (CarrierAnswer) -> Void
        ) {
            carrier.queues[Int(node)].async { [carrier] in
                let (listener, isCut) = carrier.state.withLock { ($0.listeners[node], $0.isCut) }
                if isCut { return complete(.unanswered) }
                listener?.receive(bytes)
                complete(listener == nil ? .noNode : .received)
            }
        }

        func listen(_ listener: any NodeListener, as system: NodeMessageCategory) {
            carrier.state.withLock { $0.listeners[node] = listener }
        }
    }
}
