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
    package let issuedAt: Timestamp
    private let signedPart: [UInt8]
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
        let parts = compact.split(separator: UInt8(ascii: "."), omittingEmptySubsequences: false)
        guard parts.count == 3 else { throw invalid("the token has \(parts.count) parts where three belong") }
        guard let headerBytes = Base64URL.decode(parts[0]), let claimBytes = Base64URL.decode(parts[1]),
            let signatureBytes = Base64URL.decode(parts[2])
        else { throw invalid("a part of the token is not base64url") }
        guard let header = try? JSONDecoder().decode(Header.self, from: Data(headerBytes)) else {
            throw invalid("the token's header is not JSON with alg and kid")
        }
        // An extension that `crit` names must be understood (RFC 7515, section 4.1.11). None is understood
        // here.
        guard !header.hasCriticalExtensions else { throw invalid("crit names extensions, none is understood") }
        guard header.alg == "ES256" else { throw invalid("alg is \(header.alg.prefix(20)), only ES256 is allowed") }
        guard KeyID.hasShape(header.kid) else { throw invalid("kid is not ten characters A-Z0-9") }
        guard let claims = try? JSONDecoder().decode(Claims.self, from: Data(claimBytes)) else {
            throw invalid("the token's claims are not JSON with iss and a numeric iat")
        }
        guard TeamID.hasShape(claims.iss) else { throw invalid("iss is not ten characters A-Z0-9") }
        guard let signature = TokenSignature.read(signatureBytes) else {
            throw invalid("the signature's \(signatureBytes.count) bytes are neither the 64 of r and s nor DER")
        }
        keyID = KeyID(rawValue: header.kid)
        team = TeamID(rawValue: claims.iss)
        issuedAt = Timestamp(seconds: claims.iat.seconds)
        signedPart = Array(compact[..<parts[1].endIndex])
        self.signature = signature
    }

    /// Whether the signature is this key's.
    package func isSigned(by key: P256.Signing.PublicKey) -> Bool {
        key.isValidSignature(signature, for: Data(signedPart))
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
        let header = Base64URL.encode(Array(#"{"alg":"ES256","kid":"\#(keyID)"}"#.utf8))
        let claims = Base64URL.encode(
            Array(#"{"iss":"\#(team.rawValue)","iat":\#(issuedAt.rawValue / 1000)}"#.utf8))
        let signed = "\(header).\(claims)"
        let signature = try key.signature(for: Data(signed.utf8))
        return "\(signed).\(Base64URL.encode(Array(signature.rawRepresentation)))"
    }

    private struct Header: Decodable {
        var alg: String
        var kid: String
        /// Whether there is a member `crit`, whatever is in it.
        var hasCriticalExtensions: Bool

        private enum CodingKeys: CodingKey { case alg, kid, crit }

        init(from decoder: any Decoder) throws {
            let container = try decoder.container(keyedBy: CodingKeys.self)
            alg = try container.decode(String.self, forKey: .alg)
            kid = try container.decode(String.self, forKey: .kid)
            hasCriticalExtensions = container.contains(.crit)
        }
    }

    private struct Claims: Decodable {
        var iss: String
        var iat: NumericDate
    }

    /// Seconds since 1970 in any of the three forms that providers use.
    private struct NumericDate: Decodable {
        var seconds: Int64

        init(from decoder: any Decoder) throws {
            let container = try decoder.singleValueContainer()
            if let whole = try? container.decode(Int64.self) {
                seconds = whole
            } else if let number = try? container.decode(Double.self), let whole = Int64(exactly: number.rounded(.down))
            {
                seconds = whole
            } else if let whole = Int64(try container.decode(String.self)) {
                seconds = whole
            } else {
                throw DecodingError.dataCorruptedError(in: container, debugDescription: "iat is not a number")
            }
        }
    }
}
