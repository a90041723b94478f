import Glibc

/// An address that this machine has in a network, of version 4.
struct LocalAddress: Hashable {
    /// The interface's number.
    var interface: Int32
    /// The address in digits.
    var text: String

    /// The addresses of private networks that this machine is in now.
    static func all() -> [LocalAddress] {
        var first: UnsafeMutablePointer<ifaddrs>?
        guard getifaddrs(&first) == 0 else { return [] }
        defer { freeifaddrs(first) }
        var found: [LocalAddress] = []
        var next = first
        while let entry = next {
            next = entry.pointee.ifa_next
            guard let address = entry.pointee.ifa_addr, address.pointee.sa_family == sa_family_t(AF_INET),
                entry.pointee.ifa_flags & UInt32(IFF_UP) != 0,
                entry.pointee.ifa_flags & UInt32(IFF_LOOPBACK) == 0
            else { continue }
            let number = address.withMemoryRebound(to: sockaddr_in.self, capacity: 1) {
                UInt32(bigEndian: $0.pointee.sin_addr.s_addr)
            }
            let interface = Int32(clamping: if_nametoindex(entry.pointee.ifa_name))
            guard isPrivate(number), interface > 0, found.count < 32 else { continue }
            found.append(LocalAddress(interface: interface, text: text(number)))
        }
        return found
    }

    /// Whether an address of version 4, in digits, is of a private network (RFC 1918) or of one link (RFC 3927).
    static func isPrivate(_ text: String) -> Bool {
        let parts = text.split(separator: ".", omittingEmptySubsequences: false).map { UInt8($0) }
        guard parts.count == 4 else { return false }
        var number: UInt32 = 0
        for part in parts {
            guard let part else { return false }
            number = number << 8 | UInt32(part)
        }
        return isPrivate(number)
    }

    private static func isPrivate(_ number: UInt32) -> Bool {
        number >> 24 == 10 || number >> 20 == 0xac1 || number >> 16 == 0xc0a8 || number >> 16 == 0xa9fe
    }

    private static func text(_ number: UInt32) -> String {
        stride(from: 24, through: 0, by: -8).map { String(UInt8(truncatingIfNeeded: number >> UInt32($0))) }
            .joined(separator: ".")
    }
}
