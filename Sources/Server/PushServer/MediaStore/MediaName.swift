import AgentProtocol

/// The name of a stored file: 160 random bits as 40 lower-case hexadecimal digits. Knowing the name gives access to the
/// file.
package struct MediaName: Hashable, Comparable, Sendable, CustomStringConvertible {
    private static let byteCount = 20

    /// The digits.
    package let description: String

    /// Creates a new name from a source of random numbers, which must be cryptographically secure.
    package init(using generator: inout some RandomNumberGenerator) {
        description = Self.hexadecimal((0..<Self.byteCount).map { _ in UInt8.random(in: 0...255, using: &generator) })
    }

    /// Parses a name; `nil` for any other text.
    package init?(_ text: some StringProtocol) {
        guard text.utf8.count == 2 * Self.byteCount, text.utf8.allSatisfy(Self.isDigit) else { return nil }
        description = String(text)
    }

    /// Parses the last component of a URL, `NAME.ENDING`; `nil` for any other text.
    static func read(inAddress text: String) -> (name: MediaName, format: MediaFormat)? {
        let parts = text.split(separator: ".", omittingEmptySubsequences: false)
        guard parts.count == 2, let name = MediaName(parts[0]), let format = MediaFormat(rawValue: String(parts[1]))
        else { return nil }
        return (name, format)
    }

    package static func < (left: MediaName, right: MediaName) -> Bool { left.description < right.description }

    static func hexadecimal(_ bytes: some Sequence<UInt8>) -> String {
        let digits = Array("0123456789abcdef".utf8)
        return String(decoding: bytes.flatMap { [digits[Int($0 >> 4)], digits[Int($0 & 15)]] }, as: UTF8.self)
    }

    private static func isDigit(_ byte: UInt8) -> Bool {
        (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(byte) || (UInt8(ascii: "a")...UInt8(ascii: "f")).contains(byte)
    }
}
