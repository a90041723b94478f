import AgentEngine
import Foundation
import Platform
import Synchronization

/// A file that is being received, with the mode 0600. One task at a time writes to it.
final class ReceivedFile: Sendable {
    let path: String
    private let descriptor: Descriptor
    private let written = Mutex(Int64(0))

    /// - Throws: where it cannot be made.
    init(path: String) throws(MachineError) {
        self.path = path
        do {
            descriptor = try Descriptor(open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0o600), "file")
        } catch {
            throw MachineError(what: path, reason: error.reason)
        }
    }

    /// How many bytes it has.
    var size: Int64 { written.withLock { $0 } }

    /// - Throws: where not all could be written.
    func append(_ bytes: ArraySlice<UInt8>) throws(MachineError) {
        var rest = bytes
        while !rest.isEmpty {
            let count = rest.withUnsafeBytes { write(descriptor.number, $0.baseAddress, $0.count) }
            guard count > 0 else { throw MachineError(what: path, code: errno) }
            written.withLock { $0 += Int64(count) }
            rest = rest.dropFirst(count)
        }
    }

    /// Deletes it, where it is still here.
    func drop() { unlink(path) }
}
