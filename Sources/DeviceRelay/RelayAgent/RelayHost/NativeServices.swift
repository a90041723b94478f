import RelayProtocol

/// The agent's own services for other devices; the port of what reaches into the person's session.
package protocol NativeServices: Sendable {
    /// The names of the services.
    var names: Set<String> { get }
    /// Answers a question. `complete` is called once, on any thread. A `path` in the answer is a file that the caller
    /// is sent.
    ///
    /// - Parameter ticket: The question's own, for ``end(_:)``.
    func serve(
        _ ticket: Int64, service: String, message: RelayMap, settings: RelaySettings,
        then complete: @escaping @Sendable (RelayOutcome) -> Void)
    /// Ends the work for a request whose answer no caller needs any more. An answered or unknown ticket changes
    /// nothing.
    func end(_ ticket: Int64)
}

/// An empty set of services, for agents in tests.
package struct NoServices: NativeServices {
    /// There is nothing to make.
    package init() {}

    /// The empty set.
    package var names: Set<String> { [] }

    /// Refuses.
    package func serve(
        _ ticket: Int64, service: String, message: RelayMap, settings: RelaySettings,
        then complete: @escaping @Sendable (RelayOutcome) -> Void
    ) { complete(RelayOutcome(.serviceUnavailable)) }

    /// There is nothing to end.
    package func end(_ ticket: Int64) {}
}
