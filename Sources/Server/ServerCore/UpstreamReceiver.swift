import PushModel

/// Takes what devices send upstream of one category, or of several; the port of whoever serves it.
public protocol UpstreamReceiver: Sendable {
    /// Takes a message of a session's device.
    ///
    /// May be called on any thread and returns at once; completes exactly once, on any thread. The device hears that
    /// its message arrived only after `.durable`: say that after a synced commit, never before. A message comes again,
    /// under its persistent id, when its connection ended before that.
    func receive(
        _ message: UpstreamMessage, of session: DeviceSessionID,
        then complete: @escaping @Sendable (UpstreamOutcome) -> Void)
}

/// What became of an upstream message.
public enum UpstreamOutcome: Hashable, Sendable {
    /// The message is durable, without the items in it that are not the device's own. `ignored` counts those; a session
    /// that sends too many of them is ended.
    case durable(ignored: Int = 0)
    /// It is not taken, and the device is told why. It does not come again.
    case refused(UpstreamRefusal)
    /// It breaks the protocol: the session ends, and the device is told this text.
    case violation(String)
    /// It could not be made durable now: the session ends, and the message comes again in the next one.
    case failed
}

/// Who takes what devices send upstream, by category.
public struct UpstreamRegistry: Sendable {
    private var receivers: [String: any UpstreamReceiver] = [:]
    private let others: any UpstreamReceiver

    /// A registry in which no category is entered.
    ///
    /// - Parameter others: Takes what no category is entered for; unless told otherwise it refuses.
    public init(others: any UpstreamReceiver = UnservedCategory()) { self.others = others }

    /// The same registry with a receiver for one more category; it takes the place of an earlier one for it.
    public func adding(_ receiver: any UpstreamReceiver, for category: String) -> UpstreamRegistry {
        var registry = self
        registry.receivers[category] = receiver
        return registry
    }

    /// Who takes a category; there always is somebody.
    public func receiver(of category: String) -> any UpstreamReceiver { receivers[category] ?? others }
}

/// Refuses what nobody serves.
public struct UnservedCategory: UpstreamReceiver {
    /// Makes a receiver; it has no state.
    public init() {}

    /// Refuses the message with the code 404 and the first 100 characters of its category.
    public func receive(
        _ message: UpstreamMessage, of session: DeviceSessionID,
        then complete: @escaping @Sendable (UpstreamOutcome) -> Void
    ) {
        complete(
            .refused(
                UpstreamRefusal(code: 404, reason: "nobody serves the category \"\(message.category.prefix(100))\"")))
    }
}
