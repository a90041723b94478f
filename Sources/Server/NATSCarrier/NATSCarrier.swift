import Crypto
import Logging
import NIOCore
import NIOPosix
import PushServer

/// Carries messages between nodes by NATS servers.
///
/// A node has one subject. Each batch is answered by the node that receives it; one that is not answered within a second
/// counts as lost. Batches are sealed with a key that all nodes have (AES-GCM, RFC 5116): a NATS server reads nothing, and
/// no other client of it can send. A connection that was lost is made again, at the next server.
package final class NATSCarrier: NodeCarrier {
    private let loop: any EventLoop
    private let client: NIOLoopBoundBox<NATSClient>
    private let state = NATSConnectionState()

    /// Creates a carrier, which connects at once and goes on trying.
    ///
    /// - Parameters:
    ///   - address: The servers.
    ///   - cluster: The name of the nodes' database: nodes of others have other subjects.
    ///   - key: A key that all nodes have.
    ///   - name: The client's name for the operator of the servers.
    package init(_ address: NATSAddress, cluster: String, key: SymmetricKey, name: String, logger: Logger) {
        loop = MultiThreadedEventLoopGroup.singleton.next()
        client = .makeBoxSendingValue(
            NATSClient(
                address: address, subjects: "aldaba.\(cluster)", cipher: MessageCipher(key: key), name: name,
                logger: logger, loop: loop, state: state), eventLoop: loop)
        loop.execute { [client] in client.value.connect() }
    }

    /// Publishes the messages to the node's subject, and waits for its answers.
    package func send(
        _ messages: [NodeMessage], to node: UInt16, then complete: @escaping @Sendable (CarrierAnswer) -> Void
    ) {
        loop.execute { [client] in client.value.send(messages, to: node, then: complete) }
    }

    /// Subscribes to the node's subject, now and after each connection.
    package func receive(at node: UInt16, _ handle: @escaping @Sendable ([NodeMessage]) -> Void) {
        loop.execute { [client] in client.value.receive(at: node, handle) }
    }

    /// Whether a server has accepted the login, and the connection is open.
    package var isConnected: Bool { state.isReady.load(ordering: .relaxed) }

    /// Closes the connection; batches that are not answered count as lost.
    package func stop() { loop.execute { [client] in client.value.stop() } }
}
