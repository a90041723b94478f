import CLinux
import Foundation

/// Threads for what waits or blocks.
package enum OwnThread {
    /// Begins one, which the system shows under its name (`/proc/PID/task/TID/comm`).
    ///
    /// - Parameters:
    ///   - name: At most fifteen bytes; more is cut off.
    ///   - stackSize: In bytes; `nil` for the usual one.
    package static func begin(_ name: String, stackSize: Int? = nil, _ work: @escaping @Sendable () -> Void) {
        let thread = Thread {
            // Foundation names a thread only once it has noted its number, which may be later than this.
            aldaba_thread_name(name)
            work()
        }
        if let stackSize { thread.stackSize = stackSize }
        thread.start()
    }
}
