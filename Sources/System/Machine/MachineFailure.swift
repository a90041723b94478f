import Glibc

/// What the machine did not give or do, and why.
package struct MachineFailure: Error, Hashable, CustomStringConvertible {
    /// What it was about, such as a program's path.
    package var what: String
    /// In the system's words.
    package var reason: String

    /// With a reason in words of ours.
    package init(what: String, reason: String) {
        self.what = what
        self.reason = reason
    }

    /// With the system's words for an error number.
    package init(what: String, code: Int32) {
        self.init(what: what, reason: String(cString: strerror(code)))
    }

    /// `WHAT: REASON`.
    package var description: String { "\(what): \(reason)" }
}
