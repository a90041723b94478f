import AgentEngine
import PushCore

/// Wraps a connector so that each ack and each report to the server is a step of the agent (``AgentStep``), at which a
/// debug build can be made to end.
package struct SteppedConnector: PushConnector {
    /// The connector that is wrapped.
    package let connector: any PushConnector

    /// Wraps a connector; connects to nothing yet.
    package init(connector: any PushConnector) {
        self.connector = connector
    }

    /// Makes one attempt by the wrapped connector.
    package func connect(
        _ identity: DeviceIdentity, received: [NotificationID], events: @escaping @Sendable (PushEvent) -> Void
    ) -> any PushConnection {
        Connection(connection: connector.connect(identity, received: received, events: events))
    }

    private struct Connection: PushConnection {
        let connection: any PushConnection

        func acknowledge(_ ids: [NotificationID]) { AgentStep.acknowledge.take { connection.acknowledge(ids) } }
        func report(_ receipts: [Receipt], as batch: String) {
            AgentStep.report.take { connection.report(receipts, as: batch) }
        }
        func send(_ message: QueuedUpstream) { AgentStep.report.take { connection.send(message) } }
        func relay(_ frame: [UInt8]) { connection.relay(frame) }
        func probe() { connection.probe() }
        func close() { connection.close() }
    }
}
