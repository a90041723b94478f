import CLinux
import DeviceModel
import Foundation
import PushModel

/// A folder for secrets.
package enum PrivateFolder {
    /// Makes the folder with mode 0700 where it is missing. One that exists must be ours, and closed to others'
    /// writing; `shut` also takes others' reading away.
    ///
    /// - Throws: ``AgentStartFailure/folder(path:reason:)``.
    package static func make(_ path: String, shut: Bool) throws(AgentStartFailure) {
        do {
            try FileManager.default.createDirectory(
                atPath: path, withIntermediateDirectories: true, attributes: [.posixPermissions: 0o700])
        } catch {
            throw .folder(path: path, reason: "it cannot be made")
        }
        var status = stat()
        guard stat(path, &status) == 0 else {
            throw .folder(path: path, reason: String(cString: strerror(errno)))
        }
        guard status.st_uid == getuid() else { throw .folder(path: path, reason: "it belongs to another user") }
        guard status.st_mode & 0o022 == 0 else { throw .folder(path: path, reason: "others can write to it") }
        if shut, status.st_mode & 0o077 != 0, chmod(path, 0o700) != 0 {
            throw .folder(path: path, reason: "others can read it")
        }
        guard access(path, R_OK | W_OK | X_OK) == 0 else { throw .folder(path: path, reason: "it is not writable") }
    }
}

/// The lock that keeps a second agent out of a data folder; the kernel gives it up when the process ends.
struct DataLock: ~Copyable {
    private let file: Int32

    /// - Throws: ``AgentStartFailure/dataInUse(path:process:)`` when another process holds it.
    init(path: String, folder: String) throws(AgentStartFailure) {
        // A member only at the end: what is thrown once every member is set runs `deinit`, which would close it again.
        let file = open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0o600)
        guard file >= 0 else { throw .folder(path: folder, reason: String(cString: strerror(errno))) }
        guard aldaba_lock_file(file) == 0 else {
            let holder = FileManager.default.contents(atPath: path).map {
                String(decoding: $0.prefix(20), as: UTF8.self)
            }
            close(file)
            throw .dataInUse(path: folder, process: holder?.filter(\.isNumber) ?? "")
        }
        ftruncate(file, 0)
        let text = Array("\(getpid())\n".utf8)
        _ = write(file, text, text.count)
        self.file = file
    }

    deinit {
        // Unlocked by name: closing alone leaves it to a child that was forked just now and has not closed its copy.
        flock(file, LOCK_UN)
        close(file)
    }
}
