import Synchronization

/// A flag that threads share.
package final class Flag: Sendable {
    private let value = Mutex(false)

    package init() {}

    package func load() -> Bool { value.withLock { $0 } }
    package func store(_ new: Bool) { value.withLock { $0 = new } }
}
