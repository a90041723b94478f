import AgentWire
import DeviceLink
import DeviceModel
import DeviceStore
import PushEncryption
import PushModel

/// What the link to the server tells the agent. The link calls on the agent's event loop, which it shares.
extension Agent: ServerLinkDelegate {
    /// Calls the link, which runs on the agent's event loop; `nil` without a server.
    @discardableResult func onLink<Value: Sendable>(_ body: (isolated ServerLink) -> Value) -> Value? {
        link?.assumeIsolated(body)
    }

    /// Tells that the device has its id (``AgentEvent/enrolled(_:)``).
    package nonisolated func enrolled(as device: DeviceID) { events(.enrolled(device)) }
    /// Tells that the server took the login (``AgentEvent/sessionOpened``).
    package nonisolated func sessionOpened() {
        assumeIsolated { agent in
            agent.onRelay { $0.sessionOpened() }
            agent.tellChannels()
        }
        events(.sessionOpened)
    }
    /// Tells that a session was lost or could not be opened (``AgentEvent/sessionClosed(reason:)``).
    package nonisolated func sessionClosed(reason: String) {
        events(.sessionClosed(reason: reason))
        assumeIsolated { $0.tellChannels() }
    }

    /// Plans the notifications and has them stored; the link acknowledges them after the commit.
    package nonisolated func notificationsArrived(_ notifications: [OutgoingNotification], in session: Int) {
        assumeIsolated { $0.arrived(notifications, in: session) }
    }

    /// Has the ids of notifications deleted whose acks the server has confirmed.
    package nonisolated func confirmed(_ ids: [NotificationID]) { assumeIsolated { $0.enqueue(.confirmed(ids)) } }

    /// Has receipts deleted that the server has; first and last place in the outbox.
    package nonisolated func receiptsConfirmed(_ places: ClosedRange<Int64>) {
        assumeIsolated { $0.enqueue(.receiptsConfirmed(places)) }
    }

    /// Tells the app its device token, where it asked for one or knows another.
    package nonisolated func tokenReceived(_ token: String, app: BundleID) {
        assumeIsolated {
            $0.noteKeyPublished(of: app)
            $0.announce(token, app: app)
        }
    }
    /// The public key of the app's newest key pair, which is made where there is none yet or it has been in use for long.
    package nonisolated func keyToPublish(app: BundleID) throws -> RecipientPublicKey? {
        try assumeIsolated { try $0.publicKeyToPublish(of: app) }
    }
    /// Notes that the app's device token has ended: it may ask for a new one.
    package nonisolated func tokenEnded(app: BundleID) { assumeIsolated { $0.apps[app]?.isTokenEnding = false } }
    /// Answers the app's requests for a device token with the server's code.
    package nonisolated func tokenRefused(app: BundleID, code: String) {
        assumeIsolated { $0.refuseToken(app, code: code) }
    }
    /// Commits the batch of changes now.
    package nonisolated func commitWrites() { assumeIsolated { _ = $0.flush() } }
    /// Treats the error as any failure of the store: all connections are opened anew.
    package nonisolated func storeUnusable(_ error: any Error) { assumeIsolated { $0.storeFailed(error) } }
}

/// Wraps a connector so that each ack and each report to the server is a step of the agent (``AgentStep``), at which a
/// debug build can be told to die.
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

        func stored(_ ids: [NotificationID]) { AgentStep.acknowledge.take { connection.stored(ids) } }
        func report(_ receipts: [Receipt], as batch: String) {
            AgentStep.report.take { connection.report(receipts, as: batch) }
        }
        func send(_ message: QueuedUpstream) { AgentStep.report.take { connection.send(message) } }
        func relay(_ frame: [UInt8]) { connection.relay(frame) }
        func probe() { connection.probe() }
        func close() { connection.close() }
    }
}
