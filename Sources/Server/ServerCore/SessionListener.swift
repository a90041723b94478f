/// Hears which devices have a session; the port of whoever speaks to devices beside their mailboxes.
///
/// Called on the connections' event loops; must not block. `opened` comes before anything that the session sends upstream.
public protocol SessionListener: Sendable {
    /// A session is open, over this connection.
    func opened(_ session: DeviceSessionID, _ connection: any DeviceConnection)
    /// A session is over.
    func closed(_ session: DeviceSessionID)
}

/// Several listeners, each of which hears everything, in their order.
public struct SessionListeners: SessionListener {
    private let listeners: [any SessionListener]

    /// Brings listeners together.
    public init(_ listeners: [any SessionListener]) { self.listeners = listeners }

    /// Tells each of them.
    public func opened(_ session: DeviceSessionID, _ connection: any DeviceConnection) {
        for listener in listeners { listener.opened(session, connection) }
    }

    /// Tells each of them.
    public func closed(_ session: DeviceSessionID) {
        for listener in listeners { listener.closed(session) }
    }
}
