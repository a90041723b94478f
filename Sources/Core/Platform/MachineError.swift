import Glibc

/// An error of the system: the refused resource or action, and the reason.
package struct MachineError: Error, Hashable, CustomStringConvertible {
    /// The subject of the failure, such as a program's path.
    package var what: String
    /// The system's error message.
    package var reason: String

    /// Creates a failure with a reason of our own.
    package init(what: String, reason: String) {
        self.what = what
        self.reason = reason
    }

    /// Creates a failure with the system's message for an error number.
    package init(what: String, code: Int32) {
        self.init(what: what, reason: String(cString: strerror(code)))
    }

    /// The text `WHAT: REASON`.
    package var description: String { "\(what): \(reason)" }
}
