import PushServer

/// A program's status for `/health` and `/ready`.
package struct ServerStatus: Sendable {
    /// The store's failure; `nil` while it commits.
    package var failure: @Sendable () -> StoreHealth.Failure?
    /// Whether every listener accepts connections, and none is being stopped.
    package var isReady: @Sendable () -> Bool
    /// The systems that stand still since their database cannot be used.
    package var faults: @Sendable () -> [SystemFault]
    /// The version that runs; `nil` where that is not told.
    package var version: String?

    /// Creates a status from its sources.
    package init(
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
package struct SystemFault: Encodable, Hashable, Sendable {
    /// The system: `hub`, for one.
    package var system: String
    /// The name of the database's file in the data folder.
    package var file: String
    /// Why it cannot be used, in words that anybody may read: they hold no path.
    package var reason: String
    /// The remedy.
    package var remedy: String

    /// Makes the fault of a system.
    package init(system: String, file: String, reason: String, remedy: String) {
        self.system = system
        self.file = file
        self.reason = reason
        self.remedy = remedy
    }
}
