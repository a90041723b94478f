import Crypto
import CryptoExtras
import Foundation
import PushCore

/// The assertion by which a service account asks for an access token: a JSON Web Token, RS256 (RFC 7523, section 3).
package struct ServiceAssertion: Sendable {
    /// A fault in an assertion; for the provider, without the assertion's text.
    package struct MalformedAssertionError: Error, Hashable, Sendable {
        /// A sentence.
        package var reason: String
    }

    /// The id of the key that signed it, according to the header; `nil` where the header has none.
    package let keyID: String?
    /// `iss`: the e-mail of the service account.
    package let issuer: String
    /// `aud`: for whom it is.
    package let audience: String
    /// `scope`: what is asked for, separated by blanks.
    package let scopes: [String]
    /// `iat`, in seconds since 1970.
    package let issuedAt: Int64
    /// `exp`, in seconds since 1970.
    package let expiresAt: Int64
    private let token: JSONWebToken

    /// How long an assertion may be good for: an hour, in seconds.
    package static let longestLife: Int64 = 3600
    /// How far the clocks of both ends may be apart, in seconds.
    package static let skew: Int64 = 300

    /// Reads an assertion; its signature is not looked at.
    package init(_ text: String) throws(MalformedAssertionError) {
        func malformed(_ reason: String) -> MalformedAssertionError { MalformedAssertionError(reason: reason) }
        guard text.utf8.count <= 16_384, let token = try? JSONWebToken(Array(text.utf8)) else {
            throw malformed("the assertion is not a JSON Web Token in three parts")
        }
        let (header, claims) = (token.header, token.claims)
        guard header["alg"]?.text == "RS256" else { throw malformed("the assertion's alg must be RS256") }
        guard let issuer = claims["iss"]?.text else { throw malformed("the assertion has no iss") }
        guard let audience = claims["aud"]?.text else { throw malformed("the assertion has no aud") }
        guard let issuedAt = Self.seconds(claims["iat"]), let expiresAt = Self.seconds(claims["exp"]) else {
            throw malformed("the assertion's iat and exp must be seconds since 1970")
        }
        keyID = header["kid"]?.text
        self.issuer = issuer
        self.audience = audience
        self.issuedAt = issuedAt
        self.expiresAt = expiresAt
        scopes = (claims["scope"]?.text ?? "").split(separator: " ").map(String.init)
        self.token = token
    }

    /// A number of seconds, some libraries write it with a fraction.
    private static func seconds(_ value: JSONValue?) -> Int64? {
        guard case .number(let digits)? = value, let number = Double(digits), (0..<1e12).contains(number) else {
            return nil
        }
        return Int64(number)
    }

    /// The fault in the assertion's times; `nil` while it is valid.
    package func timeFault(at now: Timestamp) -> String? {
        let seconds = now.rawValue / 1000
        guard expiresAt > issuedAt, expiresAt - issuedAt <= Self.longestLife else {
            return "the assertion must be good for at most an hour: check its iat and exp"
        }
        guard issuedAt <= seconds + Self.skew, expiresAt + Self.skew > seconds else {
            return "the assertion is not good now: check its iat and exp, and the clock"
        }
        return nil
    }

    /// Whether the key signed it.
    package func isSigned(by key: ServiceAccountKey) -> Bool { key.isValid(token.signature, for: token.signedBytes) }
}

/// The public half of a service account's key: RSA, 2048 bits or more.
package struct ServiceAccountKey: Sendable {
    private let key: _RSA.Signing.PublicKey

    /// Reads a key in PEM; `nil` for what is none.
    package init?(pem: String) {
        guard let key = try? _RSA.Signing.PublicKey(pemRepresentation: pem) else { return nil }
        self.key = key
    }

    /// Whether a signature is RS256 of the bytes (RFC 7518, section 3.3).
    func isValid(_ signature: [UInt8], for bytes: [UInt8]) -> Bool {
        key.isValidSignature(
            _RSA.Signing.RSASignature(rawRepresentation: signature), for: SHA256.hash(data: bytes),
            padding: .insecurePKCS1v1_5)
    }
}
