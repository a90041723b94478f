import AldabaConfiguration
import Glibc
import Synchronization

/// A log file that never takes more than twice its limit: when full it becomes `NAME.1`, and a new one begins.
package final class BoundedLogFile: Sendable {
    private struct Open {
        var descriptor: Int32
        var size: Int
        /// The end of what was written, for messages about a child that died.
        var tail: [UInt8] = []
    }

    /// The file that is written now; the full one before it is `NAME.1`.
    package let path: String
    private let limit: Int
    private let state: Mutex<Open>

    /// Opens the file for appending, 0600.
    package init(path: String, limit: Int = 8 << 20) throws(PrivateFile.Failure) {
        self.path = path
        self.limit = limit
        let descriptor = try Self.open(path)
        let size = lseek(descriptor, 0, SEEK_END)
        state = Mutex(Open(descriptor: descriptor, size: max(0, size)))
    }

    deinit { state.withLock { _ = close($0.descriptor) } }

    private static func open(_ path: String) throws(PrivateFile.Failure) -> Int32 {
        let descriptor = Glibc.open(path, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0o600)
        guard descriptor >= 0 else { throw PrivateFile.Failure(action: "write", path: path, code: errno) }
        return descriptor
    }

    /// Appends bytes; what the disk does not take is lost.
    package func append(_ bytes: some Collection<UInt8>) {
        state.withLock { state in
            if state.size > 0, state.size + bytes.count > limit, rename(path, path + ".1") == 0,
                let next = try? Self.open(path)
            {
                close(state.descriptor)
                state.descriptor = next
                state.size = 0
            }
            let all = Array(bytes)
            let written = all.withUnsafeBytes { write(state.descriptor, $0.baseAddress, $0.count) }
            state.size += max(0, written)
            state.tail = Array((state.tail + all).suffix(4096))
        }
    }

    /// The last lines that were appended, at most `count`.
    package func lastLines(_ count: Int) -> [String] {
        let tail = state.withLock { $0.tail }
        return tail.split(separator: 10).suffix(count).map { String(decoding: $0, as: UTF8.self) }
    }
}
