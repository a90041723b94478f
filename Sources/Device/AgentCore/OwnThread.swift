import Foundation

/// Threads for what waits or blocks.
package enum OwnThread {
    /// Begins one, which the system shows under its name (`/proc/PID/task/TID/comm`).
    ///
    /// - Parameters:
    ///   - name: At most fifteen bytes; a longer one is not shown.
    ///   - stackSize: In bytes; `nil` for the usual one.
    package static func begin(_ name: String, stackSize: Int? = nil, _ work: @escaping @Sendable () -> Void) {
        let thread = Thread {
            // Only the thread itself can tell the system its name.
            Thread.current.name = name
            work()
        }
        if let stackSize { thread.stackSize = stackSize }
        thread.start()
    }
}
