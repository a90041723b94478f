import Crypto
import Foundation
import NIOSSL
import X509

/// A certificate for 127.0.0.1 that signs itself, made for one test.
struct TestCertificate {
    let pem: String
    private let key: String

    init() throws {
        let privateKey = P256.Signing.PrivateKey()
        let signer = Certificate.PrivateKey(privateKey)
        let name = try DistinguishedName { CommonName("Aldaba test") }
        let now = Date()
        let certificate = try Certificate(
            version: .v3, serialNumber: .init(), publicKey: signer.publicKey, notValidBefore: now - 3600,
            notValidAfter: now + 86_400, issuer: name, subject: name, signatureAlgorithm: .ecdsaWithSHA256,
            extensions: try Certificate.Extensions {
                Critical(BasicConstraints.isCertificateAuthority(maxPathLength: nil))
                SubjectAlternativeNames([
                    .ipAddress(.init(contentBytes: [127, 0, 0, 1])), .dnsName("localhost"),
                ])
            },
            issuerPrivateKey: signer)
        pem = try certificate.serializeAsPEM().pemString
        key = privateKey.pemRepresentation
    }

    /// TLS of a server with this certificate.
    func serverContext() throws -> NIOSSLContext {
        try NIOSSLContext(
            configuration: .makeServerConfiguration(
                certificateChain: [.certificate(try NIOSSLCertificate(bytes: Array(pem.utf8), format: .pem))],
                privateKey: .privateKey(try NIOSSLPrivateKey(bytes: Array(key.utf8), format: .pem))))
    }
}
