import PushCore

/// A device wire's side of one session.
package protocol DeviceConnection: AnyObject, Sendable {
    /// The network that the device connects from, to be compared with others'; `nil` where it stands for many clients,
    /// as a proxy's does, and where none is known.
    var network: String? { get }

    /// New notifications for the device, in order; called on any thread, must not block.
    ///
    /// A connection that cannot take them now leaves the stored ones (they have an expiry and are paged later) and
    /// reports the others with ``DeviceGateway/attempts(_:became:)``.
    func deliver(_ notifications: [OutgoingNotification])

    /// Announces a queued entry that ``deliver(_:)`` does not pass, such as a notice: the connection reads the next
    /// page. Called before later notifications are delivered, on any thread; must not block.
    func waitingChanged()

    /// Writes a frame from another device, which is not queued. `complete` is called once, on any thread, with the
    /// outcome.
    ///
    /// - Parameter isBulk: Whether frames that are not bulk may overtake it.
    func relay(_ frame: [UInt8], isBulk: Bool, then complete: @escaping @Sendable (RelayWriteResult) -> Void)

    /// A newer session of the same device was opened: notify the peer if the wire can, and close.
    func superseded()

    /// The device was revoked or blocked: close. Called on any thread.
    func revoked()

    /// The device's browser registrations have changed. Called on any thread; must not block.
    func registrationsChanged()
}

extension DeviceConnection {
    /// No network is known.
    package var network: String? { nil }
}

extension DeviceConnection {
    /// Does nothing, as fits a wire whose clients are no browsers.
    package func registrationsChanged() {}

    /// Writes nothing; for wires that cannot relay.
    package func relay(_ frame: [UInt8], isBulk: Bool, then complete: @escaping @Sendable (RelayWriteResult) -> Void) {
        complete(.ended)
    }
}

/// The outcome of a frame that one device sent to another.
package enum RelayWriteResult: Sendable {
    /// The frame is written to the connection, or buffered until the connection takes it.
    case written
    /// The session is over, or its wire cannot relay.
    case ended
    /// The device reads too slowly: the buffer is full.
    case choked
}
