import Crypto
import Foundation
import PushCore
import SwiftASN1
import X509

/// A provider's certificate as Apple makes them: for one bundle id, for one environment or both.
///
/// Only the parts that APNs uses are read; ``isSigned(by:)`` checks the signature. Source: Apple, "Establishing a
/// certificate-based connection to APNs".
package struct ProviderCertificate: Hashable, Sendable {
    /// The certificate's bytes (RFC 5280, section 4.1).
    package let der: [UInt8]
    /// The subject's `UID`.
    package let bundleID: Topic
    /// The subject's `CN`; empty where there is none.
    package let commonName: String
    /// The environments that the extensions name; at least one.
    package let environments: Set<PushEnvironment>
    /// The topics that the certificate allows; at least one, the app's own first where it has no list of topics.
    package let topics: [CertificateTopic]
    /// The first moment at which it is valid.
    package let notBefore: Timestamp
    /// The last moment at which it is valid.
    package let notAfter: Timestamp
    private let certificate: Certificate

    /// Why bytes are no provider certificate: what is wrong, where, and what would be right.
    package struct Malformed: Error, Hashable, Sendable, CustomStringConvertible {
        /// The fault in words.
        package var description: String
    }

    /// Longer ones are refused before they are looked into.
    package static let maximumLength = 16_384

    /// Reads a certificate.
    package init(der: [UInt8]) throws(Malformed) {
        let read = try Self.certificate(der)
        let subject = Self.texts(of: read.subject)
        guard let identifier = subject[.userID], Topic.hasShape(identifier) else {
            throw Malformed(description: "its subject has no UID with a bundle id")
        }
        let bundleID = Topic(rawValue: identifier)
        var environments: Set<PushEnvironment> = []
        if read.extensions[oid: .pushDevelopment] != nil { environments.insert(.sandbox) }
        if read.extensions[oid: .pushProduction] != nil { environments.insert(.production) }
        guard !environments.isEmpty else {
            throw Malformed(
                description: "it has neither extension 1.2.840.113635.100.6.3.1 (development) nor .3.2 (production)")
        }
        let topics = try Self.topics(read, bundleID)
        guard !topics.isEmpty else { throw Malformed(description: "its list of topics is empty") }
        self.der = der
        self.bundleID = bundleID
        commonName = subject[.commonName] ?? ""
        self.environments = environments
        self.topics = topics
        notBefore = Timestamp(date: read.notValidBefore)
        notAfter = Timestamp(date: read.notValidAfter)
        certificate = read
    }

    /// Reads any certificate. Its times are looked at first: SwiftASN1 takes the seconds 60 and 61, on which X509 asserts.
    fileprivate static func certificate(_ der: [UInt8]) throws(Malformed) -> Certificate {
        guard der.count <= maximumLength else {
            throw Malformed(description: "it has \(der.count) bytes, more than any real one")
        }
        do {
            let root = try DER.parse(der)
            // The validity is a sequence in the certificate's first part (RFC 5280, section 4.1).
            for time in (root.parts.first?.parts ?? []).flatMap(\.parts) where (time.second ?? 0) > 59 {
                throw Malformed(
                    description: "its validity has second \(time.second ?? 0) of a minute, at most 59 exists")
            }
            return try Certificate(derEncoded: root)
        } catch let malformed as Malformed {
            throw malformed
        } catch {
            throw Malformed(description: "it is no X.509 certificate: \(error)")
        }
    }

    private static func topics(_ read: Certificate, _ bundleID: Topic) throws(Malformed) -> [CertificateTopic] {
        guard let list = read.extensions[oid: .pushTopics] else {
            // Certificates of before the list name the app alone, and its calls by an extension.
            let calls = read.extensions[oid: .pushVoIP].map { _ in CertificateTopic.service("voip", of: bundleID) }
            return [.app(bundleID)] + (calls.map { [$0] } ?? [])
        }
        do { return try CertificateTopicList(derEncoded: Array(list.value)).topics } catch {
            throw Malformed(description: "extension 1.2.840.113635.100.6.3.6 is no list of topics: \(error)")
        }
    }

    private static func texts(of name: DistinguishedName) -> [ASN1ObjectIdentifier: String] {
        var texts: [ASN1ObjectIdentifier: String] = [:]
        for attribute in name.flatMap({ Array($0) }) where texts[attribute.type] == nil {
            texts[attribute.type] = String(attribute.value)
        }
        return texts
    }

    /// SHA-256 of the certificate's bytes.
    package var fingerprint: [UInt8] { Self.fingerprint(of: der) }

    /// The SHA-256 of the bytes that the issuer signed. One signature has several encodings, so that a holder of the
    /// key can give one certificate other bytes and another ``fingerprint``. The identity stays the same.
    package var identity: [UInt8] { Array(SHA256.hash(data: certificate.tbsCertificateBytes)) }

    /// SHA-256 of some certificate's bytes, readable or not.
    package static func fingerprint(of der: [UInt8]) -> [UInt8] { Array(SHA256.hash(data: der)) }

    /// Whether an authority made it: it is named as the issuer, and its key signed.
    package func isSigned(by authority: CertificateAuthority) -> Bool {
        certificate.issuer == authority.certificate.subject
            && authority.certificate.publicKey.isValidSignature(certificate.signature, for: certificate)
    }

    /// The refusal of a certificate whose time has not come or is over; `nil` within it.
    package func refusal(at now: Timestamp) -> APNsRejection? {
        if now < notBefore {
            return APNsRejection(
                .badCertificate, note: "the certificate of \(bundleID) is valid from \(notBefore) only")
        }
        if now > notAfter {
            return APNsRejection(.badCertificate, note: "the certificate of \(bundleID) ended at \(notAfter)")
        }
        return nil
    }
}

