import ServerCore

/// How a program is, as `/health` and `/ready` tell it.
public struct ServerStatus: Sendable {
    /// What is wrong with the store; `nil` while it commits.
    public var failure: @Sendable () -> StoreHealth.Failure?
    /// Whether every listener accepts connections, and none is being stopped.
    public var isReady: @Sendable () -> Bool
    /// Which version runs; `nil` where that is not told.
    public var version: String?

    /// Brings the answers together.
    public init(
        failure: @escaping @Sendable () -> StoreHealth.Failure?, isReady: @escaping @Sendable () -> Bool = { true },
        version: String? = nil
    ) {
        self.failure = failure
        self.isReady = isReady
        self.version = version
    }
}
