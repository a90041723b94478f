import Synchronization

/// Threads for blocking work, up to a maximum number; work beyond it is refused.
package final class BoundedThreads: Sendable {
    private let name: String
    private let limit: Int
    private let busy = Mutex(0)

    /// Creates a pool without threads.
    ///
    /// - Parameter name: The threads' name in the system; at most fifteen bytes.
    package init(_ name: String, limit: Int) {
        self.name = name
        self.limit = limit
    }

    /// Starts a thread for a piece of work, unless the maximum number is busy.
    ///
    /// - Parameter complete: Called on that thread with the result of the work, after the thread's slot is free again.
    /// - Returns: Whether it was started.
    package func begin<Value>(
        _ work: @escaping @Sendable () -> Value, then complete: @escaping @Sendable (Value) -> Void = { _ in }
    ) -> Bool {
        let isFree = busy.withLock { busy in
            guard busy < limit else { return false }
            busy += 1
            return true
        }
        guard isFree else { return false }
        NamedThread.begin(name) { [self] in
            let value = work()
            busy.withLock { $0 -= 1 }
            complete(value)
        }
        return true
    }
}
