import RelayWire

/// What became of a push that was to wake a device.
public enum RelayWaking: Hashable, Sendable {
    /// The push service took it.
    case sent
    /// It was not sent, and why.
    case failed(reason: String)
    /// The push service knows the channel no more; its word.
    case dead(reason: String)
}

/// Wakes devices by their platforms' push services; a port.
public protocol RelayWaker: Sendable {
    /// Has the push service wake a device. `complete` is called once, on any thread, after this call has returned, and no later than
    /// shortly after `deadline`.
    ///
    /// - Parameter deadline: Until when there is something for the device, in milliseconds since 1970.
    func wake(
        _ channel: RelayWakeChannel, until deadline: Int64, then complete: @escaping @Sendable (RelayWaking) -> Void)
}
