import Crypto
import Foundation

/// A user's token and the key that signs the server's challenge, of a credentials file.
struct NATSCredentials {
    let token: String
    private let key: Curve25519.Signing.PrivateKey

    /// Reads the file of a user.
    ///
    /// - Throws: ``NATSAddress/Unusable``.
    init(file path: String) throws {
        let text: String
        do { text = try String(contentsOfFile: path, encoding: .utf8) } catch {
            let reason = (error as NSError).localizedDescription
            throw NATSAddress.Unusable(
                description: "the credentials file of nats, \(path), cannot be read: \(reason)")
        }
        try self.init(text)
    }

    /// Decodes the text of a user's file.
    ///
    /// - Throws: ``NATSAddress/Unusable`` where a part is missing.
    init(_ text: String) throws {
        guard let token = Self.section("NATS USER JWT", of: text), let seed = Self.section("USER NKEY SEED", of: text)
        else {
            throw NATSAddress.Unusable(description: "the credentials file of nats has no token or no seed of a user")
        }
        self.token = token
        // Two bytes of the kinds, the seed, and a checksum of two bytes ("NKeys", docs.nats.io).
        guard let bytes = Self.base32(seed), bytes.count == 36,
            Self.checksum(of: bytes[..<34]) == Array(bytes[34...].reversed())
        else { throw NATSAddress.Unusable(description: "the seed in the credentials file of nats is malformed") }
        guard bytes[..<2] == Self.seedOfUser else {
            throw NATSAddress.Unusable(description: "the seed in the credentials file of nats is not that of a user")
        }
        key = try Curve25519.Signing.PrivateKey(rawRepresentation: bytes[2..<34])
    }

    private static let seedOfUser: ArraySlice<UInt8> = [149, 0]

    /// The checksum of a key (CRC-16/XMODEM), its high byte first.
    private static func checksum(of bytes: some Sequence<UInt8>) -> [UInt8] {
        let sum = bytes.reduce(UInt16(0)) { sum, byte in
            (0..<8).reduce(sum ^ UInt16(byte) << 8) { sum, _ in sum & 0x8000 == 0 ? sum << 1 : sum << 1 ^ 0x1021 }
        }
        return [UInt8(sum >> 8), UInt8(truncatingIfNeeded: sum)]
    }

    private static func section(_ name: String, of text: String) -> String? {
        let lines = text.split(whereSeparator: \.isNewline).map { $0.trimmingCharacters(in: .whitespaces) }
        guard let begin = lines.firstIndex(where: { $0.hasPrefix("-----BEGIN \(name)-----") }) else { return nil }
        return lines[(begin + 1)...].first { !$0.isEmpty && !$0.hasPrefix("-") }
    }

    /// Decodes base32 without padding (RFC 4648, section 6).
    static func base32(_ text: String) -> [UInt8]? {
        let digits = Array("ABCDEFGHIJKLMNOPQRSTUVWXYZ234567".utf8)
        var (bytes, buffer, bits): ([UInt8], UInt32, Int) = ([], 0, 0)
        for byte in text.utf8 {
            guard let digit = digits.firstIndex(of: byte) else { return nil }
            buffer = buffer << 5 | UInt32(digit)
            bits += 5
            if bits >= 8 {
                bits -= 8
                bytes.append(UInt8(truncatingIfNeeded: buffer >> UInt32(bits)))
            }
        }
        return bytes
    }

    /// The signature of the server's challenge, as `CONNECT` has it.
    func signature(of nonce: String) throws -> String {
        try key.signature(for: Array(nonce.utf8)).base64EncodedString()
            .replacing("+", with: "-").replacing("/", with: "_").replacing("=", with: "")
    }
}
