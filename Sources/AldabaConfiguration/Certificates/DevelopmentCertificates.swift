import Crypto
import Foundation
import SwiftASN1
import X509

/// The certificates of a development server: an authority of its own and a server certificate that it signed.
///
/// Both are P-256. The server's certificate names `localhost`, `127.0.0.1` and `::1`, lasts 397 days and is made
/// anew when fewer than 30 are left, or when the authority or the file is gone. The authority lasts ten years.
/// They pass strict checks (`openssl verify -x509_strict`): RFC 5280, sections 4.2.1.1 to 4.2.1.12.
package struct DevelopmentCertificates: Sendable {
    /// The paths of the four files.
    package struct Paths: Sendable, Hashable {
        /// The authority's certificate, PEM: what clients trust.
        package var authority: String
        /// The authority's private key, PEM.
        package var authorityKey: String
        /// The server's certificate, PEM.
        package var server: String
        /// The server's private key, PEM.
        package var serverKey: String

        /// The names within a folder.
        package init(folder: String) {
            authority = folder + "/ca.pem"
            authorityKey = folder + "/ca-key.pem"
            server = folder + "/server.pem"
            serverKey = folder + "/server-key.pem"
        }
    }

    static let day: TimeInterval = 86_400
    static let serverDays = 397.0
    static let renewalDays = 30.0
    static let authorityDays = 3650.0

    /// Makes the files that are missing, or expire soon, in a folder.
    ///
    /// - Parameters:
    ///   - folder: An existing folder.
    ///   - names: Further hosts that the server's certificate must name.
    ///   - now: The present.
    /// - Returns: The paths of the files, and what was made, in words (empty when nothing was).
    package static func ensure(
        folder: String, names: [String] = [], now: Date
    ) throws -> (paths: Paths, made: [String]) {
        let (paths, authority, told) = try madeAuthority(folder, now)
        var made = told
        let server = try readPair(paths.server, paths.serverKey)
        if remaining(server, now) < renewalDays || !(server.map { authority.signed($0) && $0.has(names) } ?? false) {
            try write(
                makeServer(authority: authority, names: names, end: now.addingTimeInterval((serverDays - 1) * day)),
                certificate: paths.server, key: paths.serverKey)
            made.append("server certificate \(paths.server)")
        }
        return (paths, made)
    }

    /// Makes a server's certificate that has expired an hour ago, for tests of clients.
    ///
    /// - Returns: The certificate and its key, PEM; `nil` where the folder has no authority.
    package static func expiredServer(
        folder: String, names: [String], now: Date
    ) throws -> (certificate: String, key: String)? {
        let paths = Paths(folder: folder)
        guard let authority = try readPair(paths.authority, paths.authorityKey) else { return nil }
        let pair = try makeServer(authority: authority, names: names, end: now.addingTimeInterval(-3600))
        return (try pair.certificate.serializeAsPEM().pemString + "\n", pair.key.pemRepresentation + "\n")
    }

    /// Makes the authority alone where it is missing or near its end.
    ///
    /// - Parameters:
    ///   - folder: An existing folder.
    ///   - now: The present.
    /// - Returns: The paths of the files, and what was made, in words.
    package static func ensureAuthority(folder: String, now: Date) throws -> (paths: Paths, made: [String]) {
        let (paths, _, made) = try madeAuthority(folder, now)
        return (paths, made)
    }

    private static func madeAuthority(_ folder: String, _ now: Date) throws -> (Paths, Pair, [String]) {
        let paths = Paths(folder: folder)
        if let known = try readPair(paths.authority, paths.authorityKey),
            remaining(known, now) >= serverDays + renewalDays
        {
            return (paths, known, [])
        }
        let pair = try makeAuthority(now: now)
        try write(pair, certificate: paths.authority, key: paths.authorityKey)
        return (paths, pair, ["certificate authority \(paths.authority)"])
    }

    /// When the certificate in a file ends; `nil` when the file is missing or holds none.
    package static func end(of path: String) throws -> Date? {
        guard let text = try PrivateFile.text(path) else { return nil }
        return (try? Certificate(pemEncoded: text))?.notValidAfter
    }

    /// Whether the authority of the folder, whose key is there, signed the server's certificate; ``ensure(folder:names:now:)`` replaces another
    /// one.
    package static func hasSignedServer(_ paths: Paths) -> Bool {
        guard let authority = try? readPair(paths.authority, paths.authorityKey),
            let server = try? readPair(paths.server, paths.serverKey)
        else { return false }
        return authority.signed(server)
    }

    private struct Pair {
        var certificate: Certificate
        var key: P256.Signing.PrivateKey

        /// Whether the certificate names every one of these hosts.
        func has(_ names: [String]) -> Bool {
            guard !names.isEmpty else { return true }
            // Names that cannot be read are none, and the certificate is made anew.
            let known =
                (try? certificate.extensions.subjectAlternativeNames).flatMap { $0 } ?? SubjectAlternativeNames()
            return Set(names.map(GeneralName.dnsName)).isSubset(of: Set(known))
        }

        func signed(_ other: Pair) -> Bool {
            certificate.publicKey.isValidSignature(other.certificate.signature, for: other.certificate)
        }
    }

    /// Days that a pair has left; negative without one.
    private static func remaining(_ pair: Pair?, _ now: Date) -> Double {
        pair.map { $0.certificate.notValidAfter.timeIntervalSince(now) / day } ?? -1
    }

    private static func readPair(_ certificate: String, _ key: String) throws -> Pair? {
        guard let certificateText = try PrivateFile.text(certificate),
            let keyText = try PrivateFile.secret(key)?.wrappedValue,
            let certificate = try? Certificate(pemEncoded: certificateText),
            let key = try? P256.Signing.PrivateKey(pemRepresentation: keyText),
            certificate.publicKey == Certificate.PublicKey(key.publicKey)
        else { return nil }
        return Pair(certificate: certificate, key: key)
    }

    private static func write(_ pair: Pair, certificate: String, key: String) throws {
        try PrivateFile.write(Array((pair.key.pemRepresentation + "\n").utf8), to: key)
        try PrivateFile.write(
            Array((try pair.certificate.serializeAsPEM().pemString + "\n").utf8), to: certificate, mode: 0o644)
    }

    private static func makeAuthority(now: Date) throws -> Pair {
        let key = P256.Signing.PrivateKey()
        let name = try DistinguishedName {
            OrganizationName("Aldaba development")
            CommonName("Aldaba development authority \(identifier(key.publicKey).suffix(4).hexadecimal)")
        }
        let certificate = try Certificate(
            version: .v3, serialNumber: .init(), publicKey: .init(key.publicKey),
            notValidBefore: now.addingTimeInterval(-day), notValidAfter: now.addingTimeInterval(authorityDays * day),
            issuer: name, subject: name, signatureAlgorithm: .ecdsaWithSHA256,
            extensions: try Certificate.Extensions {
                Critical(BasicConstraints.isCertificateAuthority(maxPathLength: 0))
                Critical(KeyUsage(keyCertSign: true, cRLSign: true))
                SubjectKeyIdentifier(keyIdentifier: identifier(key.publicKey))
                AuthorityKeyIdentifier(keyIdentifier: identifier(key.publicKey))
            },
            issuerPrivateKey: .init(key))
        return Pair(certificate: certificate, key: key)
    }

    private static func makeServer(authority: Pair, names: [String], end: Date) throws -> Pair {
        let key = P256.Signing.PrivateKey()
        let loopback6 = ArraySlice([UInt8](repeating: 0, count: 15) + [1])
        let certificate = try Certificate(
            version: .v3, serialNumber: .init(), publicKey: .init(key.publicKey),
            notValidBefore: end.addingTimeInterval(-serverDays * day), notValidAfter: end,
            issuer: authority.certificate.subject,
            subject: try DistinguishedName {
                OrganizationName("Aldaba development")
                CommonName("localhost")
            },
            signatureAlgorithm: .ecdsaWithSHA256,
            extensions: try Certificate.Extensions {
                Critical(BasicConstraints.notCertificateAuthority)
                Critical(KeyUsage(digitalSignature: true))
                try ExtendedKeyUsage([.serverAuth])
                SubjectAlternativeNames(
                    [
                        .dnsName("localhost"), .ipAddress(ASN1OctetString(contentBytes: [127, 0, 0, 1])),
                        .ipAddress(ASN1OctetString(contentBytes: loopback6)),
                    ] + names.map { .dnsName($0) })
                SubjectKeyIdentifier(keyIdentifier: identifier(key.publicKey))
                AuthorityKeyIdentifier(keyIdentifier: identifier(authority.key.publicKey))
            },
            issuerPrivateKey: .init(authority.key))
        return Pair(certificate: certificate, key: key)
    }

    /// The key's identifier: SHA-1 of its bits (RFC 5280, section 4.2.1.2, method 1).
    private static func identifier(_ key: P256.Signing.PublicKey) -> ArraySlice<UInt8> {
        ArraySlice(Insecure.SHA1.hash(data: key.x963Representation))
    }
}

extension Sequence where Element == UInt8 {
    /// Two lower-case digits a byte.
    var hexadecimal: String {
        map { byte in
            let digits = String(byte, radix: 16)
            return digits.count == 1 ? "0" + digits : digits
        }.joined()
    }
}
