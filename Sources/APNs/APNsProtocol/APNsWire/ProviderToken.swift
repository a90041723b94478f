import Crypto
import Foundation
import PushCore

/// A provider's token: an ES256 JSON Web Token (RFC 7519, RFC 7515), parsed but not yet verified.
///
/// The format is that of the known libraries: `iat` as an integer, a float or a digit string; extra header fields and
/// claims; white space inside the JSON; the signature as `r ‖ s` or DER. Source: Apple, "Establishing a token-based
/// connection to APNs".
package struct ProviderToken: Sendable {
    /// `kid`: ten characters that name the key.
    package let keyID: KeyID
    /// `iss`: the team.
    package let team: TeamID
    /// `iat`.
    package var issuedAt: Timestamp
    private let signedBytes: [UInt8]
    private let signature: P256.Signing.ECDSASignature

    /// How old a token may be; `iat` older than that is `ExpiredProviderToken`.
    package static let lifetime = Duration.seconds(3600)
    /// How far `iat` may lie ahead of our clock.
    package static let tolerance = Duration.seconds(300)
    /// Longer header values are refused before they are looked into.
    package static let maximumLength = 4096

    /// Reads an `authorization` header's value, `bearer JWT`; the scheme in any case (RFC 9110, 11.1).
    ///
    /// - Throws: what was wrong, as an `InvalidProviderToken` or `MissingProviderToken` refusal.
    package init(authorization: some Collection<UInt8>) throws(APNsRejection) {
        let scheme = Array("bearer ".utf8)
        let start = authorization.prefix(scheme.count).map { (65...90).contains($0) ? $0 + 32 : $0 }
        guard start == scheme else {
            throw APNsRejection(.missingProviderToken, note: "authorization does not begin with 'bearer '")
        }
        try self.init(compact: Array(authorization.dropFirst(scheme.count)))
    }

    /// Reads the compact serialization, `header.claims.signature`.
    package init(compact: [UInt8]) throws(APNsRejection) {
        func invalid(_ note: String) -> APNsRejection { APNsRejection(.invalidProviderToken, note: note) }
        guard compact.count <= Self.maximumLength else { throw invalid("the token is longer than any real one") }
        let token: JSONWebToken
        do { token = try JSONWebToken(compact) } catch {
            switch error {
            case .parts(let count): throw invalid("the token has \(count) parts where three belong")
            case .encoding: throw invalid("a part of the token is not base64url")
            case .header: throw invalid("the token's header is not JSON with alg and kid")
            case .claims: throw invalid("the token's claims are not JSON with iss and a numeric iat")
            }
        }
        guard let algorithm = token.header["alg"]?.text, let kid = token.header["kid"]?.text else {
            throw invalid("the token's header is not JSON with alg and kid")
        }
        // An extension that `crit` names must be understood (RFC 7515, section 4.1.11). None is understood
        // here.
        guard token.header["crit"] == nil else { throw invalid("crit names extensions, none is understood") }
        guard algorithm == "ES256" else { throw invalid("alg is \(algorithm.prefix(20)), only ES256 is allowed") }
        guard KeyID.hasShape(kid) else { throw invalid("kid is not ten characters A-Z0-9") }
        guard let issuer = token.claims["iss"]?.text, let issued = Self.seconds(token.claims["iat"]) else {
            throw invalid("the token's claims are not JSON with iss and a numeric iat")
        }
        guard TeamID.hasShape(issuer) else { throw invalid("iss is not ten characters A-Z0-9") }
        guard let signature = TokenSignature.read(token.signature) else {
            throw invalid("the signature's \(token.signature.count) bytes are neither the 64 of r and s nor DER")
        }
        keyID = KeyID(rawValue: kid)
        team = TeamID(rawValue: issuer)
        issuedAt = Timestamp(seconds: issued)
        signedBytes = token.signedBytes
        self.signature = signature
    }

    /// Whether the signature is this key's.
    package func isSigned(by key: P256.Signing.PublicKey) -> Bool {
        key.isValidSignature(signature, for: signedBytes)
    }

    /// Checks the token's time; `nil` while it is valid.
    package func refusal(at now: Timestamp) -> APNsRejection? {
        let age = now.duration(since: issuedAt)
        if age > Self.lifetime {
            return APNsRejection(
                .expiredProviderToken, note: "iat is \(age.components.seconds) seconds ago, at most 3600 are allowed")
        }
        if age < .zero - Self.tolerance {
            return APNsRejection(.invalidProviderToken, note: "iat is \(-age.components.seconds) seconds in the future")
        }
        return nil
    }

    /// Makes a token.
    ///
    /// - Throws: The error of the cryptographic library.
    package static func make(
        key: P256.Signing.PrivateKey, keyID: KeyID, team: TeamID, issuedAt: Timestamp
    ) throws -> String {
        try JSONWebToken.signed(
            header: [.init("alg", .string("ES256")), .init("kid", .string(keyID.description))],
            claims: [
                .init("iss", .string(team.rawValue)), .init("iat", .number(String(issuedAt.rawValue / 1000))),
            ],
            by: { try Array(key.signature(for: $0).rawRepresentation) })
    }

    /// Seconds since 1970 in any of the three forms that providers use.
    private static func seconds(_ value: JSONValue?) -> Int64? {
        switch value {
        case .number(let digits):
            Int64(digits) ?? Double(digits).flatMap { Int64(exactly: $0.rounded(.down)) }
        case .string(let digits): Int64(digits)
        default: nil
        }
    }
}
