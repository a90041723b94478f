import Foundation

/// A folder for secrets.
package enum PrivateFolder {
    /// Creates the folder with mode 0700 where it is missing. An existing one must be ours, and not writable by others;
    /// `shut` also removes others' read access.
    ///
    /// - Throws: ``MachineError`` with the path, and the reason why it cannot be used.
    package static func prepare(_ path: String, shut: Bool) throws(MachineError) {
        func failure(_ reason: String) -> MachineError { MachineError(what: path, reason: reason) }
        do {
            try FileManager.default.createDirectory(
                atPath: path, withIntermediateDirectories: true, attributes: [.posixPermissions: 0o700])
        } catch {
            throw failure("it cannot be made")
        }
        var status = stat()
        guard stat(path, &status) == 0 else { throw MachineError(what: path, code: errno) }
        guard status.st_uid == getuid() else { throw failure("it belongs to another user") }
        guard status.st_mode & 0o022 == 0 else {
            throw failure("others can write to it; look what is in it, then take that away: chmod go-w \(path)")
        }
        if shut, status.st_mode & 0o077 != 0, chmod(path, 0o700) != 0 { throw failure("others can read it") }
        guard access(path, R_OK | W_OK | X_OK) == 0 else { throw failure("it is not writable") }
    }
}
