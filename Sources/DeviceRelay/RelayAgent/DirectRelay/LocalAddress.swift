import Glibc

/// An IP address without a port; one of version 4 that is written as one of version 6 is the former.
struct NetworkAddress: Hashable {
    /// 4 or 16 bytes.
    let bytes: [UInt8]

    /// Reads digits; `nil` where they are no address. The name of an interface behind a `%` is passed by.
    init?(_ text: String) {
        let digits = text.prefix { $0 != "%" }
        var four = in_addr()
        var six = in6_addr()
        if inet_pton(AF_INET, String(digits), &four) == 1 {
            bytes = withUnsafeBytes(of: &four) { Array($0) }
        } else if inet_pton(AF_INET6, String(digits), &six) == 1 {
            bytes = Self.plain(withUnsafeBytes(of: &six) { Array($0) })
        } else {
            return nil
        }
    }

    private static func plain(_ bytes: [UInt8]) -> [UInt8] {
        let mapped: [UInt8] = [0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 255, 255]
        return bytes.starts(with: mapped) ? Array(bytes.suffix(4)) : bytes
    }

    /// Reads a socket address of the system; `nil` where it is no IP address.
    init?(_ address: UnsafePointer<sockaddr>) {
        switch Int32(address.pointee.sa_family) {
        case AF_INET:
            bytes = address.withMemoryRebound(to: sockaddr_in.self, capacity: 1) {
                withUnsafeBytes(of: $0.pointee.sin_addr) { Array($0) }
            }
        case AF_INET6:
            bytes = Self.plain(
                address.withMemoryRebound(to: sockaddr_in6.self, capacity: 1) {
                    withUnsafeBytes(of: $0.pointee.sin6_addr) { Array($0) }
                })
        default: return nil
        }
    }

    /// Whether it is of version 6.
    var isVersion6: Bool { bytes.count == 16 }

    /// Whether it counts on one link alone, so that it has no meaning without an interface.
    var isLinkLocal: Bool { isVersion6 && bytes[0] == 0xfe && bytes[1] & 0xc0 == 0x80 }

    /// Whether it is of a private network (RFC 1918, RFC 4193) or of one link (RFC 3927, RFC 4291).
    var isPrivate: Bool {
        if isVersion6 { return isLinkLocal || bytes[0] & 0xfe == 0xfc }
        return switch (bytes[0], bytes[1]) {
        case (10, _), (192, 168), (169, 254): true
        case (172, let second): second >> 4 == 1
        default: false
        }
    }

    /// Whether a network may have one machine at it: neither loopback nor many nor none.
    var isUnicast: Bool {
        guard isVersion6 else { return bytes[0] != 127 && (1...223).contains(bytes[0]) }
        return bytes[0] != 0xff && bytes.dropLast().contains { $0 != 0 }
    }

    /// Whether the first bits are the same.
    func hasPrefix(of other: NetworkAddress, bits: Int) -> Bool {
        guard bytes.count == other.bytes.count, (1...bytes.count * 8).contains(bits) else { return false }
        let whole = bits / 8
        let rest = UInt8(truncatingIfNeeded: 0xff00 >> (bits % 8))
        return bytes[..<whole] == other.bytes[..<whole]
            && (rest == 0 || bytes[whole] & rest == other.bytes[whole] & rest)
    }

    /// The digits.
    var text: String {
        var name = [CChar](repeating: 0, count: Int(INET6_ADDRSTRLEN))
        guard inet_ntop(isVersion6 ? AF_INET6 : AF_INET, bytes, &name, socklen_t(name.count)) != nil else { return "" }
        return String(decoding: name.prefix { $0 != 0 }.map { UInt8(bitPattern: $0) }, as: UTF8.self)
    }
}

/// An address that this machine has in a network.
struct LocalAddress: Hashable {
    /// How many are looked at.
    private static let limit = 64

    /// The interface's number.
    var interface: Int32
    /// The address.
    var address: NetworkAddress
    /// How many of its first bits all that is on the same link has.
    var prefix: Int

    /// The addresses that this machine has now: of version 4 those of private networks, of version 6 all.
    static func all() -> [LocalAddress] {
        var first: UnsafeMutablePointer<ifaddrs>?
        guard getifaddrs(&first) == 0 else { return [] }
        defer { freeifaddrs(first) }
        var found: [LocalAddress] = []
        var next = first
        while let entry = next {
            next = entry.pointee.ifa_next
            guard let raw = entry.pointee.ifa_addr, let address = NetworkAddress(raw), address.isUnicast,
                address.isVersion6 || address.isPrivate, entry.pointee.ifa_flags & UInt32(IFF_UP) != 0,
                entry.pointee.ifa_flags & UInt32(IFF_LOOPBACK) == 0
            else { continue }
            let interface = Int32(clamping: if_nametoindex(entry.pointee.ifa_name))
            guard interface > 0, found.count < limit else { continue }
            let mask = entry.pointee.ifa_netmask.flatMap { NetworkAddress($0) }
            let prefix = mask?.bytes.reduce(0) { $0 + $1.nonzeroBitCount } ?? 0
            found.append(LocalAddress(interface: interface, address: address, prefix: prefix))
        }
        return found
    }

    /// Whether an address is of a private network, or on a link of this machine's.
    static func isNear(_ text: String, among own: () -> [LocalAddress] = all) -> Bool {
        guard let address = NetworkAddress(text), address.isUnicast else { return false }
        if address.isPrivate { return true }
        return address.isVersion6 && own().contains { address.hasPrefix(of: $0.address, bits: $0.prefix) }
    }
}
