import PushCore

/// A receiver of devices' upstream messages of one or several categories; the port of components that process them.
package protocol UpstreamReceiver: Sendable {
    /// Receives a message of a session's device.
    ///
    /// May be called on any thread and returns at once; completes exactly once, on any thread. The device is notified
    /// that its message arrived only after `.durable`: complete with it after a synced commit, never before. A message
    /// is sent again, under its persistent id, when its connection ended before that.
    func receive(
        _ message: UpstreamMessage, of session: DeviceSessionID,
        then complete: @escaping @Sendable (UpstreamOutcome) -> Void)
}

/// The outcome of an upstream message.
package enum UpstreamOutcome: Hashable, Sendable {
    /// The message is durable, without the items in it that are not the device's own. `ignored` counts those; a session
    /// that sends too many of them is ended.
    case durable(ignored: Int = 0)
    /// The message is refused, and the device is notified of the reason. It is not sent again.
    case refused(UpstreamRejection)
    /// The message violates the protocol: the session ends, and the device receives this text.
    case violation(String)
    /// The message could not be made durable now: the session ends, and the message is sent again in the next one.
    case failed
}
