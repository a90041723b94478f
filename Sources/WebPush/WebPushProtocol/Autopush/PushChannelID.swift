import PushCore

/// The id of a subscription, which the client draws: a UUID in lower case with hyphens.
package struct PushChannelID: Hashable, Sendable, CustomStringConvertible {
    /// The 16 bytes.
    package let bytes: [UInt8]

    /// Takes 16 bytes; `nil` for any other number of them.
    package init?(bytes: some Collection<UInt8>) {
        guard bytes.count == 16 else { return nil }
        self.bytes = Array(bytes)
    }

    /// A random UUID (RFC 9562, version 4).
    package static func random(_ random: () -> UInt64) -> PushChannelID {
        var bytes = [random(), random()].flatMap { word in (0..<8).map { UInt8(truncatingIfNeeded: word >> ($0 * 8)) } }
        bytes[6] = bytes[6] & 0x0F | 0x40
        bytes[8] = bytes[8] & 0x3F | 0x80
        return PushChannelID(sixteen: bytes)
    }

    private init(sixteen bytes: [UInt8]) { self.bytes = bytes }

    private static let hyphens: Set<Int> = [8, 13, 18, 23]

    /// Reads 36 characters: 32 hexadecimal digits in lower case with hyphens after the 8th, 12th, 16th and 20th; `nil` for
    /// anything else.
    package init?(text: String) {
        let characters = Array(text.utf8)
        guard characters.count == 36 else { return nil }
        var digits: [UInt8] = []
        for (index, character) in characters.enumerated() {
            if Self.hyphens.contains(index) {
                guard character == UInt8(ascii: "-") else { return nil }
            } else {
                guard !(65...90).contains(character), let digit = Hexadecimal.value(character) else { return nil }
                digits.append(digit)
            }
        }
        bytes = stride(from: 0, to: 32, by: 2).map { digits[$0] << 4 | digits[$0 + 1] }
    }

    /// The text that ``init(text:)`` reads.
    package var description: String {
        let digits = Array(Hexadecimal.text(bytes))
        return [digits[0..<8], digits[8..<12], digits[12..<16], digits[16..<20], digits[20..<32]]
            .map { String($0) }.joined(separator: "-")
    }
}
