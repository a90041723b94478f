import PushServer

/// A program's status for `/health` and `/ready`.
public struct ServerStatus: Sendable {
    /// The store's failure; `nil` while it commits.
    public var failure: @Sendable () -> StoreHealth.Failure?
    /// Whether every listener accepts connections, and none is being stopped.
    public var isReady: @Sendable () -> Bool
    /// The systems that stand still since their database cannot be used.
    public var faults: @Sendable () -> [SystemFault]
    /// The version that runs; `nil` where that is not told.
    public var version: String?

    /// Creates a status from its sources.
    public init(
        failure: @escaping @Sendable () -> StoreHealth.Failure?, isReady: @escaping @Sendable () -> Bool = { true },
        faults: @escaping @Sendable () -> [SystemFault] = { [] }, version: String? = nil
    ) {
        self.failure = failure
        self.isReady = isReady
        self.faults = faults
        self.version = version
    }
}

/// A system of the server that stands still since its database cannot be used, as `/health` tells it.
public struct SystemFault: Encodable, Hashable, Sendable {
    /// The system: `hub`, for one.
    public var system: String
    /// The name of the database's file in the data folder.
    public var file: String
    /// Why it cannot be used, in words that anybody may read: they hold no path.
    public var reason: String
    /// The remedy.
    public var remedy: String

    /// Makes the fault of a system.
    public init(system: String, file: String, reason: String, remedy: String) {
        self.system = system
        self.file = file
        self.reason = reason
        self.remedy = remedy
    }
}
