import CLinux
import DeviceModel
import Foundation
import Machine

/// A Unix socket that only this user may reach.
struct PositionListener {
    /// The length that `sun_path` leaves for a path.
    private static let longestPath = 107

    /// Why nobody can listen there, in words.
    struct Fault: Error, CustomStringConvertible {
        var description: String
        /// Whether another try may find it otherwise.
        var mayPass = true
    }

    /// What became of a try to take a connection.
    enum Accepted: Equatable {
        case connection(Int32)
        /// Nobody waits.
        case nobody
        /// Somebody waits and cannot be taken, for this `errno`: the socket stays readable.
        case failed(Int32)
    }

    /// Readable when somebody connects.
    let socket: Int32
    private let path: String
    /// The file as it was made, which tells it from one that took its place.
    private let file: ino_t

    /// Listens. A socket that nobody listens on any more is replaced.
    init(path: String) throws(Fault) {
        guard path.utf8.count <= Self.longestPath else {
            throw Fault(
                description: "the path of the socket \(path) is longer than \(Self.longestPath) bytes", mayPass: false)
        }
        let folder = URL(fileURLWithPath: path).deletingLastPathComponent().path
        do {
            try PrivateFolder.prepare(folder, shut: false)
        } catch {
            throw Fault(description: "the socket \(path) cannot be made: \(error)")
        }
        try Self.makeRoom(path)
        let opened = Self.open()
        guard opened >= 0 else { throw Self.fault(path) }
        // Before it has a name, so that it is never open to others (unix(7): the mode of the socket is the file's).
        fchmod(opened, 0o600)
        guard Self.withAddress(path, { bind(opened, $0, $1) }) == 0, listen(opened, 16) == 0 else {
            let fault = Self.fault(path)
            Glibc.close(opened)
            throw fault
        }
        var status = stat()
        file = lstat(path, &status) == 0 ? status.st_ino : 0
        (socket, self.path) = (opened, path)
    }

    /// Takes the next connection.
    func accept() -> Accepted {
        while true {
            let accepted = aldaba_accept(socket)
            if accepted >= 0 { return .connection(accepted) }
            switch errno {
            case EAGAIN: return .nobody
            // Who is gone already, and a signal, are no reason not to take the next (accept(2)).
            case EINTR, ECONNABORTED, EPROTO: continue
            default: return .failed(errno)
            }
        }
    }

    /// Listens no more, and takes the file away.
    func close() {
        Glibc.close(socket)
        var status = stat()
        if lstat(path, &status) == 0, status.st_ino == file { unlink(path) }
    }

    private static func makeRoom(_ path: String) throws(Fault) {
        var status = stat()
        guard lstat(path, &status) == 0 else { return }
        guard status.st_mode & S_IFMT == S_IFSOCK, status.st_uid == getuid() else {
            throw Fault(description: "\(path) is there already, and is no socket of this user")
        }
        let attempt = open()
        guard attempt >= 0 else { throw fault(path) }
        defer { Glibc.close(attempt) }
        guard withAddress(path, { connect(attempt, $0, $1) }) != 0 else {
            throw Fault(description: "another program listens on the socket \(path)")
        }
        unlink(path)
    }

    private static func open() -> Int32 {
        Glibc.socket(AF_UNIX, Int32(SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue | SOCK_NONBLOCK.rawValue), 0)
    }

    private static func fault(_ path: String) -> Fault {
        Fault(description: "the socket \(path) cannot be made: \(String(cString: strerror(errno)))")
    }

    private static func withAddress(_ path: String, _ body: (UnsafePointer<sockaddr>, socklen_t) -> Int32) -> Int32 {
        var address = sockaddr_un()
        address.sun_family = sa_family_t(AF_UNIX)
        withUnsafeMutableBytes(of: &address.sun_path) { $0.copyBytes(from: path.utf8.prefix(longestPath)) }
        return withUnsafeBytes(of: &address) { bytes in
            bytes.withMemoryRebound(to: sockaddr.self) { buffer in
                // The address of a value that has bytes is never missing.
                buffer.baseAddress.map { body($0, socklen_t(MemoryLayout<sockaddr_un>.size)) } ?? -1
            }
        }
    }
}
