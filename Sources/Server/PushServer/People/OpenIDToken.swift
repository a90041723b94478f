import Crypto
import CryptoExtras
import Foundation
import PushCore

/// The public keys of an OpenID provider (RFC 7517): RSA and P-256.
struct OpenIDKeys: Sendable {
    private enum Key: Sendable {
        case rsa(_RSA.Signing.PublicKey)
        case p256(P256.Signing.PublicKey)
    }

    private let keys: [(id: String?, key: Key)]

    /// Reads a set of keys; keys of other kinds, and for encryption, are left out.
    init(_ document: JSONValue) {
        keys = (document["keys"]?.items ?? []).compactMap { item in
            guard item["use"]?.text ?? "sig" == "sig", let key = Self.key(item) else { return nil }
            return (item["kid"]?.text, key)
        }
    }

    private static func key(_ item: JSONValue) -> Key? {
        func bytes(_ name: String) -> [UInt8]? { item[name]?.text.flatMap { Base64URL.decode($0.utf8) } }
        switch item["kty"]?.text {
        case "RSA":
            // A shorter modulus is broken (NIST SP 800-131A).
            guard let n = bytes("n"), let e = bytes("e"), (256...1024).contains(n.count),
                let key = try? _RSA.Signing.PublicKey(n: Data(n), e: Data(e))
            else { return nil }
            return .rsa(key)
        case "EC" where item["crv"]?.text == "P-256":
            guard let x = bytes("x"), let y = bytes("y"), x.count == 32, y.count == 32,
                let key = try? P256.Signing.PublicKey(rawRepresentation: x + y)
            else { return nil }
            return .p256(key)
        default: return nil
        }
    }

    /// Whether one of the keys signed a token, by the algorithm that the key's kind has.
    func signed(_ token: JSONWebToken) -> Bool {
        let id = token.header["kid"]?.text
        let algorithm = token.header["alg"]?.text
        return keys.contains { known in
            guard id == nil || known.id == nil || known.id == id else { return false }
            switch known.key {
            case .rsa(let key):
                return algorithm == "RS256"
                    && key.isValidSignature(
                        _RSA.Signing.RSASignature(rawRepresentation: token.signature),
                        for: SHA256.hash(data: token.signedBytes), padding: .insecurePKCS1v1_5)
            case .p256(let key):
                guard let signature = try? P256.Signing.ECDSASignature(rawRepresentation: token.signature) else {
                    return false
                }
                return algorithm == "ES256" && key.isValidSignature(signature, for: token.signedBytes)
            }
        }
    }
}

/// The claims of an ID token that are checked (OpenID Connect Core 1.0, section 3.1.3.7).
struct OpenIDToken: Sendable {
    /// How far the clocks of both ends may be apart, in seconds.
    private static let skew: Int64 = 120
    /// The person.
    let identity: ExternalIdentity
    /// The time at which the person showed who it is, in seconds; `nil` where the token does not say.
    let authenticatedAt: Int64?

    /// Checks the claims of a token whose signature was checked.
    ///
    /// - Throws: ``OpenIDFault``.
    init(
        _ claims: JSONValue, issuer: String, client: String, nonce: String, at now: Timestamp
    ) throws(OpenIDFault) {
        let seconds = now.rawValue / 1000
        guard claims["iss"]?.text == issuer else { throw OpenIDFault("the token is of another issuer") }
        let audience = claims["aud"]?.items?.compactMap(\.text) ?? claims["aud"]?.text.map { [$0] } ?? []
        guard audience.contains(client) else { throw OpenIDFault("the token is for another client") }
        guard audience.count == 1 || claims["azp"]?.text == client else {
            throw OpenIDFault("the token was given to another client")
        }
        guard let end = Self.seconds(claims["exp"]), end + Self.skew > seconds else {
            throw OpenIDFault("the token has expired")
        }
        guard let begun = Self.seconds(claims["iat"]), begun <= seconds + Self.skew else {
            throw OpenIDFault("the token is of the future")
        }
        guard let given = claims["nonce"]?.text, ConstantTime.equal(given.utf8, nonce.utf8) else {
            throw OpenIDFault("the token is of another log-in")
        }
        guard let subject = claims["sub"]?.text, (1...255).contains(subject.utf8.count) else {
            throw OpenIDFault("the token names nobody")
        }
        identity = ExternalIdentity(issuer: issuer, subject: subject)
        authenticatedAt = Self.seconds(claims["auth_time"])
    }

    private static func seconds(_ value: JSONValue?) -> Int64? {
        guard case .number(let digits)? = value, let number = Double(digits), (0..<1e12).contains(number) else {
            return nil
        }
        return Int64(number)
    }
}

/// Why a log-in by an OpenID provider fails.
package struct OpenIDFault: Error, Hashable, Sendable, CustomStringConvertible {
    /// A sentence, without secrets.
    package let description: String

    /// A fault by its sentence.
    init(_ description: String) { self.description = description }
}
