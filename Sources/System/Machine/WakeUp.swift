import CLinux
import Glibc
import Synchronization

/// Wakes a thread that polls, from any other: a counter of the kernel's (eventfd(2)).
package final class WakeUp: Sendable {
    private let counter: Descriptor
    private let signalled = Mutex(false)

    /// Makes a counter that is not signalled.
    ///
    /// - Throws: when the system has no descriptor left.
    package init() throws(MachineFailure) { counter = try Descriptor(aldaba_wake_up_open(), "counter") }

    /// To be polled; readable while ``isSignalled``.
    package var descriptor: Int32 { counter.number }

    /// Whether it was signalled and not cleared since.
    package var isSignalled: Bool { signalled.withLock { $0 } }

    /// Wakes who polls, now or later. Never blocks.
    package func signal() {
        signalled.withLock { isSignalled in
            guard !isSignalled else { return }
            isSignalled = true
            var one: UInt64 = 1
            _ = write(counter.number, &one, MemoryLayout<UInt64>.size)
        }
    }

    /// Takes the signal back; what it stands for is to be looked at after this, not before.
    package func clear() {
        signalled.withLock { isSignalled in
            guard isSignalled else { return }
            isSignalled = false
            var count: UInt64 = 0
            _ = read(counter.number, &count, MemoryLayout<UInt64>.size)
        }
    }
}
