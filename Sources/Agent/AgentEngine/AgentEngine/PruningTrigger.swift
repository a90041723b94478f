import AgentProtocol

/// Decides when the store is pruned, and for which apps: after every ``interval`` notifications that were stored.
struct PruningTrigger: Sendable {
    /// How many notifications are stored until the store is pruned.
    static let interval = 5_000

    private var stored = 0
    private var apps: Set<BundleID> = []

    /// A notification was stored.
    ///
    /// - Returns: The apps to prune now: those of the notifications that were stored since the last time. `nil` while
    ///   it is not time.
    mutating func noteStored(_ app: BundleID) -> Set<BundleID>? {
        stored += 1
        apps.insert(app)
        guard stored >= Self.interval else { return nil }
        defer { self = PruningTrigger() }
        return apps
    }
}
