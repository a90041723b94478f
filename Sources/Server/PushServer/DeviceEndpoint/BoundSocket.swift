import Glibc
import NIOCore

/// A bound TCP socket, by its descriptor; closed at the end of its lifetime.
struct BoundSocket: ~Copyable {
    private let descriptor: Int32

    private init(_ descriptor: Int32) { self.descriptor = descriptor }

    /// Binds an address, even if connections of an earlier process are about to end on it (SO_REUSEADDR).
    ///
    /// - Throws: `IOError`, with the call that failed.
    static func bound(to address: SocketAddress) throws -> BoundSocket {
        let kind = Int32(SOCK_STREAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue) | Int32(SOCK_NONBLOCK.rawValue)
        let new = BoundSocket(try checked("socket", socket(Int32(address.protocol.rawValue), kind, 0)))
        let descriptor = new.descriptor
        var yes: Int32 = 1
        _ = try checked(
            "setsockopt",
            setsockopt(descriptor, SOL_SOCKET, SO_REUSEADDR, &yes, socklen_t(MemoryLayout<Int32>.size)))
        _ = try address.withSockAddr { try checked("bind", bind(descriptor, $0, socklen_t($1))) }
        return new
    }

    deinit { close(descriptor) }

    /// Begins to listen, or changes the backlog.
    ///
    /// - Parameter backlog: The maximum number of connections that wait to be accepted.
    /// - Throws: `IOError`.
    func listen(backlog: Int32) throws { _ = try Self.checked("listen", Glibc.listen(descriptor, backlog)) }

    /// Duplicates the descriptor; the caller closes the duplicate.
    ///
    /// - Throws: `IOError`.
    func duplicate() throws -> Int32 { try Self.checked("dup", fcntl(descriptor, F_DUPFD_CLOEXEC, 0)) }

    private static func checked(_ call: String, _ result: Int32) throws -> Int32 {
        guard result >= 0 else { throw IOError(errnoCode: errno, reason: call) }
        return result
    }
}
