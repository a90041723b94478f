/// A listener for opened and closed sessions; the port of components that send to devices outside their mailboxes.
///
/// Called on the connections' event loops; must not block. `opened` precedes every message that the session sends
/// upstream.
package protocol SessionListener: Sendable {
    /// A session was opened over this connection.
    func opened(_ session: DeviceSessionID, _ connection: any DeviceConnection)
    /// A session was closed.
    func closed(_ session: DeviceSessionID)
}

/// Several listeners, each of which receives every event, in their order.
package struct SessionListeners: SessionListener {
    private let listeners: [any SessionListener]

    /// Creates a listener that forwards to other listeners.
    package init(_ listeners: [any SessionListener]) { self.listeners = listeners }

    /// Forwards the event to each listener.
    package func opened(_ session: DeviceSessionID, _ connection: any DeviceConnection) {
        for listener in listeners { listener.opened(session, connection) }
    }

    /// Forwards the event to each listener.
    package func closed(_ session: DeviceSessionID) {
        for listener in listeners { listener.closed(session) }
    }
}
