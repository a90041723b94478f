import Foundation

/// Log files for the output of programs.
package enum ProgramLog {
    /// The size in bytes above which a log is cleared at a start.
    package static let limit: off_t = 8 << 20

    /// Opens a log for appending; only this user may read file and folder.
    ///
    /// - Parameter name: The name without the extension `.log`.
    /// - Returns: A descriptor, which the caller closes.
    package static func open(folder: String, name: String) throws(MachineError) -> Int32 {
        try? FileManager.default.createDirectory(
            atPath: folder, withIntermediateDirectories: true, attributes: [.posixPermissions: 0o700])
        let path = "\(folder)/\(name).log"
        let log = Glibc.open(path, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0o600)
        guard log >= 0 else { throw MachineError(what: "its log \(path)", code: errno) }
        var status = stat()
        if fstat(log, &status) == 0, status.st_size > limit { ftruncate(log, 0) }
        return log
    }
}
