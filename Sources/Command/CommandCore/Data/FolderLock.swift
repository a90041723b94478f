import Glibc

/// A lock that at most one process holds, and that ends with its holder however that ends (flock(2)).
public final class FolderLock: Sendable {
    /// Why a lock was not taken.
    public enum Refusal: Error, CustomStringConvertible {
        /// Another process holds it; its id, when the file tells.
        case inUse(path: String, process: Int32?)
        case unusable(PrivateFile.Failure)

        /// What is wrong and what to do.
        public var description: String {
            switch self {
            case .inUse(let path, let process):
                "the data folder is in use by \(process.map { "pid \($0)" } ?? "another process") (\(path)); "
                    + "stop that one, or choose another folder with --data"
            case .unusable(let failure): "\(failure); choose another folder with --data, or change its owner"
            }
        }
    }

    private let descriptor: Int32

    /// Takes the lock at once or not at all, and writes this process's id into the file.
    public init(path: String) throws(Refusal) {
        let descriptor = open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0o600)
        guard descriptor >= 0 else {
            throw .unusable(PrivateFile.Failure(action: "open", path: path, code: errno))
        }
        guard flock(descriptor, LOCK_EX | LOCK_NB) == 0 else {
            let code = errno
            let holder = Self.holder(descriptor)
            close(descriptor)
            guard code == EWOULDBLOCK else {
                throw .unusable(PrivateFile.Failure(action: "lock", path: path, code: code))
            }
            throw .inUse(path: path, process: holder)
        }
        let text = Array("\(getpid())\n".utf8)
        ftruncate(descriptor, 0)
        _ = text.withUnsafeBytes { pwrite(descriptor, $0.baseAddress, $0.count, 0) }
        self.descriptor = descriptor
    }

    deinit {
        // Unlocked by name: closing alone leaves it to a child that was forked just now and has not closed its copy.
        flock(descriptor, LOCK_UN)
        close(descriptor)
    }

    /// Looks whether anybody holds the lock; the file is not written, nor made.
    ///
    /// - Returns: The refusal that taking it would meet; `nil` when it is free or there is no such file.
    public static func refusal(path: String) -> Refusal? {
        let descriptor = open(path, O_RDONLY | O_CLOEXEC)
        guard descriptor >= 0 else {
            return errno == ENOENT ? nil : .unusable(PrivateFile.Failure(action: "open", path: path, code: errno))
        }
        defer { close(descriptor) }
        // A shared lock for the moment of the look is the only question that the kernel answers.
        guard flock(descriptor, LOCK_SH | LOCK_NB) != 0 else { return nil }
        return .inUse(path: path, process: holder(descriptor))
    }

    private static func holder(_ descriptor: Int32) -> Int32? {
        var bytes = [UInt8](repeating: 0, count: 32)
        let count = bytes.withUnsafeMutableBytes { pread(descriptor, $0.baseAddress, $0.count, 0) }
        guard count > 0 else { return nil }
        return Int32(String(decoding: bytes[..<count].prefix { $0 != 10 }, as: UTF8.self))
    }
}
