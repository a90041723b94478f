import Foundation
import Glibc

/// The folders of zone files, and the files' bytes.
struct ZoneFiles: Sendable {
    /// The identity of a file and of its version.
    struct Stamp: Hashable, Sendable {
        var device: UInt64
        var inode: UInt64
        var size: Int64
        var seconds: Int
        var nanoseconds: Int

        /// `nil` for what is no regular file.
        init?(_ status: stat) {
            guard status.st_mode & S_IFMT == S_IFREG else { return nil }
            self.init(any: status)
        }

        /// Creates the stamp of a file's status.
        init(any status: stat) {
            device = UInt64(status.st_dev)
            inode = UInt64(status.st_ino)
            size = Int64(status.st_size)
            seconds = status.st_mtim.tv_sec
            nanoseconds = status.st_mtim.tv_nsec
        }
    }

    let folder: String
    let localtime: String

    /// Whether a text may be the name of a zone: letters, digits and `_+-` between slashes.
    static func isName(_ name: String) -> Bool {
        guard (1...128).contains(name.utf8.count) else { return false }
        return name.utf8.split(separator: UInt8(ascii: "/"), omittingEmptySubsequences: false).allSatisfy { part in
            !part.isEmpty
                && part.allSatisfy { byte in
                    (48...57).contains(byte) || (65...90).contains(byte & 0xDF) || byte == 95 || byte == 43
                        || byte == 45
                }
        }
    }

    /// The path of a zone's file; `nil` for what is no name.
    func path(named name: String) -> String? { Self.isName(name) ? "\(folder)/\(name)" : nil }

    /// The name of a zone's file.
    func name(ofPath path: String) -> String? {
        for mark in [folder + "/", "/zoneinfo/"] {
            guard let place = path.range(of: mark) else { continue }
            let name = String(path[place.upperBound...])
            if Self.isName(name) { return name }
        }
        return nil
    }

    /// The name to which `/etc/localtime` is linked, directly or over other links.
    func localtimeName() -> String? {
        let manager = FileManager.default
        if let target = try? manager.destinationOfSymbolicLink(atPath: localtime), let name = name(ofPath: target) {
            return name
        }
        guard let path = realpath(localtime, nil) else { return nil }
        defer { free(path) }
        return name(ofPath: String(cString: path))
    }

    /// `nil` for what is not there, or no regular file.
    static func stamp(of path: String) -> Stamp? {
        var status = stat()
        return stat(path, &status) == 0 ? Stamp(status) : nil
    }

    /// The stamp of a link itself, or of the file that is there; `nil` for what is not there.
    static func linkStamp(of path: String) -> Stamp? {
        var status = stat()
        return lstat(path, &status) == 0 ? Stamp(any: status) : nil
    }

    /// A regular file's bytes; `nil` for others, for larger ones than a zone has, and when it cannot be read.
    static func bytes(of path: String) -> [UInt8]? {
        let file = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK)
        guard file >= 0 else { return nil }
        defer { close(file) }
        var status = stat()
        guard fstat(file, &status) == 0, let stamp = Stamp(status), stamp.size <= Int64(ZoneRules.largestFile) else {
            return nil
        }
        var bytes = [UInt8](repeating: 0, count: ZoneRules.largestFile + 1)
        var count = 0
        while count < bytes.count {
            let more = bytes[count...].withUnsafeMutableBytes { read(file, $0.baseAddress, $0.count) }
            if more < 0, errno == EINTR { continue }
            guard more >= 0 else { return nil }
            if more == 0 { break }
            count += more
        }
        return Array(bytes[..<count])
    }
}
