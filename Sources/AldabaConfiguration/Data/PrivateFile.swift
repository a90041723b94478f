import Foundation
import Glibc
import PushCore

/// Files and folders that only their owner may read.
package enum PrivateFile {
    /// A failure of a file operation: the operation, the path, and the reason.
    package struct Failure: Error, CustomStringConvertible {
        /// The operation, as a verb: `read`, `write`.
        package var action: String
        /// The file or folder that it was tried on.
        package var path: String
        /// Why it could not be done, in words.
        package var reason: String

        /// A refusal of our own, in words.
        package init(action: String, path: String, reason: String) {
            self.action = action
            self.path = path
            self.reason = reason
        }

        /// Makes the failure of a system call, with the system's own message.
        package init(action: String, path: String, code: Int32) {
            self.init(action: action, path: path, reason: String(cString: strerror(code)))
        }

        /// `cannot ACTION PATH: REASON`.
        package var description: String { "cannot \(action) \(path): \(reason)" }
    }

    /// Writes a file whole or not at all: into a new file beside it, synced, then renamed over it.
    ///
    /// - Parameter mode: The file's permissions, set before the first byte is written.
    /// - Throws: ``Failure``; the old file, if there was one, is untouched.
    package static func write(_ bytes: some Sequence<UInt8>, to path: String, mode: mode_t = 0o600) throws(Failure) {
        let temporary = "\(path).new-\(getpid())"
        unlink(temporary)
        let descriptor = open(temporary, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, mode)
        guard descriptor >= 0 else { throw Failure(action: "write", path: path, code: errno) }
        var failed: Int32 = 0
        let all = Array(bytes)
        var written = 0
        while written < all.count, failed == 0 {
            let count = all[written...].withUnsafeBytes { Glibc.write(descriptor, $0.baseAddress, $0.count) }
            if count >= 0 { written += count } else if errno != EINTR { failed = errno }
        }
        if failed == 0, fchmod(descriptor, mode) != 0 || fsync(descriptor) != 0 { failed = errno }
        close(descriptor)
        if failed == 0, rename(temporary, path) != 0 { failed = errno }
        guard failed == 0 else {
            unlink(temporary)
            throw Failure(action: "write", path: path, code: failed)
        }
    }

    /// Makes a folder of 0700 where there is none. One that others can read is narrowed to 0700 if it is empty or holds files
    /// of ours, and refused otherwise: somebody else may use it. One that others can write is refused.
    ///
    /// - Parameter marks: Names of files that this user has in no folder but ours.
    package static func makeFolder(_ path: String, marks: [String] = []) throws(Failure) {
        var made = ""
        for part in path.split(separator: "/") {
            made += (made.isEmpty && !path.hasPrefix("/") ? "" : "/") + part
            guard mkdir(made, 0o700) != 0, errno != EEXIST else { continue }
            let code = errno
            // For a folder above that exists, mkdir may fail with another error than EEXIST (EROFS,
            // EACCES).
            if access(made, F_OK) != 0 { throw Failure(action: "make the folder", path: made, code: code) }
        }
        var status = stat()
        guard stat(path, &status) == 0 else { throw Failure(action: "look at", path: path, code: errno) }
        guard status.st_mode & S_IFMT == S_IFDIR else {
            throw Failure(action: "use as a folder", path: path, code: ENOTDIR)
        }
        if let fault = fault(ofOwner: status.st_uid, user: geteuid()) {
            throw Failure(action: "use the folder", path: path, reason: fault)
        }
        if let fault = fault(ofMode: status.st_mode, path) {
            throw Failure(action: "use the folder", path: path, reason: fault)
        }
        if status.st_mode & 0o077 != 0 {
            guard isForUs(path, status, marks: marks) else {
                throw Failure(
                    action: "use the folder", path: path,
                    reason: "it is open to others and holds files that are not ours; take a folder of its own")
            }
            if status.st_uid == geteuid(), chmod(path, 0o700) != 0 {
                throw Failure(action: "protect", path: path, code: errno)
            }
        }
        guard access(path, R_OK | W_OK | X_OK) == 0 else {
            throw Failure(action: "write into", path: path, code: errno)
        }
    }

    /// Whether a folder that is open to others is ours to narrow: it is empty, or holds a file of ours. A shared
    /// folder, as its sticky bit shows, never is.
    private static func isForUs(_ path: String, _ folder: stat, marks: [String]) -> Bool {
        guard folder.st_mode & S_ISVTX == 0 else { return false }
        let isMarked = marks.contains { mark in
            var status = stat()
            return lstat("\(path)/\(mark)", &status) == 0 && status.st_uid == geteuid()
        }
        return isMarked || (try? FileManager.default.contentsOfDirectory(atPath: path))?.isEmpty == true
    }

    /// The text of a file of at most `limit` bytes; ill-formed UTF-8 is repaired. `nil` when there is no file.
    package static func text(_ path: String, limit: Int = 1 << 20) throws(Failure) -> String? {
        try bytes(path, limit: limit).map { String(decoding: $0, as: UTF8.self) }
    }

    /// The text of a file that holds a secret, as ``text(_:limit:)``.
    ///
    /// - Throws: Also when the file belongs to another user, who can read and change it.
    package static func secret(_ path: String, limit: Int = 1 << 20) throws(Failure) -> Secret<String>? {
        try read(path, limit: limit, isSecret: true).map { Secret(String(decoding: $0, as: UTF8.self)) }
    }

    /// The bytes of a file of at most `limit` bytes; `nil` when there is none.
    package static func bytes(_ path: String, limit: Int = 1 << 20) throws(Failure) -> [UInt8]? {
        try read(path, limit: limit, isSecret: false)
    }

    private static func read(_ path: String, limit: Int, isSecret: Bool) throws(Failure) -> [UInt8]? {
        let descriptor = open(path, O_RDONLY | O_CLOEXEC)
        guard descriptor >= 0 else {
            if errno == ENOENT { return nil }
            throw Failure(action: "read", path: path, code: errno)
        }
        defer { close(descriptor) }
        if isSecret {
            var status = stat()
            guard fstat(descriptor, &status) == 0 else { throw Failure(action: "read", path: path, code: errno) }
            if let fault = fault(ofOwner: status.st_uid, user: geteuid()) {
                throw Failure(action: "use", path: path, reason: fault)
            }
        }
        let handle = FileHandle(fileDescriptor: descriptor, closeOnDealloc: false)
        let data: Data
        // Of a file with nothing in it there is nothing to read.
        do { data = try handle.read(upToCount: limit + 1) ?? Data() } catch {
            throw Failure(action: "read", path: path, code: EIO)
        }
        guard data.count <= limit else { throw Failure(action: "read", path: path, code: EFBIG) }
        return Array(data)
    }

    /// Why a folder of this mode cannot be trusted, in words; `nil` for one that its owner alone can write.
    static func fault(ofMode mode: mode_t, _ path: String) -> String? {
        guard mode & 0o022 != 0 else { return nil }
        return
            "others can write to it, so what is in it may be theirs; look what is in it, then take that away: chmod go-w "
            + path
    }

    /// Why a file of `owner` is not for `user` to use, in words. `nil` for one's own, and for one of root, who can
    /// read and change everything anyway.
    static func fault(ofOwner owner: uid_t, user: uid_t) -> String? {
        guard owner != user, owner != 0 else { return nil }
        return
            "it belongs to \(name(of: owner)), and this is \(name(of: user)); run aldaba as its owner, or take one of "
            + "\(name(of: user))'s own"
    }

    private static func name(of user: uid_t) -> String {
        guard let entry = getpwuid(user), let name = entry.pointee.pw_name else { return "user \(user)" }
        return "user \(String(cString: name))"
    }
}
