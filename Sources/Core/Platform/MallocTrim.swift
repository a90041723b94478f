import CLinux
import Glibc

/// The memory that this process has freed, and that the C library keeps for later.
package enum MallocTrim {
    /// The size above which it is returned to the system, in bytes.
    private static let limit: Int64 = 32 << 20

    /// Makes each thread's heap keep 2 MiB of free memory; called before there are threads.
    ///
    /// With the C library's default of 128 KiB, forwarding a stream allocates and frees the same pages for every piece.
    /// That was two fifths of an agent's work for an app's stream.
    package static func keep() { aldaba_keep_memory(2 << 20, 1 << 20) }

    /// Returns the memory to the system, if it is much; meanwhile other threads that allocate wait.
    package static func giveBack() {
        guard let own = AnonymousMemory.bytes(of: getpid()) else { return }
        if own - Int64(clamping: aldaba_memory_in_use()) >= limit { aldaba_give_back_memory() }
    }
}
