import Foundation
import Platform

/// An open file for a download. It can be read to its end even if it is deleted meanwhile.
package final class OpenMedia: Sendable {
    /// The file's properties.
    package let file: MediaFile
    private let descriptor: Descriptor

    init(_ file: MediaFile, _ descriptor: Descriptor) {
        self.file = file
        self.descriptor = descriptor
    }

    /// Reads the bytes from an offset on; blocks for the disk.
    ///
    /// - Returns: The number of bytes read, at least one.
    /// - Throws: The system's error; also where the file ends before its length, since another process truncated it.
    package func read(into target: UnsafeMutableRawBufferPointer, at place: Int64) throws -> Int {
        while true {
            let count = pread(descriptor.number, target.baseAddress, target.count, off_t(place))
            if count > 0 { return count }
            if count == 0 { throw MachineError(what: "the file \(file.name)", reason: "it is shorter than it was") }
            if errno != EINTR { throw MachineError(what: "the file \(file.name)", code: errno) }
        }
    }
}
