import NIOCore

/// The rule for addresses of outbound requests: those of the public internet, and those that a list allows.
///
/// The sender of a notification chooses the address that every device fetches. So it must not reach addresses that only
/// the device can reach: the machine itself, its network, its provider's. The excluded ranges are multicast, and those
/// of IANA's registries of special-purpose addresses (RFC 6890) that are not globally reachable.
package struct AddressRule: Hashable, Sendable {
    /// The ranges that are allowed in addition to public addresses.
    private let allowed: [AddressRange]

    /// Creates the rule, with exceptions.
    ///
    /// - Parameter allowed: Addresses that are always allowed.
    package init(allowing allowed: [AddressRange] = []) { self.allowed = allowed }

    /// The reason why an address is refused, such as `a private address`; `nil` where it is allowed.
    package func refusal(of address: SocketAddress) -> String? {
        if allowed.contains(where: { $0.contains(address) }) { return nil }
        // The network's translator connects to the embedded address, so that one is checked (RFC 6052, section 2.1).
        if let embedded = Self.translated(address) { return refusal(of: embedded).map { "\($0) behind NAT64" } }
        for (range, words) in Self.special where range.contains(address) { return words }
        // Of IPv6 only this range has been allocated; IPv4 addresses that are mapped into IPv6 were checked as such.
        if case .v6 = address, !Self.isMapped(address), !Self.globalUnicast.contains(address) {
            return "an address that is not of the public internet"
        }
        return nil
    }

    private static let special: [(AddressRange, String)] = [
        ("0.0.0.0/8", "an address of this network"),
        ("10.0.0.0/8", "a private address"),
        ("100.64.0.0/10", "an address of a provider's own network"),
        ("127.0.0.0/8", "an address of this machine"),
        ("169.254.0.0/16", "a link-local address"),
        ("172.16.0.0/12", "a private address"),
        ("192.0.0.0/24", "an address for protocols"),
        ("192.0.2.0/24", "an address for documentation"),
        ("192.88.99.0/24", "an address of 6to4 relays"),
        ("192.168.0.0/16", "a private address"),
        ("198.18.0.0/15", "an address for measurements"),
        ("198.51.100.0/24", "an address for documentation"),
        ("203.0.113.0/24", "an address for documentation"),
        ("224.0.0.0/4", "a multicast address"),
        ("240.0.0.0/4", "a reserved address"),
        ("::/128", "no address"),
        ("::1/128", "an address of this machine"),
        ("64:ff9b:1::/48", "an address of a NAT64 of the network's own"),
        ("100::/64", "an address that discards"),
        ("2001::/23", "an address for protocols"),
        ("2001:db8::/32", "an address for documentation"),
        ("2002::/16", "a 6to4 address"),
        ("3fff::/20", "an address for documentation"),
        ("fc00::/7", "a private address"),
        ("fe80::/10", "a link-local address"),
        ("fec0::/10", "a private address"),
        ("ff00::/8", "a multicast address"),
    ].compactMap { text, words in AddressRange(text).map { ($0, words) } }

    /// The allocated range of IPv6 (RFC 4291, section 2.4).
    private static let globalUnicast = ranges("2000::/3")
    private static let nat64 = ranges("64:ff9b::/96")

    /// Parses a range of a constant text. An unreadable one would contain nothing, so that the rule refuses more.
    private static func ranges(_ text: String) -> Ranges { Ranges(range: AddressRange(text)) }

    private struct Ranges {
        let range: AddressRange?

        func contains(_ address: SocketAddress) -> Bool { range?.contains(address) ?? false }
    }

    private static func bytes(_ address: SocketAddress) -> [UInt8] {
        guard case .v6(let address) = address else { return [] }
        var raw = address.address.sin6_addr
        return withUnsafeBytes(of: &raw) { Array($0) }
    }

    private static func isMapped(_ address: SocketAddress) -> Bool {
        let bytes = bytes(address)
        return bytes.count == 16 && bytes[..<10].allSatisfy { $0 == 0 } && bytes[10] == 0xFF && bytes[11] == 0xFF
    }

    /// The IPv4 address embedded in an address of NAT64.
    private static func translated(_ address: SocketAddress) -> SocketAddress? {
        guard nat64.contains(address) else { return nil }
        let last = bytes(address).suffix(4).map(String.init).joined(separator: ".")
        return try? SocketAddress(ipAddress: last, port: address.port ?? 0)
    }
}
