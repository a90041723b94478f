import APNsProtocol
import Crypto
import Foundation
import PushCore
import SwiftASN1
import X509

/// A certificate authority of a test's own.
package struct TestAuthority: Sendable {
    /// The authority's certificate.
    package let der: [UInt8]
    private let key = P256.Signing.PrivateKey()
    private let name: DistinguishedName

    /// Makes an authority that is valid around `now`.
    ///
    /// - Parameter isAuthority: `false` leaves out what makes it one.
    package init(
        name: String = "A test's authority", now: Timestamp, days: Int64 = 3650, isAuthority: Bool = true
    ) throws {
        self.name = try DistinguishedName { CommonName(name) }
        let extensions = try Certificate.Extensions {
            Critical(isAuthority ? BasicConstraints.isCertificateAuthority(maxPathLength: 0) : .notCertificateAuthority)
        }
        der = try Self.bytes(
            Certificate(
                version: .v3, serialNumber: .init(), publicKey: .init(key.publicKey),
                notValidBefore: Self.date(now, -1), notValidAfter: Self.date(now, days), issuer: self.name,
                subject: self.name, signatureAlgorithm: .ecdsaWithSHA256, extensions: extensions,
                issuerPrivateKey: .init(key)))
    }

    /// What the authority says of itself.
    package func authority() throws -> CertificateAuthority { try CertificateAuthority(der: der) }

    /// A certificate with the subject and the extensions of a profile, for a key of its own.
    ///
    /// - Parameters:
    ///   - days: From when until when it is valid, beside `now`.
    ///   - change: What is different from the profile.
    package func certificateBytes(
        _ profile: CertificateProfile, now: Timestamp, days: ClosedRange<Int64> = -1...365,
        change: (inout [Certificate.Extension], inout DistinguishedName) throws -> Void = { _, _ in }
    ) throws -> [UInt8] {
        var (extensions, subject) = (try profile.extensions(), try profile.subject())
        try change(&extensions, &subject)
        return try Self.bytes(
            Certificate(
                version: .v3, serialNumber: .init(), publicKey: .init(P256.Signing.PrivateKey().publicKey),
                notValidBefore: Self.date(now, days.lowerBound), notValidAfter: Self.date(now, days.upperBound),
                issuer: name, subject: subject, signatureAlgorithm: .ecdsaWithSHA256,
                extensions: try Certificate.Extensions(extensions), issuerPrivateKey: .init(key)))
    }

    /// A certificate as the profile says.
    package func certificate(
        _ profile: CertificateProfile, now: Timestamp, days: ClosedRange<Int64> = -1...365
    ) throws -> ProviderCertificate {
        try ProviderCertificate(der: certificateBytes(profile, now: now, days: days))
    }

    private static func date(_ now: Timestamp, _ days: Int64) -> Date {
        Date(timeIntervalSince1970: Double(now.rawValue / 1000 + days * 86_400))
    }

    private static func bytes(_ certificate: Certificate) throws -> [UInt8] {
        var serializer = DER.Serializer()
        try serializer.serialize(certificate)
        return serializer.serializedBytes
    }
}
