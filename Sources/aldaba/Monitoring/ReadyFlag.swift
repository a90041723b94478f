import Synchronization

/// Whether a program can be sent anything; it may change again and again. Thread-safe.
package final class ReadyFlag: Sendable {
    private let value = Atomic<Bool>(false)

    /// Not ready yet.
    package init() {}

    /// Whether it is ready now.
    package var isSet: Bool { value.load(ordering: .relaxed) }

    /// Marks the program as ready, or no longer so.
    package func set(_ isReady: Bool) { value.store(isReady, ordering: .relaxed) }
}
