/// A message that the sender encrypted, with the header fields that a client needs to decrypt it. No server can read
/// it.
///
/// The bytes are a mark that no JSON begins with, then the three fields and the body, each after its length in
/// four bytes.
package struct WebPushEnvelope: Hashable, Sendable {
    /// `Content-Encoding`: `aes128gcm`, or `aesgcm`.
    package var contentEncoding: String
    /// `Encryption`; empty with `aes128gcm`, whose body contains it.
    package var encryption: String
    /// `Crypto-Key`; empty with `aes128gcm`.
    package var cryptoKey: String
    /// The encrypted body; empty for a push without content.
    package var body: [UInt8]

    /// Takes the parts; nothing is checked.
    package init(contentEncoding: String, encryption: String = "", cryptoKey: String = "", body: [UInt8]) {
        self.contentEncoding = contentEncoding
        self.encryption = encryption
        self.cryptoKey = cryptoKey
        self.body = body
    }

    private static let mark: [UInt8] = [0x01, UInt8(ascii: "w"), UInt8(ascii: "p")]
    /// The content encoding of a body that is not encrypted, for apps of UnifiedPush.
    package static let plain = "identity"

    /// The envelope's bytes, as a mailbox stores them.
    package var bytes: [UInt8] {
        var bytes = Self.mark
        for part in [Array(contentEncoding.utf8), Array(encryption.utf8), Array(cryptoKey.utf8), body] {
            bytes += (0..<4).map { UInt8(truncatingIfNeeded: part.count >> (24 - 8 * $0)) }
            bytes += part
        }
        return bytes
    }

    /// Reads ``bytes``; `nil` for anything else, such as a message that is no envelope.
    package init?(bytes: [UInt8]) {
        guard bytes.starts(with: Self.mark) else { return nil }
        var rest = bytes.dropFirst(Self.mark.count)
        var parts: [ArraySlice<UInt8>] = []
        for _ in 0..<4 {
            guard rest.count >= 4 else { return nil }
            let length = rest.prefix(4).reduce(0) { $0 << 8 | Int($1) }
            rest = rest.dropFirst(4)
            guard rest.count >= length else { return nil }
            parts.append(rest.prefix(length))
            rest = rest.dropFirst(length)
        }
        guard rest.isEmpty else { return nil }
        let texts = parts.prefix(3).map { String(validating: $0, as: UTF8.self) }
        guard let contentEncoding = texts[0], let encryption = texts[1], let cryptoKey = texts[2] else { return nil }
        self.init(
            contentEncoding: contentEncoding, encryption: encryption, cryptoKey: cryptoKey, body: Array(parts[3]))
    }
}
