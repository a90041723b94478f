import RelayTrust
import RelayWire

/// The agent's own services for other devices; the port of what reaches into the person's session.
public protocol NativeServices: Sendable {
    /// What they are called.
    var names: Set<String> { get }
    /// Answers a question. `complete` is called once, on any thread. A `path` in the answer is a file that the caller is sent.
    ///
    /// - Parameter ticket: The question's own, for ``end(_:)``.
    func serve(
        _ ticket: Int64, _ service: String, _ message: RelayMap, _ settings: RelaySettings,
        then complete: @escaping @Sendable (RelayOutcome) -> Void)
    /// Nobody wants a question's answer any more: what it has started is ended. An answered or unknown ticket changes nothing.
    func end(_ ticket: Int64)
}

/// None, for agents of tests.
public struct NoServices: NativeServices {
    /// There is nothing to make.
    public init() {}

    /// None.
    public var names: Set<String> { [] }

    /// Refuses.
    public func serve(
        _ ticket: Int64, _ service: String, _ message: RelayMap, _ settings: RelaySettings,
        then complete: @escaping @Sendable (RelayOutcome) -> Void
    ) { complete(RelayOutcome(.serviceUnavailable)) }

    /// There is nothing to end.
    public func end(_ ticket: Int64) {}
}
