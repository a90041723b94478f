import CLinux
import Glibc

/// The two ends of a pipe, which child processes do not inherit by default. The creator closes them.
package struct PipeEnds {
    /// The reading end; -1 once it is given away or closed.
    package private(set) var reading: Int32
    /// The writing end; -1 once it is given away or closed.
    package private(set) var writing: Int32

    /// Creates a pipe.
    ///
    /// - Throws: An error when the system has no descriptor left.
    package init() throws(MachineError) {
        var ends: [Int32] = [-1, -1]
        guard aldaba_pipe(&ends) == 0 else { throw MachineError(what: "the system gives no pipe", code: errno) }
        (reading, writing) = (ends[0], ends[1])
    }

    /// Closes the ends that were not given away.
    package mutating func close() {
        if reading >= 0 { Glibc.close(giveReading()) }
        closeWriting()
    }

    /// Closes the writing end.
    package mutating func closeWriting() {
        if writing >= 0 { Glibc.close(giveWriting()) }
    }

    /// Returns the reading end, which the caller must close from now on.
    package mutating func giveReading() -> Int32 {
        defer { reading = -1 }
        return reading
    }

    /// Returns the writing end, which the caller must close from now on.
    package mutating func giveWriting() -> Int32 {
        defer { writing = -1 }
        return writing
    }
}
