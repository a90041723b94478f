import Synchronization

/// A flag that threads share.
public final class Flag: Sendable {
    private let value = Mutex(false)

    public init() {}

    public func load() -> Bool { value.withLock { $0 } }
    public func store(_ new: Bool) { value.withLock { $0 = new } }
}
