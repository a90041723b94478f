import Crypto
import Foundation
import PushCore

/// The contents of an access token: the key that requested it, and its time of expiry.
package struct AccessGrant: Hashable, Sendable {
    /// The id of the key by which it was asked for: 40 hexadecimal digits.
    package var keyID: String
    /// The time at which the token expires.
    package var expiresAt: Timestamp

    /// Makes what a token is to say.
    package init(keyID: String, expiresAt: Timestamp) {
        self.keyID = keyID
        self.expiresAt = expiresAt
    }
}

/// Makes access tokens and opens them. They are stored nowhere: a token contains its key's id and its expiry,
/// authenticated by an HMAC-SHA256. So it stays valid after the server has restarted.
package struct AccessTokenSealer: Sendable {
    private let keys: [SymmetricKey]
    private static let mark = "aldaba."
    /// How long a token is good for: an hour.
    package static let lifetime = Duration.seconds(3600)

    /// Takes the server's secrets, the current one first; keys of its own are derived from them.
    ///
    /// - Returns: `nil` when there is none.
    package init?(secrets: [[UInt8]]) {
        guard !secrets.isEmpty else { return nil }
        keys = secrets.map {
            HKDF<SHA256>.deriveKey(
                inputKeyMaterial: SymmetricKey(data: $0), info: Data("aldaba.access-token.1".utf8), outputByteCount: 32)
        }
    }

    /// The token of a grant.
    package func seal(_ grant: AccessGrant) -> String {
        let said = Array("\(grant.keyID) \(grant.expiresAt.rawValue)".utf8)
        let proof = HMAC<SHA256>.authenticationCode(for: said, using: keys[0])
        return Self.mark + Base64URL.encode(said) + "." + Base64URL.encode(Array(proof))
    }

    /// Opens a token; `nil` for one that was not made here. The time of expiry is not checked.
    package func open(_ token: String) -> AccessGrant? {
        guard token.utf8.count <= 1024, token.hasPrefix(Self.mark) else { return nil }
        let parts = Array(token.utf8.dropFirst(Self.mark.utf8.count))
            .split(separator: UInt8(ascii: "."), omittingEmptySubsequences: false)
        guard parts.count == 2, let said = Base64URL.decode(parts[0]), let proof = Base64URL.decode(parts[1]),
            keys.contains(where: { HMAC<SHA256>.isValidAuthenticationCode(proof, authenticating: said, using: $0) })
        else { return nil }
        let words = String(decoding: said, as: UTF8.self).split(separator: " ")
        guard words.count == 2, let instant = Int64(words[1]) else { return nil }
        return AccessGrant(keyID: String(words[0]), expiresAt: Timestamp(rawValue: instant))
    }
}
