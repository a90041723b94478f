import CLinux
import Foundation

/// Threads for waiting or blocking work.
package enum NamedThread {
    /// Starts a thread, which the system lists under its name (`/proc/PID/task/TID/comm`).
    ///
    /// - Parameters:
    ///   - name: The name, at most fifteen bytes; a longer one is cut.
    ///   - stackSize: The stack's size in bytes; `nil` for the usual one.
    package static func begin(_ name: String, stackSize: Int? = nil, _ work: @escaping @Sendable () -> Void) {
        let thread = Thread {
            // Foundation names a thread only once it has recorded its number, which may be later than this.
            aldaba_thread_name(name)
            work()
        }
        if let stackSize { thread.stackSize = stackSize }
        thread.start()
    }
}
