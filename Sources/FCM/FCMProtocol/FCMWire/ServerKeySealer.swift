import Crypto
import Foundation
import PushCore

/// Makes the server keys of FCM's legacy HTTP API, or the keys of chat servers' gateways, and opens them.
///
/// A server key names a service account's key, authenticated by an HMAC-SHA256. It is stored nowhere and has no time of
/// expiry: it is valid until the service account is revoked.
package struct ServerKeySealer: Sendable {
    /// The use of keys; a key of one use does not count for another.
    package enum Purpose: Sendable {
        /// FCM's legacy HTTP API.
        case legacyFCM
        /// The gateways of chat servers, where a key is a part of an address.
        case gateway

        fileprivate var info: String {
            switch self {
            case .legacyFCM: "aldaba.server-key.1"
            case .gateway: "aldaba.gateway-key.1"
            }
        }

        fileprivate var separator: Character {
            switch self {
            case .legacyFCM: ":"
            case .gateway: "."
            }
        }
    }

    private let keys: [SymmetricKey]
    private let purpose: Purpose

    /// Takes the server's secrets, the current one first; keys of its own are derived from them.
    ///
    /// - Returns: `nil` when there is none.
    package init?(secrets: [[UInt8]], purpose: Purpose = .legacyFCM) {
        guard !secrets.isEmpty else { return nil }
        self.purpose = purpose
        keys = secrets.map {
            HKDF<SHA256>.deriveKey(
                inputKeyMaterial: SymmetricKey(data: $0), info: Data(purpose.info.utf8), outputByteCount: 32)
        }
    }

    /// The key of a service account, in two parts as Google's server keys were.
    ///
    /// - Parameter keyID: The id of the account's key.
    package func seal(keyID: String) -> String {
        let id = Array(keyID.utf8)
        let proof = HMAC<SHA256>.authenticationCode(for: id, using: keys[0])
        return "\(Base64URL.encode(id))\(purpose.separator)\(Base64URL.encode(Array(proof)))"
    }

    /// The id of the service account's key; `nil` for a server key that was not made here.
    package func open(_ text: String) -> String? {
        let parts = text.prefix(256).split(separator: purpose.separator, omittingEmptySubsequences: false)
        guard parts.count == 2, let id = Base64URL.decode(parts[0].utf8),
            let proof = Base64URL.decode(parts[1].utf8),
            keys.contains(where: { HMAC<SHA256>.isValidAuthenticationCode(proof, authenticating: id, using: $0) })
        else { return nil }
        return String(decoding: id, as: UTF8.self)
    }
}
