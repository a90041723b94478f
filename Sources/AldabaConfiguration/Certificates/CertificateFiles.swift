import Foundation
import PushCore
import SwiftASN1
import X509

/// A server's certificate chain and its private key, read from two files and checked against each other.
package struct CertificateFiles: Sendable {
    /// PEM; the server's own certificate first.
    package let chain: String
    /// PEM.
    @Secret package private(set) var key: String
    /// When the first of the chain ends.
    package let end: Date
    /// The hosts that the server's own certificate names: host names, also `*.host`, and addresses.
    package let names: [String]

    /// Why the two files cannot be used.
    package struct Unusable: Error, CustomStringConvertible {
        /// The file that is at fault.
        package var path: String
        /// The fault and the expected content, in words.
        package var reason: String

        /// Makes an error that names the file and its fault.
        package init(path: String, reason: String) {
            self.path = path
            self.reason = reason
        }

        /// The file, what is wrong with it, and what would be right.
        package var description: String { "\(path): \(reason)" }
    }

    /// Reads both.
    ///
    /// - Throws: ``Unusable``, also for a key that is not the certificate's; and errors of the file system.
    package init(certificate: String, key: String) throws {
        guard let chain = try PrivateFile.text(certificate) else {
            throw Unusable(path: certificate, reason: "there is no such file; it is the certificate chain in PEM")
        }
        guard let keyText = try PrivateFile.secret(key)?.wrappedValue else {
            throw Unusable(path: key, reason: "there is no such file; it is the certificate's private key in PEM")
        }
        let certificates: [Certificate]
        do {
            certificates = try PEMDocument.parseMultiple(pemString: chain)
                .filter { $0.discriminator == Certificate.defaultPEMDiscriminator }
                .map { try Certificate(pemDocument: $0) }
        } catch {
            throw Unusable(path: certificate, reason: "it holds a certificate that cannot be read: \(error)")
        }
        guard let own = certificates.first, let end = certificates.map(\.notValidAfter).min() else {
            throw Unusable(path: certificate, reason: "it holds no certificate in PEM")
        }
        // A key of a kind that this library does not read is left to the TLS library.
        if let signing = try? Certificate.PrivateKey(pemEncoded: keyText), signing.publicKey != own.publicKey {
            throw Unusable(
                path: key,
                reason: "this key does not fit the certificate \(certificate); they are made together, and the "
                    + "server's own certificate stands first in its file")
        }
        do { names = try Self.names(of: own) } catch {
            throw Unusable(path: certificate, reason: "the names in it cannot be read: \(error)")
        }
        self.chain = chain
        self.key = keyText
        self.end = end
    }

    private static func names(of certificate: Certificate) throws -> [String] {
        (try certificate.extensions.subjectAlternativeNames ?? .init()).compactMap { name in
            switch name {
            case .dnsName(let host): host
            case .ipAddress(let address): Self.text(ofAddress: Array(address.bytes))
            default: nil
            }
        }
    }

    /// An address of 4 or 16 bytes as it is written (inet_ntop(3)); `nil` for other lengths.
    private static func text(ofAddress bytes: [UInt8]) -> String? {
        var text = [CChar](repeating: 0, count: Int(INET6_ADDRSTRLEN))
        guard [4, 16].contains(bytes.count),
            inet_ntop(bytes.count == 4 ? AF_INET : AF_INET6, bytes, &text, socklen_t(text.count)) != nil
        else { return nil }
        return String(decoding: text.prefix { $0 != 0 }.map { UInt8(bitPattern: $0) }, as: UTF8.self)
    }

    /// The fault of a client's certificate and key in one text; `nil` when they go together.
    package static func fault(ofIdentity text: String) -> String? {
        // What this library cannot read is left to the TLS library.
        guard let documents = try? PEMDocument.parseMultiple(pemString: text) else { return nil }
        let certificate = documents.first { $0.discriminator == Certificate.defaultPEMDiscriminator }
        guard let certificate else { return "it holds no certificate" }
        guard let own = try? Certificate(pemDocument: certificate) else { return nil }
        guard let key = documents.first(where: { $0.discriminator.hasSuffix("PRIVATE KEY") }) else {
            return "it holds no private key"
        }
        guard let signing = try? Certificate.PrivateKey(pemDocument: key), signing.publicKey != own.publicKey else {
            return nil
        }
        return "its key does not fit its certificate, the first one in it; they are made together"
    }

    /// The remaining days below which a certificate is reported.
    package static let renewalDays = 14

    /// Whole days until the end; negative when it is past.
    package func daysLeft(at now: Date) -> Int { Int((end.timeIntervalSince(now) / 86_400).rounded(.down)) }
}

/// Detects whether files have changed since the last check: replaced, rewritten, made or removed.
package struct FileWatch: Sendable {
    /// The metadata that identifies a file's content without reading it.
    private struct Mark: Equatable {
        var device: dev_t
        var inode: ino_t
        var size: off_t
        var seconds: Int
        var nanoseconds: Int
    }

    private let paths: [String]
    private var marks: [Mark?]

    /// Takes the marks; files that are read afterwards are at least as new.
    package init(_ paths: [String]) {
        self.paths = paths
        marks = paths.map(Self.mark)
    }

    /// Whether a file changed, came or went since the marks were taken; takes them anew.
    package mutating func hasChanged() -> Bool {
        let before = marks
        marks = paths.map(Self.mark)
        return marks != before
    }

    private static func mark(_ path: String) -> Mark? {
        var status = stat()
        guard stat(path, &status) == 0 else { return nil }
        return Mark(
            device: status.st_dev, inode: status.st_ino, size: status.st_size, seconds: status.st_mtim.tv_sec,
            nanoseconds: status.st_mtim.tv_nsec)
    }
}
