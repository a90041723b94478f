import AldabaConfiguration
import Crypto
import CryptoExtras
import SwiftASN1
import X509

/// A certificate signing request, as `openssl req` or a keychain makes it (RFC 2986).
///
/// Only its public key counts: the signer decides the certificate's contents, as with Apple.
package struct SigningRequest: Sendable {
    let publicKey: Certificate.PublicKey

    /// Reads a request from a file, PEM or DER.
    ///
    /// - Throws: ``EncodedFile/Unusable``, also for a request whose signature is not its own key's, and for weak keys.
    package init(path: String) throws {
        try self.init(der: EncodedFile.first(Self.kinds, in: path), path: path)
    }

    /// Reads a request from a text in PEM.
    ///
    /// - Throws: as ``init(path:)`` does.
    init(text: String) throws {
        let name = "the request"
        try self.init(der: EncodedFile.first(Self.kinds, of: Array(text.utf8), path: name), path: name)
    }

    private static let kinds = ["CERTIFICATE REQUEST", "NEW CERTIFICATE REQUEST"]

    private init(der: [UInt8], path: String) throws {
        func unusable(_ reason: String) -> EncodedFile.Unusable { EncodedFile.Unusable(path: path, reason: reason) }
        let request: CertificateSigningRequest
        do { request = try CertificateSigningRequest(derEncoded: der) } catch {
            throw unusable(
                "it is no certificate signing request for an RSA key of at least 2048 bits or one of P-256; `openssl req -new -newkey rsa:2048 -nodes -keyout push.key -out "
                    + "push.csr -subj /CN=push` makes one")
        }
        guard request.publicKey.isValidSignature(request.signature, for: request) else {
            throw unusable("the request is not signed with the key that it names")
        }
        if let fault = Self.weakness(of: request.publicKey) { throw unusable(fault) }
        publicKey = request.publicKey
    }

    private static func weakness(of key: Certificate.PublicKey) -> String? {
        // The library reads no RSA key of fewer than 2048 bits.
        if _RSA.Signing.PublicKey(key) != nil { return nil }
        let isCurve = P256.Signing.PublicKey(key) != nil || P384.Signing.PublicKey(key) != nil
        return isCurve ? nil : "its key is neither RSA nor P-256 nor P-384"
    }
}
