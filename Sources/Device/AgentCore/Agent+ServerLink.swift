import DeviceLink
import DeviceModel
import DeviceStore
import PushModel

/// What the link to the server tells the agent. Both run on one event loop.
extension Agent: ServerLinkDelegate {
    /// Calls the link, which runs on the agent's event loop; `nil` without a server.
    @discardableResult func onLink<Value: Sendable>(_ body: (isolated ServerLink) -> Value) -> Value? {
        link?.assumeIsolated(body)
    }

    package nonisolated func enrolled(as device: DeviceID) { events(.enrolled(device)) }
    package nonisolated func sessionOpened() { events(.sessionOpened) }
    package nonisolated func sessionClosed(reason: String) { events(.sessionClosed(reason: reason)) }

    package nonisolated func notificationsArrived(_ notifications: [OutgoingNotification], in session: Int) {
        assumeIsolated { $0.arrived(notifications, in: session) }
    }

    package nonisolated func confirmed(_ ids: [NotificationID]) { assumeIsolated { $0.enqueue(.confirmed(ids)) } }

    package nonisolated func receiptsConfirmed(_ places: ClosedRange<Int64>) {
        assumeIsolated { $0.enqueue(.receiptsConfirmed(places)) }
    }

    package nonisolated func tokenReceived(_ token: String, app: String) {
        assumeIsolated { $0.announce(token, app: app) }
    }
    package nonisolated func tokenEnded(app: String) { assumeIsolated { $0.apps[app]?.isTokenEnding = false } }
    package nonisolated func tokenRefused(app: String, code: String) {
        assumeIsolated { $0.refuseToken(app, code: code) }
    }
    package nonisolated func commitWrites() { assumeIsolated { _ = $0.flush() } }
    package nonisolated func storeUnusable(_ error: any Error) { assumeIsolated { $0.storeFailed(error) } }
}

/// A connector whose words to the server are steps of the agent.
package struct SteppedConnector: PushConnector {
    package let connector: any PushConnector

    package init(connector: any PushConnector) {
        self.connector = connector
    }

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
        func close() { connection.close() }
    }
}
