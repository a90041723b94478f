import Glibc

/// A lock that at most one process holds, and that is released at the end of its holder, however it ends (flock(2)).
package final class FolderLock: Sendable {
    /// The reason why a lock was not taken.
    package enum Refusal: Error, Hashable {
        /// Another process holds it; its id, if the file contains it.
        case inUse(process: Int32?)
        /// The file cannot be used: the attempted action, and the system's error message.
        case unusable(action: String, reason: String)

        /// Creates a refusal with the system's message for an error number.
        fileprivate static func unusable(action: String, code: Int32) -> Refusal {
            .unusable(
                action: action,
                reason: code == ELOOP
                    ? "it is a symbolic link, which might lead to a file of somebody else's; remove it"
                    : String(cString: strerror(code)))
        }
    }

    private let descriptor: Int32

    /// Takes the lock at once or not at all, and writes this process's id into the file, which is 0600. A symbolic link is
    /// not followed.
    package init(path: String) throws(Refusal) {
        // A member only at the end: what is thrown once every member is set runs `deinit`, which would close it again.
        let descriptor = open(path, O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0o600)
        guard descriptor >= 0 else { throw .unusable(action: "open", code: errno) }
        guard flock(descriptor, LOCK_EX | LOCK_NB) == 0 else {
            let code = errno
            let holder = Self.holder(descriptor)
            close(descriptor)
            throw code == EWOULDBLOCK ? .inUse(process: holder) : .unusable(action: "lock", code: code)
        }
        let text = Array("\(getpid())\n".utf8)
        ftruncate(descriptor, 0)
        _ = text.withUnsafeBytes { pwrite(descriptor, $0.baseAddress, $0.count, 0) }
        self.descriptor = descriptor
    }

    deinit {
        // Unlocked explicitly: a child that was forked just now may still have a copy of the descriptor, and closing
        // ours would leave the lock to it.
        flock(descriptor, LOCK_UN)
        close(descriptor)
    }

    /// Checks whether a process holds the lock; the file is neither written nor created.
    ///
    /// - Returns: The refusal that taking it would cause; `nil` when it is free or there is no such file.
    package static func refusal(path: String) -> Refusal? {
        let descriptor = open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW)
        guard descriptor >= 0 else { return errno == ENOENT ? nil : .unusable(action: "open", code: errno) }
        defer { close(descriptor) }
        // The kernel has no query for this: a shared lock is taken for the moment of the check.
        guard flock(descriptor, LOCK_SH | LOCK_NB) != 0 else { return nil }
        return .inUse(process: holder(descriptor))
    }

    private static func holder(_ descriptor: Int32) -> Int32? {
        var bytes = [UInt8](repeating: 0, count: 32)
        let count = bytes.withUnsafeMutableBytes { pread(descriptor, $0.baseAddress, $0.count, 0) }
        guard count > 0 else { return nil }
        return Int32(String(decoding: bytes[..<count].prefix { $0 != 10 }, as: UTF8.self))
    }
}
