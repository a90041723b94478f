import AgentEngine
import PushCore

/// Opens connections to the server's device channel; a port, implemented by the wire protocol.
package protocol PushConnector: Sendable {
    /// Makes one attempt. `events` is called in order on a thread of the connector's, ends with exactly one
    /// ``PushEvent/closed(_:)`` and must not block.
    ///
    /// - Parameter received: The notifications that are stored here and not yet confirmed; the server forgets them at
    ///   login.
    func connect(
        _ identity: DeviceIdentity, received: [NotificationID], events: @escaping @Sendable (PushEvent) -> Void
    ) -> any PushConnection
}

/// A connection, from its attempt to its end. May be called on any thread; calls after its end have no effect.
package protocol PushConnection: Sendable {
    /// Acknowledges notifications that are durable here.
    func acknowledge(_ ids: [NotificationID])
    /// Sends receipts under an id of ours, which comes back in ``PushEvent/reportConfirmed(_:)``.
    func report(_ receipts: [Receipt], as batch: String)
    /// Sends an app's message, whose own name comes back in ``PushEvent/reportConfirmed(_:)``.
    func send(_ message: QueuedUpstream)
    /// Sends something for another device; it is lost where the session is not open.
    func relay(_ frame: [UInt8])
    /// Asks the server for an answer now; without one it ends.
    func probe()
    /// Ends it; ``PushEvent/closed(_:)`` comes all the same.
    func close()
}

extension PushConnection {
    /// Sends nothing, for connections that cannot relay.
    package func relay(_ frame: [UInt8]) {}
}

/// An event of a connection.
package enum PushEvent: Sendable, Equatable {
    /// The server took the login: the session is open.
    case loggedIn
    /// Everything that one read brought.
    case arrived([OutgoingNotification])
    /// The server knows that these are stored here: their ids need not be kept for the next login.
    case confirmed([NotificationID])
    /// The server has made these batches of receipts durable.
    case reportConfirmed([String])
    /// The server does not take what was sent under this name, and why; it is confirmed next.
    case refused(String, code: String)
    /// A relay frame arrived, from another device or from the server.
    case relayed([UInt8])
    /// The connection is over, and why; the last event.
    case closed(PushCloseReason)
}

/// Why a connection ended.
package enum PushCloseReason: Sendable, Equatable {
    /// Unknown device or wrong secret.
    case loginRefused
    /// Too many devices log in: this one is to come again after so many milliseconds.
    case busy(Int64)
    /// Any other reason, for people.
    case lost(String)
}
