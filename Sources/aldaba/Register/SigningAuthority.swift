import APNsProtocol
import AldabaConfiguration
import Crypto
import Foundation
import PushCore
import SwiftASN1
import X509

/// A certificate authority with its private key: signs certificates of providers.
package struct SigningAuthority: Sendable {
    private let certificate: Certificate
    private let key: Certificate.PrivateKey
    private let path: String

    /// Reads the authority from two files.
    ///
    /// - Throws: ``EncodedFile/Unusable`` also when the two do not belong together, or may sign nothing.
    package init(certificate path: String, key keyPath: String) throws {
        let der = try EncodedFile.first(["CERTIFICATE"], in: path)
        do { _ = try CertificateAuthority(der: der) } catch {
            throw EncodedFile.Unusable(path: path, reason: "\(error)")
        }
        certificate = try Certificate(derEncoded: der)
        guard let text = try PrivateFile.secret(keyPath)?.wrappedValue else {
            throw EncodedFile.Unusable(path: keyPath, reason: "there is no such file; it is the authority's key in PEM")
        }
        guard let key = try? Certificate.PrivateKey(pemEncoded: text) else {
            throw EncodedFile.Unusable(path: keyPath, reason: "it holds no private key in PEM without a passphrase")
        }
        guard key.publicKey == certificate.publicKey else {
            throw EncodedFile.Unusable(path: keyPath, reason: "this key is not that of the authority \(path)")
        }
        self.key = key
        self.path = path
    }

    /// The authority that a data folder keeps for providers, made where there is none. It is not the server's own
    /// development authority: a client that trusts the server does not trust providers' certificates.
    ///
    /// - Parameter folder: Made where it is missing.
    package static func development(folder: String, now: Date) throws -> SigningAuthority {
        try PrivateFile.makeFolder(folder, marks: ["ca.pem"])
        let paths = try DevelopmentCertificates.ensureAuthority(folder: folder, now: now).paths
        return try SigningAuthority(certificate: paths.authority, key: paths.authorityKey)
    }

    /// Signs a certificate for the key of a request.
    ///
    /// It begins an hour before `now`, since clocks differ, and does not outlive the authority.
    package func sign(
        _ request: SigningRequest, as profile: CertificateProfile, days: Int, now: Date
    ) throws -> ProviderCertificate {
        try sign(request.publicKey, as: profile, days: days, now: now)
    }

    /// Signs a new certificate for the key of an earlier one, and for what that was for.
    package func renew(
        _ earlier: ProviderCertificate, team: TeamID, days: Int, now: Date
    ) throws -> ProviderCertificate {
        let key = try Certificate(derEncoded: earlier.der).publicKey
        return try sign(key, as: CertificateProfile(of: earlier, team: team), days: days, now: now)
    }

    private func sign(
        _ publicKey: Certificate.PublicKey, as profile: CertificateProfile, days: Int, now: Date
    ) throws -> ProviderCertificate {
        guard certificate.notValidBefore <= now, now < certificate.notValidAfter else {
            throw EncodedFile.Unusable(
                path: path,
                reason: "the authority is valid from \(certificate.notValidBefore) to \(certificate.notValidAfter)")
        }
        let end = min(now.addingTimeInterval(Double(days) * 86_400), certificate.notValidAfter)
        let authorityKey = certificate.publicKey
        let made = try Certificate(
            version: .v3, serialNumber: .init(), publicKey: publicKey,
            notValidBefore: now.addingTimeInterval(-3600), notValidAfter: end, issuer: certificate.subject,
            subject: try profile.subject(),
            extensions: try Certificate.Extensions(
                try Certificate.Extensions {
                    Critical(BasicConstraints.notCertificateAuthority)
                    Critical(KeyUsage(digitalSignature: true))
                    try ExtendedKeyUsage([.clientAuth])
                    SubjectKeyIdentifier(keyIdentifier: Self.identifier(publicKey))
                    AuthorityKeyIdentifier(
                        keyIdentifier: (try? certificate.extensions.subjectKeyIdentifier)?.keyIdentifier
                            ?? Self.identifier(authorityKey))
                } + (try profile.extensions())),
            issuerPrivateKey: key)
        var serializer = DER.Serializer()
        try serializer.serialize(made)
        return try ProviderCertificate(der: serializer.serializedBytes)
    }

    /// SHA-1 of the key with its algorithm: unique, which is all that is asked (RFC 5280, section 4.2.1.2).
    private static func identifier(_ key: Certificate.PublicKey) -> ArraySlice<UInt8> {
        ArraySlice(Insecure.SHA1.hash(data: key.subjectPublicKeyInfoBytes))
    }
}
