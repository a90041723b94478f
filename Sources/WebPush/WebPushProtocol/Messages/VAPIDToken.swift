import Crypto
import Foundation
import PushCore

/// The credential of an application server: a JSON Web Token, ES256, and the public key that signed it (RFC 8292).
package struct VAPIDToken: Sendable {
    /// A fault in a credential; for the sender, without the credential's text.
    package struct Fault: Error, Hashable, Sendable {
        /// A sentence.
        package var reason: String
    }

    /// The public key, an uncompressed point in base64url without padding: what the subscription names.
    package let key: String
    /// `aud`: the origin of the push service.
    package let audience: String
    /// `exp`, in seconds since 1970.
    package let expiresAt: Int64

    /// The longest credential that is read, in bytes.
    package static let longest = 8192
    /// The longest lifetime of a token, in seconds: a day.
    package static let longestLife: Int64 = 86_400
    /// How far the clocks of both ends may be apart, in seconds.
    package static let skew: Int64 = 60

    /// Reads a request's credential and verifies its signature: `vapid t=…, k=…`, or as the drafts had it `WebPush …`
    /// with the key in `Crypto-Key` (`p256ecdsa=`).
    ///
    /// - Throws: a ``Fault``.
    package init(authorization: String, cryptoKey: String?) throws(Fault) {
        guard authorization.utf8.count <= Self.longest else { throw Fault(reason: "the credential is too long") }
        let parts = authorization.split(separator: " ", maxSplits: 1).map(String.init)
        guard parts.count == 2 else { throw Fault(reason: "Authorization must be vapid t=TOKEN, k=KEY") }
        let (scheme, rest) = (parts[0].lowercased(), parts[1])
        let named: (token: String?, key: String?)
        switch scheme {
        case "vapid":
            let fields = Self.parameters(rest)
            named = (fields["t"], fields["k"])
        case "webpush", "bearer": named = (rest, cryptoKey.flatMap { Self.parameters($0)["p256ecdsa"] })
        default: throw Fault(reason: "Authorization must be vapid t=TOKEN, k=KEY")
        }
        guard let token = named.token, let text = named.key, let point = Base64URL.decode(text.utf8),
            let key = try? P256.Signing.PublicKey(x963Representation: point)
        else { throw Fault(reason: "the credential must have a token and a key, an uncompressed point of P-256") }
        guard let token = try? JSONWebToken(Array(token.utf8)),
            let signature = try? P256.Signing.ECDSASignature(rawRepresentation: token.signature),
            let audience = token.claims["aud"]?.text, case .number(let digits)? = token.claims["exp"],
            let expiry = Double(digits), (0..<1e12).contains(expiry)
        else { throw Fault(reason: "the token must be a JSON Web Token in three parts with aud and exp") }
        guard token.header["alg"]?.text == "ES256" else { throw Fault(reason: "the token's alg must be ES256") }
        guard key.isValidSignature(signature, for: token.signedBytes) else {
            throw Fault(reason: "the token's signature is not that of the key")
        }
        self.key = Base64URL.encode(point)
        self.audience = audience
        expiresAt = Int64(expiry)
    }

    /// The fault in the token's time of expiry; `nil` while it is valid.
    package func timeFault(at now: Timestamp) -> String? {
        let seconds = now.rawValue / 1000
        guard expiresAt + Self.skew > seconds else { return "the token's exp is past" }
        guard expiresAt <= seconds + Self.longestLife + Self.skew else {
            return "the token's exp must be at most a day ahead"
        }
        return nil
    }

    /// The audiences that browsers write into the addresses of subscriptions, whatever service they use. The second is
    /// that of builds that are not Google's own, such as Debian's.
    static let customaryAudiences: Set<String> = ["https://fcm.googleapis.com", "https://jmt17.google.com"]

    /// Whether the token is meant for a push service, or for the one that browsers believe they use.
    ///
    /// - Parameter isOwn: Whether an origin, such as `https://push.example`, is one of the push service's.
    package func isFor(_ isOwn: (_ origin: String) -> Bool) -> Bool {
        let origin = audience.hasSuffix("/") ? String(audience.dropLast()) : audience
        return Self.customaryAudiences.contains(origin) || isOwn(origin)
    }

    /// Whether a registration's `sender` is a key that senders must prove; the key as ``key`` has it, else `nil`.
    package static func key(ofSender sender: String) -> String? {
        guard let point = Base64URL.decode(sender.utf8), point.count == 65,
            (try? P256.Signing.PublicKey(x963Representation: point)) != nil
        else { return nil }
        return Base64URL.encode(point)
    }

    /// `name=value` pairs between commas or semicolons; of a name that comes twice the first counts.
    static func parameters(_ text: String) -> [String: String] {
        var found: [String: String] = [:]
        for part in text.split(whereSeparator: { $0 == "," || $0 == ";" }) {
            let pair = part.split(separator: "=", maxSplits: 1)
            guard pair.count == 2 else { continue }
            let name = pair[0].trimmingCharacters(in: .whitespaces).lowercased()
            let value = pair[1].trimmingCharacters(in: .whitespaces).trimmingCharacters(in: ["\""])
            if found[name] == nil { found[name] = value }
        }
        return found
    }
}
