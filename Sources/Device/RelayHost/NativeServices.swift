import RelayTrust
import RelayWire

/// The agent's own services for other devices; the port of what reaches into the person's session.
public protocol NativeServices: Sendable {
    /// What they are called.
    var names: Set<String> { get }
    /// Answers a question. `complete` is called once, on any thread. A `path` in the answer is a file that the caller is sent.
    func serve(
        _ service: String, _ message: RelayMap, _ settings: RelaySettings,
        then complete: @escaping @Sendable (RelayOutcome) -> Void)
}

/// None, for agents of tests.
public struct NoServices: NativeServices {
    /// There is nothing to make.
    public init() {}

    /// None.
    public var names: Set<String> { [] }

    /// Refuses.
    public func serve(
        _ service: String, _ message: RelayMap, _ settings: RelaySettings,
        then complete: @escaping @Sendable (RelayOutcome) -> Void
    ) { complete(RelayOutcome(.serviceUnavailable)) }
}
