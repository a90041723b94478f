import Foundation
import Glibc

/// Files and folders that only their owner may read.
public enum PrivateFile {
    /// A system call that failed: what was tried on which path, and the system's own words.
    public struct Failure: Error, CustomStringConvertible {
        public var action: String
        public var path: String
        public var code: Int32

        /// `cannot ACTION PATH: REASON`.
        public var description: String { "cannot \(action) \(path): \(String(cString: strerror(code)))" }
    }

    /// Writes a file whole or not at all: into a new file beside it, synced, then renamed over it.
    ///
    /// - Parameter mode: The file's permissions, set before the first byte is written.
    /// - Throws: ``Failure``; the old file, if there was one, is untouched.
    public static func write(_ bytes: some Sequence<UInt8>, to path: String, mode: mode_t = 0o600) throws(Failure) {
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

    /// Makes a folder of 0700 where there is none; one that exists and is ours is narrowed to 0700.
    public static func makeFolder(_ path: String) throws(Failure) {
        var made = ""
        for part in path.split(separator: "/") {
            made += (made.isEmpty && !path.hasPrefix("/") ? "" : "/") + part
            guard mkdir(made, 0o700) != 0, errno != EEXIST else { continue }
            let code = errno
            // A folder above that exists may still forbid a look (EROFS, EACCES); what counts is that it is there.
            if access(made, F_OK) != 0 { throw Failure(action: "make the folder", path: made, code: code) }
        }
        var status = stat()
        guard stat(path, &status) == 0 else { throw Failure(action: "look at", path: path, code: errno) }
        guard status.st_mode & S_IFMT == S_IFDIR else {
            throw Failure(action: "use as a folder", path: path, code: ENOTDIR)
        }
        if status.st_uid == geteuid(), status.st_mode & 0o077 != 0, chmod(path, 0o700) != 0 {
            throw Failure(action: "protect", path: path, code: errno)
        }
        guard access(path, R_OK | W_OK | X_OK) == 0 else {
            throw Failure(action: "write into", path: path, code: errno)
        }
    }

    /// The text of a file of at most `limit` bytes; `nil` when there is none.
    public static func text(_ path: String, limit: Int = 1 << 20) throws(Failure) -> String? {
        guard let handle = FileHandle(forReadingAtPath: path) else {
            if access(path, F_OK) != 0, errno == ENOENT { return nil }
            throw Failure(action: "read", path: path, code: EACCES)
        }
        defer { try? handle.close() }
        guard let data = try? handle.read(upToCount: limit + 1) else {
            throw Failure(action: "read", path: path, code: EIO)
        }
        guard data.count <= limit else { throw Failure(action: "read", path: path, code: EFBIG) }
        return String(decoding: data, as: UTF8.self)
    }
}
