import CLinux
import Glibc

/// A counter that every process which opens a file shares: eight bytes of the file, mapped into memory.
///
/// Reading it costs as much as reading memory, so it can be asked on every request. Thread-safe.
///
/// `@unchecked Sendable`: the mapping is made once, lives as long as the value, and is touched by atomic operations
/// only.
final class SharedCounter: @unchecked Sendable {
    private let address: UnsafeMutableRawPointer

    /// Opens the counter, at zero where there is no such file; the file is its owner's alone.
    ///
    /// - Throws: ``StoreError`` when the file cannot be made or mapped.
    init(path: String) throws {
        let descriptor = open(path, O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0o600)
        guard descriptor >= 0 else {
            throw StoreError.cannotOpen(path: path, reason: String(cString: strerror(errno)))
        }
        defer { close(descriptor) }
        var status = stat()
        guard fstat(descriptor, &status) == 0, status.st_size >= Self.size || ftruncate(descriptor, Self.size) == 0,
            let mapped = mmap(nil, Int(Self.size), PROT_READ | PROT_WRITE, MAP_SHARED, descriptor, 0),
            mapped != MAP_FAILED
        else { throw StoreError.cannotOpen(path: path, reason: String(cString: strerror(errno))) }
        address = mapped
    }

    deinit { munmap(address, Int(Self.size)) }

    /// How often it was raised, modulo 2^64.
    var current: UInt64 { aldaba_shared_counter_read(address) }

    /// Blocks the thread until the counter is another than one that was seen, whichever process raised it, but for no longer than so
    /// many milliseconds. May end earlier.
    func wait(whileAt seen: UInt64, milliseconds: Int32) { aldaba_shared_counter_wait(address, seen, milliseconds) }

    func raise() { aldaba_shared_counter_raise(address) }

    private static let size: off_t = 8
}
