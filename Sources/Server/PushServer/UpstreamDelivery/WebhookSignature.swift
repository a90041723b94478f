import Crypto
import Foundation
import PushCore

/// Signs requests to a webhook, so that its owner can verify their sender and time.
package struct WebhookSignature: Sendable {
    /// The header field that contains it.
    package static let field = "Aldaba-Signature"

    /// A new secret: `whsec_` and 32 random bytes.
    package static func makeSecret() -> String {
        let bytes = SymmetricKey(size: .bits256).withUnsafeBytes { Array($0) }
        return "whsec_" + Base64URL.encode(bytes)
    }

    /// The field's value: `t=SECONDS,v1=HEX`, where HEX is HMAC-SHA256 with the secret's bytes (its text, as UTF-8)
    /// over `SECONDS.BODY`.
    package static func value(secret: String, body: [UInt8], at now: Timestamp) -> String {
        let seconds = String(now.rawValue / 1000)
        var hash = HMAC<SHA256>(key: SymmetricKey(data: Data(secret.utf8)))
        hash.update(data: Data(seconds.utf8) + Data(".".utf8))
        hash.update(data: body)
        let hex = hash.finalize().map { byte in
            let text = String(byte, radix: 16)
            return text.count == 1 ? "0" + text : text
        }
        return "t=\(seconds),v1=\(hex.joined())"
    }
}
