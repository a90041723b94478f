import PushCore
import RelayProtocol

/// The outcome of a push that was to wake a device.
package enum RelayWakeResult: Hashable, Sendable {
    /// The push service accepted the push.
    case sent
    /// The push was not sent, for a reason.
    case failed(reason: String)
    /// The push service reports the channel dead, with its reason.
    case dead(reason: String)
}

/// Wakes devices through their platforms' push services; a port.
package protocol RelayWaker: Sendable {
    /// Has the push service wake a device. `complete` is called once, on any thread, after this call has returned, and
    /// no later than shortly after `deadline`.
    ///
    /// - Parameter deadline: The time until which something is queued for the device.
    func wake(
        _ channel: RelayWakeChannel, until deadline: Timestamp,
        then complete: @escaping @Sendable (RelayWakeResult) -> Void
    )
}
