import NIOCore

/// The address by which connections are counted: one IPv4 address, or the /64 network of an IPv6 address, which is the
/// usual assignment to one customer (RFC 6177). An IPv4 address that is mapped into IPv6 is that IPv4 address.
package enum ClientAddress: Hashable, Sendable {
    /// An IPv4 address as a number, its first byte the highest.
    case ipv4(UInt32)
    /// The first 64 bits of an IPv6 address as a number.
    case ipv6Network(UInt64)

    /// The address of a peer; `nil` for a Unix socket.
    package init?(_ address: SocketAddress?) {
        guard let address, let bytes = AddressRange.bytes(of: address) else { return nil }
        self.init(bytes)
    }

    init(_ bytes: [UInt8]) {
        if bytes.count == 4 {
            self = .ipv4(bytes.reduce(0) { $0 << 8 | UInt32($1) })
        } else {
            self = .ipv6Network(bytes.prefix(8).reduce(0) { $0 << 8 | UInt64($1) })
        }
    }
}

/// A range of addresses in CIDR notation (RFC 4632): `10.0.0.0/8`, `2001:db8::/32`, or one address.
package struct AddressRange: Hashable, Sendable {
    private let prefix: [UInt8]
    private let length: Int

    /// Parses a range; `nil` for any other text.
    package init?(_ text: String) {
        let parts = text.split(separator: "/", maxSplits: 1, omittingEmptySubsequences: false)
        guard let address = try? SocketAddress(ipAddress: String(parts[0]), port: 0),
            let bytes = Self.bytes(of: address)
        else { return nil }
        prefix = bytes
        guard parts.count == 2 else {
            length = bytes.count * 8
            return
        }
        guard let length = Int(parts[1]), (0...bytes.count * 8).contains(length) else { return nil }
        self.length = length
    }

    /// Whether the range contains an address.
    package func contains(_ address: SocketAddress) -> Bool {
        guard let bytes = Self.bytes(of: address), bytes.count == prefix.count else { return false }
        for index in 0..<bytes.count {
            let bits = min(8, max(0, length - index * 8))
            guard bits > 0 else { return true }
            let mask = UInt8(truncatingIfNeeded: 0xFF00 >> bits)
            if bytes[index] & mask != prefix[index] & mask { return false }
        }
        return true
    }

    /// The address's bytes in network order; four for an IPv4 address that is mapped into IPv6
    /// (RFC 4291, section 2.5.5.2).
    static func bytes(of address: SocketAddress) -> [UInt8]? {
        switch address {
        case .v4(let address):
            var raw = address.address.sin_addr
            return withUnsafeBytes(of: &raw) { Array($0) }
        case .v6(let address):
            var raw = address.address.sin6_addr
            let bytes = withUnsafeBytes(of: &raw) { Array($0) }
            let isMapped = bytes[..<10].allSatisfy { $0 == 0 } && bytes[10] == 0xFF && bytes[11] == 0xFF
            return isMapped ? Array(bytes[12...]) : bytes
        case .unixDomainSocket: return nil
        }
    }
}
