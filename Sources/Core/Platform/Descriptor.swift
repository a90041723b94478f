import Glibc

/// A file descriptor that is closed when its last reference is released.
package final class Descriptor: Sendable {
    /// The system's number, 0 or above; open during this object's lifetime.
    package let number: Int32

    /// Takes ownership of the result of a system call.
    ///
    /// - Parameter name: A word for it in the failure's message.
    /// - Throws: The system's error when the number is negative.
    package init(_ number: Int32, _ name: String) throws(MachineError) {
        guard number >= 0 else { throw MachineError(what: "the system gives no \(name)", code: errno) }
        self.number = number
    }

    deinit { close(number) }
}