/// A certificate authority whose certificates a team sends with.
package struct CertificateAuthority: Hashable, Sendable {
    /// The certificate's bytes.
    package let der: [UInt8]
    /// The subject, as text.
    package var name: String { "\(certificate.subject)" }
    /// The first moment at which it is valid.
    package let notBefore: Timestamp
    /// The last moment at which it is valid.
    package let notAfter: Timestamp
    fileprivate let certificate: Certificate

    /// Reads an authority's certificate.
    ///
    /// - Throws: also for a certificate that may sign no others (RFC 5280, sections 4.2.1.3 and 4.2.1.9).
    package init(der: [UInt8]) throws(ProviderCertificate.Malformed) {
        let read = try ProviderCertificate.certificate(der)
        guard let constraints = try? read.extensions.basicConstraints, case .isCertificateAuthority = constraints else {
            throw ProviderCertificate.Malformed(
                description: "it is no authority's: its basic constraints do not say CA:TRUE")
        }
        if let usage = try? read.extensions.keyUsage, !usage.keyCertSign {
            throw ProviderCertificate.Malformed(description: "its key usage does not let it sign certificates")
        }
        self.der = der
        notBefore = Timestamp(date: read.notValidBefore)
        notAfter = Timestamp(date: read.notValidAfter)
        certificate = read
    }

    /// Whether an instant lies within its validity.
    package func isValid(at now: Timestamp) -> Bool { notBefore <= now && now <= notAfter }

    /// SHA-256 of the certificate's bytes.
    package var fingerprint: [UInt8] { ProviderCertificate.fingerprint(of: der) }
}

extension Timestamp {
    fileprivate init(date: Date) {
        // Dates of certificates lie within years of four digits.
        self.init(seconds: Int64(date.timeIntervalSince1970.rounded(.down)))
    }
}

extension ASN1Node {
    /// The nodes inside; none in a primitive one.
    fileprivate var parts: [ASN1Node] { if case .constructed(let parts) = content { Array(parts) } else { [] } }

    /// The second of a time in either of its two types; `nil` for everything else, which X509 refuses afterwards.
    fileprivate var second: Int? {
        (try? UTCTime(derEncoded: self).seconds) ?? (try? GeneralizedTime(derEncoded: self).seconds)
    }
}

extension ASN1ObjectIdentifier {
    /// `UID` of a subject (RFC 4519, section 2.39).
    static let userID: ASN1ObjectIdentifier = [0, 9, 2342, 19_200_300, 100, 1, 1]
    /// `CN` of a subject.
    static let commonName: ASN1ObjectIdentifier = [2, 5, 4, 3]
    /// Apple's extensions of push certificates; all but the last have NULL as their value.
    static let pushDevelopment: ASN1ObjectIdentifier = [1, 2, 840, 113_635, 100, 6, 3, 1]
    static let pushProduction: ASN1ObjectIdentifier = [1, 2, 840, 113_635, 100, 6, 3, 2]
    static let pushVoIP: ASN1ObjectIdentifier = [1, 2, 840, 113_635, 100, 6, 3, 4]
    static let pushTopics: ASN1ObjectIdentifier = [1, 2, 840, 113_635, 100, 6, 3, 6]
}
