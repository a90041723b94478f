/// The announcement of a device in its local networks. None of it names the user, the account or the machine.
package struct NearbyAnnouncement: Hashable, Sendable {
    /// The service's and the host's name there, drawn at random.
    package var name: String
    /// The TCP port.
    package var port: UInt16
    /// The salt and the tag by which devices of the account recognise it.
    package var salt: [UInt8], tag: [UInt8]
}

/// A device that announced itself.
package struct DiscoveredDevice: Hashable, Sendable {
    /// The identifier of the announcement while it is present: the interface, the IP version, and the service's name.
    package var id: String
    /// The interface's number in whose network it is.
    package var interface: Int32
    /// The device's IP address as text.
    package var address: String
    /// The TCP port.
    package var port: UInt16
    /// The salt and the tag by which devices of the account recognise it.
    package var salt: [UInt8], tag: [UInt8]
}

/// An event of a directory.
package enum NearbyEvent: Hashable, Sendable {
    /// A device has announced itself.
    case appeared(DiscoveredDevice)
    /// A device is no longer announced.
    case vanished(id: String)
    /// Devices cannot be found now, and why; the directory tries again.
    case unavailable(reason: String)
}

/// The text of an announcement, as DNS-SD has it (RFC 6763, 6).
enum NearbyText {
    /// The type of the service.
    static let type = "_aldaba-relay._tcp"

    static func write(salt: [UInt8], tag: [UInt8]) -> [[UInt8]] {
        ["v=1", "s=" + hex(salt), "t=" + hex(tag)].map { Array($0.utf8) }
    }

    /// Salt and tag; `nil` where it is of another version, or none of ours.
    static func read(_ text: [[UInt8]]) -> (salt: [UInt8], tag: [UInt8])? {
        var members: [String: String] = [:]
        for entry in text.prefix(16) where entry.count <= 128 {
            let parts = String(decoding: entry, as: UTF8.self).split(separator: "=", maxSplits: 1)
            if parts.count == 2 { members[String(parts[0])] = String(parts[1]) }
        }
        guard members["v"] == "1", let salt = members["s"].flatMap(bytes), let tag = members["t"].flatMap(bytes) else {
            return nil
        }
        return (salt, tag)
    }

    static func hex(_ bytes: [UInt8]) -> String {
        bytes.map { String($0 >> 4, radix: 16) + String($0 & 15, radix: 16) }.joined()
    }

    private static func bytes(_ text: String) -> [UInt8]? {
        let digits = Array(text.utf8).map { Character(UnicodeScalar($0)).hexDigitValue }
        guard digits.count % 2 == 0 else { return nil }
        var bytes: [UInt8] = []
        for place in stride(from: 0, to: digits.count, by: 2) {
            guard let high = digits[place], let low = digits[place + 1] else { return nil }
            bytes.append(UInt8(high << 4 | low))
        }
        return bytes
    }
}
