import NIOSSL

/// A client's certificate with its chain and its private key.
package struct ClientIdentity: Sendable {
    let chain: [NIOSSLCertificate]
    let key: NIOSSLPrivateKey

    /// Reads a certificate and its key in PEM.
    ///
    /// - Throws: An error of BoringSSL for a text that does not hold both.
    package init(pem: String) throws {
        let bytes = Array(pem.utf8)
        chain = try NIOSSLCertificate.fromPEMBytes(bytes)
        key = try NIOSSLPrivateKey(bytes: bytes, format: .pem)
    }

    /// Reads a file of PKCS #12 (RFC 7292), as Keychain Access exports it.
    ///
    /// - Throws: An error of BoringSSL for other bytes, or a wrong passphrase.
    package init(pkcs12 bytes: [UInt8], passphrase: String) throws {
        let bundle = try NIOSSLPKCS12Bundle(buffer: bytes, passphrase: Array(passphrase.utf8))
        (chain, key) = (bundle.certificateChain, bundle.privateKey)
    }
}
