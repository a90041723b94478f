import PushCore

/// The present sessions of devices; the port of what shows and ends them.
package protocol DeviceSessions: Sendable {
    /// The session of a connected device; `nil` for one that is not connected.
    func session(of device: DeviceID) async -> ConnectedSession?
    /// Ends the sessions of revoked or blocked devices; devices without a session are ignored.
    func endSessions(of devices: [DeviceID])
}

/// A connected device's session.
package struct ConnectedSession: Sendable, Hashable {
    /// The time at which the device logged in.
    package var since: Timestamp
    /// The network that it connects from; `nil` where none is known.
    package var network: String?

    /// Creates a session.
    package init(since: Timestamp, network: String? = nil) {
        self.since = since
        self.network = network
    }
}

extension MailboxService: DeviceSessions {
    /// The session of a device as of the last commit.
    package func session(of device: DeviceID) -> ConnectedSession? {
        connections.sessions[device].map { ConnectedSession(since: $0.openedAt, network: $0.connection.network) }
    }
}
