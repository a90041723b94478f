import Foundation
import Machine

/// One file on its way out. It can be read to its end also when it is deleted meanwhile.
public final class OpenMedia: Sendable {
    /// What it is.
    public let file: MediaFile
    private let descriptor: Descriptor

    init(_ file: MediaFile, _ descriptor: Descriptor) {
        self.file = file
        self.descriptor = descriptor
    }

    /// Reads the bytes from a place on; blocks for the disk.
    ///
    /// - Returns: How many were read, at least one.
    /// - Throws: what the system said; also where the file ends before its length, which somebody else cut.
    public func read(into target: UnsafeMutableRawBufferPointer, at place: Int64) throws -> Int {
        while true {
            let count = pread(descriptor.number, target.baseAddress, target.count, off_t(place))
            if count > 0 { return count }
            if count == 0 { throw MachineFailure(what: "the file \(file.name)", reason: "it is shorter than it was") }
            if errno != EINTR { throw MachineFailure(what: "the file \(file.name)", code: errno) }
        }
    }
}
