import CLinux
import Glibc

/// The two ends of a pipe, which no program inherits unasked. Who makes it closes it.
package struct PipeEnds {
    /// -1 once it is given away or closed.
    package private(set) var reading: Int32
    /// -1 once it is given away or closed.
    package private(set) var writing: Int32

    /// Makes a pipe.
    ///
    /// - Throws: when the system has no descriptor left.
    package init() throws(MachineFailure) {
        var ends: [Int32] = [-1, -1]
        guard aldaba_pipe(&ends) == 0 else { throw MachineFailure(what: "the system gives no pipe", code: errno) }
        (reading, writing) = (ends[0], ends[1])
    }

    /// Closes what was not given away.
    package mutating func close() {
        if reading >= 0 { Glibc.close(giveReading()) }
        closeWriting()
    }

    /// Closes the end into which something is written.
    package mutating func closeWriting() {
        if writing >= 0 { Glibc.close(giveWriting()) }
    }

    /// From now on somebody else closes it.
    package mutating func giveReading() -> Int32 {
        defer { reading = -1 }
        return reading
    }

    /// From now on somebody else closes it.
    package mutating func giveWriting() -> Int32 {
        defer { writing = -1 }
        return writing
    }
}
