import CLinux
import Glibc
import Synchronization

/// A signal that wakes a polling thread from any other: a counter of the kernel's (eventfd(2)).
package final class WakeUp: Sendable {
    private let counter: Descriptor
    private let signalled = Mutex(false)

    /// Creates a counter that is not signalled.
    ///
    /// - Throws: An error when the system has no descriptor left.
    package init() throws(MachineError) { counter = try Descriptor(aldaba_wake_up_open(), "counter") }

    /// The descriptor to be polled; readable while ``isSignalled``.
    package var descriptor: Int32 { counter.number }

    /// Whether it was signalled and not cleared since.
    package var isSignalled: Bool { signalled.withLock { $0 } }

    /// Wakes the polling thread, now or later. Never blocks.
    package func signal() {
        signalled.withLock { isSignalled in
            guard !isSignalled else { return }
            isSignalled = true
            var one: UInt64 = 1
            _ = write(counter.number, &one, MemoryLayout<UInt64>.size)
        }
    }

    /// Clears the signal; the condition for which it was sent must be checked after this, not before.
    package func clear() {
        signalled.withLock { isSignalled in
            guard isSignalled else { return }
            isSignalled = false
            var count: UInt64 = 0
            _ = read(counter.number, &count, MemoryLayout<UInt64>.size)
        }
    }
}
