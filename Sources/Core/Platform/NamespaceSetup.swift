import CLinux
import Glibc

/// The preparation of a process that was started in namespaces of its own (namespaces(7)).
package enum NamespaceSetup {
    /// Starts the loopback interface.
    package static func startLoopback() throws(MachineError) {
        try check(aldaba_start_loopback(), "the loopback interface cannot be started")
    }

    /// Puts an empty folder in memory over a folder.
    package static func mountMemory(at folder: String) throws(MachineError) {
        try check(aldaba_mount_memory(folder), "no folder in memory can be made at \(folder)")
    }

    /// Puts a file over another.
    package static func mount(_ file: String, over other: String) throws(MachineError) {
        try check(aldaba_mount_file(file, other), "\(other) cannot be replaced")
    }

    /// Drops the capabilities of what the calling thread starts from now on.
    package static func dropCapabilities() throws(MachineError) {
        try check(aldaba_drop_capabilities(), "capabilities cannot be dropped")
    }

    private static func check(_ result: Int32, _ what: String) throws(MachineError) {
        guard result != 0 else { return }
        throw MachineError(what: what, code: errno)
    }
}
