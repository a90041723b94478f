import Synchronization

/// Threads for what blocks, at most so many at a time; who comes when all are busy is turned away.
package final class BoundedThreads: Sendable {
    private let name: String
    private let limit: Int
    private let busy = Mutex(0)

    /// None runs before there is work.
    ///
    /// - Parameter name: What the system shows of each; at most fifteen bytes.
    package init(_ name: String, limit: Int) {
        self.name = name
        self.limit = limit
    }

    /// Begins a thread for a piece of work, unless as many are busy already.
    ///
    /// - Parameter complete: Called on that thread with what came of the work, when the place is free again.
    /// - Returns: Whether it was begun.
    package func begin<Value>(
        _ work: @escaping @Sendable () -> Value, then complete: @escaping @Sendable (Value) -> Void = { _ in }
    ) -> Bool {
        let isFree = busy.withLock { busy in
            guard busy < limit else { return false }
            busy += 1
            return true
        }
        guard isFree else { return false }
        OwnThread.begin(name) { [self] in
            let value = work()
            busy.withLock { $0 -= 1 }
            complete(value)
        }
        return true
    }
}
