import CLinux
import Glibc

/// The memory that this process uses no more, and that the C library keeps for later.
package enum KeptMemory {
    /// From so many bytes on it is given back.
    private static let limit: Int64 = 32 << 20

    /// Has each thread's heap keep 2 MiB that are free; called before there are threads.
    ///
    /// With the C library's 128 KiB whatever passes a stream on takes and gives back the same pages for every piece: that was two fifths of
    /// an agent's work for an app's stream.
    package static func keep() { aldaba_keep_memory(2 << 20, 1 << 20) }

    /// Gives it back to the system, where it is much; meanwhile other threads wait that want memory.
    package static func giveBack() {
        guard let own = OwnMemory.bytes(of: getpid()) else { return }
        if own - Int64(clamping: aldaba_memory_in_use()) >= limit { aldaba_give_back_memory() }
    }
}
