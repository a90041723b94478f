import CLinux
import Glibc

/// A counter that all processes share which open a file: eight bytes of the file, mapped into memory.
///
/// Reading it costs as much as reading memory, so it can be read on every request. Thread-safe.
///
/// `@unchecked Sendable`: the mapping is made once, lives as long as the value, and is accessed by atomic operations
/// only.
final class SharedCounter: @unchecked Sendable {
    private let address: UnsafeMutableRawPointer

    /// Opens the counter, at zero if the file is new; the file is readable by its owner alone.
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

    /// The number of times it was raised, modulo 2^64.
    var current: UInt64 { aldaba_shared_counter_read(address) }

    /// Blocks the thread until the counter differs from a known value, whichever process raised it, for at most the
    /// given time in milliseconds. May return earlier.
    func wait(whileAt seen: UInt64, milliseconds: Int32) { aldaba_shared_counter_wait(address, seen, milliseconds) }

    func raise() { aldaba_shared_counter_raise(address) }

    private static let size: off_t = 8
}
