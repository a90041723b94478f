import Crypto
import Foundation

/// The secret that the devices of one user share. Any device that has it belongs to the account.
package struct AccountKey: Hashable, Sendable {
    /// 32 bytes, drawn at random.
    private let bytes: [UInt8]
    private static let mark = "aldaba-account-"

    /// Draws a new key.
    package init() {
        bytes = SymmetricKey(size: .bits256).withUnsafeBytes { Array($0) }
    }

    /// Reads a key as ``text`` writes it; `nil` for any other text.
    package init?(text: String) {
        guard text.hasPrefix(Self.mark) else { return nil }
        let digits = Array(text.utf8.dropFirst(Self.mark.utf8.count))
        guard digits.count == 64 else { return nil }
        var bytes: [UInt8] = []
        for place in stride(from: 0, to: 64, by: 2) {
            guard let byte = UInt8(String(decoding: digits[place..<place + 2], as: UTF8.self), radix: 16) else {
                return nil
            }
            bytes.append(byte)
        }
        self.bytes = bytes
    }

    /// The key as letters and digits. It is a secret.
    package var text: String {
        Self.mark + bytes.map { String($0 >> 4, radix: 16) + String($0 & 15, radix: 16) }.joined()
    }

    /// The key that signs the account's devices.
    package var signingKey: Curve25519.Signing.PrivateKey {
        let seed = Array(
            HMAC<SHA256>.authenticationCode(
                for: Array("aldaba relay sign 1".utf8), using: SymmetricKey(data: bytes)))
        // 32 bytes are a key always.
        return (try? Curve25519.Signing.PrivateKey(rawRepresentation: seed)) ?? Curve25519.Signing.PrivateKey()
    }

    /// The key by which devices of the account, and no others, recognise each other in one network.
    var nearbyKey: SymmetricKey {
        SymmetricKey(
            data: HMAC<SHA256>.authenticationCode(
                for: Array("aldaba relay nearby 1".utf8), using: SymmetricKey(data: bytes)))
    }

    /// Seals the documents of the account.
    package var documents: DocumentSeals { DocumentSeals(account: bytes) }

    /// Proves to a device that has this key that the account has another after it.
    package func proof(ofSuccessor next: AccountKey) -> [UInt8] {
        Array(HMAC<SHA256>.authenticationCode(for: Self.claim(next), using: SymmetricKey(data: bytes)))
    }

    /// Whether that was proven with this key.
    package func isSucceeded(by next: AccountKey, _ proof: [UInt8]) -> Bool {
        HMAC<SHA256>.isValidAuthenticationCode(
            proof, authenticating: Self.claim(next), using: SymmetricKey(data: bytes))
    }

    private static func claim(_ next: AccountKey) -> [UInt8] { Array("aldaba relay next 1".utf8) + [0] + next.bytes }

    /// The token that proves to the server that the device has the account's key, without revealing it.
    package var accessToken: [UInt8] {
        Array(
            HMAC<SHA256>.authenticationCode(
                for: Array("aldaba relay access 1".utf8), using: SymmetricKey(data: bytes)))
    }
}

extension AccountKey: Codable {
    /// Reads ``text``.
    package init(from decoder: any Decoder) throws {
        let container = try decoder.singleValueContainer()
        guard let key = AccountKey(text: try container.decode(String.self)) else {
            throw DecodingError.dataCorruptedError(in: container, debugDescription: "no account key")
        }
        self = key
    }

    /// Writes ``text``.
    package func encode(to encoder: any Encoder) throws {
        var container = encoder.singleValueContainer()
        try container.encode(text)
    }
}

extension AccountKey: CustomStringConvertible, CustomReflectable {
    /// A description for logs that reveals nothing of the key.
    package var description: String { "an account key" }
    /// Has no children, so that `dump` shows no secret.
    package var customMirror: Mirror { Mirror(self, children: [:]) }
}
