import Glibc

/// The address of a Unix socket (unix(7)).
package struct UnixAddress {
    /// The maximum length of a path in an address, in bytes.
    package static let longestPath = MemoryLayout.size(ofValue: sockaddr_un().sun_path) - 1

    private var address = sockaddr_un()
    private let length: socklen_t

    /// Creates the address of a file.
    ///
    /// - Returns: `nil` for a path that is empty, has a NUL, or is longer than ``longestPath``.
    package init?(path: String) {
        guard !path.utf8.contains(0) else { return nil }
        self.init(Array(path.utf8))
    }

    /// Creates an abstract address, which belongs to no file and disappears with its listener.
    ///
    /// - Returns: `nil` for a name that is as long as ``longestPath`` or longer.
    package init?(abstractName name: String) { self.init([0] + Array(name.utf8)) }

    private init?(_ bytes: [UInt8]) {
        guard !bytes.isEmpty, bytes.count <= Self.longestPath else { return nil }
        length = socklen_t(MemoryLayout<sa_family_t>.size + bytes.count)
        address.sun_family = sa_family_t(AF_UNIX)
        withUnsafeMutableBytes(of: &address.sun_path) { $0.copyBytes(from: bytes) }
    }

    /// Calls a system function with the address, such as `connect`.
    package func withPointer<Result>(_ body: (UnsafePointer<sockaddr>, socklen_t) -> Result) -> Result {
        withUnsafePointer(to: address) {
            $0.withMemoryRebound(to: sockaddr.self, capacity: 1) { body($0, length) }
        }
    }
}
