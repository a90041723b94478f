import CLinux
import Glibc

/// The memory that this process uses no more, and that the C library keeps for later.
package enum KeptMemory {
    /// From so many bytes on it is given back.
    private static let limit: Int64 = 32 << 20

    /// Gives it back to the system, where it is much; meanwhile other threads wait that want memory.
    package static func giveBack() {
        guard let own = OwnMemory.bytes(of: getpid()) else { return }
        if own - Int64(clamping: aldaba_memory_in_use()) >= limit { aldaba_give_back_memory() }
    }
}
