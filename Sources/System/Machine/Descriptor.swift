import Glibc

/// A descriptor that is closed with the last who has it.
package final class Descriptor: Sendable {
    /// The system's number, 0 or above; open for as long as this lives.
    package let number: Int32

    /// Takes what a call of the system's returned.
    ///
    /// - Parameter name: What it is, in one word, for the failure.
    /// - Throws: what the system says when the number is negative.
    package init(_ number: Int32, _ name: String) throws(MachineFailure) {
        guard number >= 0 else { throw MachineFailure(what: "the system gives no \(name)", code: errno) }
        self.number = number
    }

    deinit { close(number) }
}
