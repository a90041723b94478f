/// Tells when the store is to be looked over: after so many notifications, and of which apps.
struct PruningTrigger: Sendable {
    /// How many may be stored before the next look.
    static let interval = 5_000

    private var stored = 0
    private var apps: Set<String> = []

    /// A notification was stored.
    ///
    /// - Returns: The apps to look over now; `nil` while it is not time.
    mutating func noteStored(_ app: String) -> Set<String>? {
        stored += 1
        apps.insert(app)
        guard stored >= Self.interval else { return nil }
        defer { self = PruningTrigger() }
        return apps
    }
}
